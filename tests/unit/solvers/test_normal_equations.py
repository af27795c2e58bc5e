"""Normal equations of the packed solvers against dense numpy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import mixed_body, random_pose
from support.solver_bench import Bench
from understudy.kinematics import FloatArray
from understudy.kinematics.tasks import NO_BASE, Effector
from understudy.solvers._kernels import rows

BODY = mixed_body()
HAND, FOOT, CHEST = (BODY.index(name) for name in ("hand", "foot", "chest"))
TILTED = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_quat()
EFFECTORS = (
    Effector("hand", HAND, orientation="rows", softness_m2=1e-3),
    Effector("foot", FOOT, orientation="exact", softness_m2=1e-6),
    Effector("hips", 0, axes=(True, False, True), world_from_axes_xyzw=TILTED, softness_m2=2e-4),
    Effector("chest", CHEST, axes=(True, True, False), softness_m2=5e-2),
)
MOBILITIES = np.random.default_rng(1).uniform(0.1, 3.0, len(BODY))
SEEDS = range(4)


def placed(seed: int, base: int = NO_BASE) -> Bench:
    rng = np.random.default_rng(seed)
    bench = Bench(
        BODY, EFFECTORS, points=rng.normal(scale=0.1, size=(4, 3)), base=base, mobilities=MOBILITIES
    )
    bench.aim_at(random_pose(BODY, rng))
    bench.place(random_pose(BODY, rng))
    bench.jacobian()
    return bench


def dense_gram(bench: Bench, root_mobility: float) -> FloatArray:
    """J P J^T + N as the text of `gram` says, rows that do not count at one."""
    J = np.concatenate([bench.root_columns(), bench.dense()], axis=1)
    P = np.concatenate([np.full(3, root_mobility), np.repeat(MOBILITIES, 3)])
    strengths = bench.targets.strengths[bench.plan.blocks[:, 0]].repeat(3)
    J[strengths <= 0.0] = 0.0
    A = (J * P) @ J.T
    soft = np.array([EFFECTORS[k].softness_m2 for k in bench.plan.blocks[:, 0]]).repeat(3)
    counts = np.diag(A) > 0.0
    with np.errstate(divide="ignore"):
        A[counts, counts] += (soft / strengths**2)[counts]
    A[~counts, ~counts] = 1.0
    return np.asarray(A, np.float64)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("base", [NO_BASE, 0, 2, 3])
@pytest.mark.parametrize("root_mobility", [0.0, 0.0099, 2.0])
def test_gram_is_the_dense_product(seed: int, base: int, root_mobility: float) -> None:
    bench = placed(seed, base)
    bench.targets.strengths[:] = [1.0, 0.5, 0.2, 1.0]
    np.testing.assert_allclose(
        bench.gram(root_mobility), dense_gram(bench, root_mobility), rtol=1e-12, atol=1e-14
    )


def test_an_ignored_effector_has_no_part_in_the_product() -> None:
    bench = placed(1)
    bench.targets.strengths[0] = 0.0
    found = bench.gram(0.0099)
    np.testing.assert_allclose(found, dense_gram(bench, 0.0099), rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found[:6], np.eye(len(found))[:6])


def spread_matrix(size: int, seed: int, smallest: float) -> FloatArray:
    rng = np.random.default_rng(seed)
    basis, _ = np.linalg.qr(rng.normal(size=(size, size)))
    return np.asarray(basis * np.geomspace(smallest, 1.0, size) @ basis.T, np.float64)


@pytest.mark.parametrize("size", [3, 6, 12, 30])
@pytest.mark.parametrize("smallest", [1e-1, 1e-6])
def test_the_factor_solves_as_numpy_does(size: int, smallest: float) -> None:
    A = spread_matrix(size, size, smallest)
    b = np.random.default_rng(2).normal(size=size)
    factor, x = A.copy(), b.copy()
    assert rows.cholesky(factor, size) == 1
    expected = np.linalg.cholesky(A)
    inverted = np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))
    np.testing.assert_allclose(inverted, expected, atol=1e-9)
    rows.back_substitute(factor, x, size)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-8)


def test_only_the_lower_triangle_is_read() -> None:
    A = spread_matrix(6, 3, 0.1)
    spoiled = np.tril(A) + np.triu(np.full((6, 6), np.nan), 1)
    assert rows.cholesky(spoiled, 6) == 1
    x = np.ones(6)
    rows.back_substitute(spoiled, x, 6)
    np.testing.assert_allclose(x, np.linalg.solve(A, np.ones(6)), rtol=1e-9)


@pytest.mark.parametrize("spoil", [-1.0, 0.0, np.nan])
def test_a_matrix_that_is_not_definite_is_refused(spoil: float) -> None:
    A = spread_matrix(6, 4, 0.1)
    A[3, 3] = spoil
    assert rows.cholesky(A, 6) == 0


@pytest.mark.parametrize("base", [NO_BASE, 0])
def test_rows_are_subtracted_and_transposed_as_dense_ones(base: int) -> None:
    bench = placed(5, base)
    plan = bench.plan
    rng = np.random.default_rng(6)
    J = np.concatenate([bench.root_columns(), bench.dense()], axis=1)
    d = rng.normal(size=(1 + len(BODY), 3))
    e = rng.normal(size=plan.row_count)
    mobility = 0.7
    found = e.copy()
    rows.subtract_rows(plan.effectors_i, plan.effectors_f, plan.blocks, bench.chain, mobility,
                       bench.J, d, found)  # fmt: skip
    np.testing.assert_allclose(found, e - J @ d.ravel(), atol=1e-13)
    moved = d.copy()
    rows.add_transposed(plan.joints_f, plan.effectors_i, plan.effectors_f, bench.targets.goals,
                        plan.blocks, bench.chain, mobility, bench.J, e, moved)  # fmt: skip
    P = np.concatenate([np.full(3, mobility), np.repeat(MOBILITIES, 3)])
    np.testing.assert_allclose(moved.ravel(), d.ravel() + P * (J.T @ e), atol=1e-13)


def test_a_null_space_step_leaves_the_rows_alone() -> None:
    """d0 + P J^T (J P J^T)^-1 (0 - J d0) is in the null space of J, whatever the mobilities."""
    firm = tuple(Effector(e.name, e.joint, softness_m2=0.0) for e in EFFECTORS[:2])
    bench = Bench(BODY, firm, mobilities=MOBILITIES)
    rng = np.random.default_rng(7)
    bench.place(random_pose(BODY, rng))
    J = np.concatenate([bench.root_columns(), bench.jacobian()], axis=1)
    plan, size, mobility = bench.plan, bench.plan.row_count, 0.5
    bench.gram(mobility)
    assert rows.cholesky(bench.A, size) == 1
    d = rng.normal(size=(1 + len(BODY), 3))
    y = np.zeros(size)
    rows.subtract_rows(plan.effectors_i, plan.effectors_f, plan.blocks, bench.chain, mobility,
                       bench.J, d, y)  # fmt: skip
    rows.back_substitute(bench.A, y, size)
    rows.add_transposed(plan.joints_f, plan.effectors_i, plan.effectors_f, bench.targets.goals,
                        plan.blocks, bench.chain, mobility, bench.J, y, d)  # fmt: skip
    np.testing.assert_allclose(J @ d.ravel(), 0.0, atol=1e-12)
    assert np.linalg.norm(d) > 1.0
