"""Forward kinematics, errors and Jacobian of the packed solvers, against scipy and differences."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import mixed_body, moved, random_pose, world_by_scipy
from support.solver_bench import Bench
from understudy.kinematics import FIXED, FloatArray, Pose, Skeleton, rotations
from understudy.kinematics.tasks import NO_BASE, Effector
from understudy.solvers import SolverError
from understudy.solvers._kernels.body import turn_error
from understudy.solvers.plan import Plan

BODY = mixed_body()
HAND, FOOT, CHEST, ARM = (BODY.index(name) for name in ("hand", "foot", "chest", "arm"))
TILTED = Rotation.from_rotvec([0.4, -0.9, 0.3]).as_quat()
POINTS = np.random.default_rng(1).normal(scale=0.1, size=(4, 3))

SETS = {
    "positions": [Effector("hand", HAND), Effector("foot", FOOT)],
    "orientation rows": [
        Effector("hand", HAND, orientation="rows"),
        Effector("foot", FOOT, orientation="rows"),
    ],
    "masked axes": [
        Effector("hand", HAND, axes=(True, False, True)),
        Effector("hips", 0, axes=(True, False, True)),
        Effector("foot", FOOT, axes=(False, True, False)),
    ],
    "turned frames": [
        Effector("hand", HAND, axes=(True, True, False), world_from_axes_xyzw=TILTED),
        Effector("foot", FOOT, world_from_axes_xyzw=TILTED, orientation="rows"),
    ],
    "an exact joint": [
        Effector("foot", FOOT, orientation="exact"),
        Effector("hand", HAND, orientation="rows"),
    ],
    "below exact joints": [
        Effector("hand", HAND, orientation="rows"),
        Effector("chest", CHEST, orientation="exact"),
        Effector("arm", ARM, orientation="exact"),
        Effector("foot", FOOT),
    ],
    "two points of an exact joint": [
        Effector("heel", FOOT, orientation="exact"),
        Effector("toe", FOOT),
        Effector("hand", HAND),
    ],
    "one chain": [
        Effector("hand", HAND),
        Effector("arm", ARM),
        Effector("chest", CHEST, orientation="rows"),
    ],
}


def bench_of(name: str, base: int = NO_BASE) -> Bench:
    effectors = SETS[name]
    return Bench(BODY, effectors, points=POINTS[: len(effectors)], base=base)


def cases_with_a_base() -> list[tuple[str, int]]:
    """Every set with every effector as the base, but those that do not turn with the root."""
    exact = {
        name: {e.joint for e in effectors if e.orientation == "exact"}
        for name, effectors in SETS.items()
    }
    return [
        (name, base)
        for name, effectors in SETS.items()
        for base in range(len(effectors))
        if not exact[name] & set(BODY.ancestors(effectors[base].joint))
    ]


@pytest.mark.parametrize("name", SETS)
def test_forward_is_the_chain_of_matrices(name: str) -> None:
    bench = bench_of(name)
    rng = np.random.default_rng(2)
    bench.aim_at(random_pose(BODY, rng))
    pose = bench.place(random_pose(BODY, rng))  # exact joints are set by it
    positions, matrices = world_by_scipy(BODY, pose)
    np.testing.assert_allclose(bench.world[:, :3], positions, atol=1e-14)
    np.testing.assert_allclose(bench.world[:, 3:].reshape(-1, 3, 3), matrices, atol=1e-14)


def test_an_exact_joint_has_the_goals_orientation_from_any_parent() -> None:
    bench = bench_of("an exact joint")
    rng = np.random.default_rng(3)
    for _ in range(50):
        bench.aim_at(random_pose(BODY, rng, 3.0))
        start = random_pose(BODY, rng, 3.0)
        pose = bench.place(start)
        goal = rotations.matrix(bench.targets.orientations_xyzw[0])
        np.testing.assert_allclose(bench.world[FOOT, 3:].reshape(3, 3), goal, atol=1e-14)
        others = [j for j in range(len(BODY)) if j != FOOT]
        np.testing.assert_array_equal(pose.rotations_xyzw[others], start.rotations_xyzw[others])
        np.testing.assert_allclose(np.linalg.norm(pose.rotations_xyzw[FOOT]), 1.0, atol=1e-15)


def test_an_exact_joint_whose_effector_is_ignored_stays_as_it_is() -> None:
    bench = bench_of("an exact joint")
    rng = np.random.default_rng(4)
    bench.aim_at(random_pose(BODY, rng))
    bench.targets.strengths[0] = 0.0
    start = random_pose(BODY, rng)
    np.testing.assert_array_equal(bench.place(start).rotations_xyzw, start.rotations_xyzw)


@pytest.mark.parametrize("name", SETS)
def test_errors_are_goal_minus_reached_in_the_axes_that_count(name: str) -> None:
    bench = bench_of(name)
    rng = np.random.default_rng(5)
    bench.aim_at(random_pose(BODY, rng))
    pose = bench.place(random_pose(BODY, rng))
    positions, matrices = world_by_scipy(BODY, pose)
    row = 0
    for k, effector in enumerate(SETS[name]):
        point = positions[effector.joint] + matrices[effector.joint] @ POINTS[k]
        np.testing.assert_allclose(bench.reached[k], point, atol=1e-14)
        missing = (
            Rotation.from_quat(effector.world_from_axes_xyzw)
            .inv()
            .apply(bench.targets.positions[k] - point)
        )
        expected = np.where(effector.axes, missing, 0.0)
        np.testing.assert_allclose(bench.e[row : row + 3], expected, atol=1e-14)
        row += 3
        if effector.orientation == "rows":
            goal = Rotation.from_quat(bench.targets.orientations_xyzw[k])
            turn = goal * Rotation.from_matrix(matrices[effector.joint]).inv()
            np.testing.assert_allclose(bench.e[row : row + 3], 0.2 * turn.as_rotvec(), atol=1e-13)
            row += 3
    assert row == len(bench.e)


def test_errors_of_an_ignored_effector_are_zero() -> None:
    bench = bench_of("orientation rows")
    rng = np.random.default_rng(6)
    bench.aim_at(random_pose(BODY, rng))
    bench.targets.strengths[0] = 0.0
    bench.place(random_pose(BODY, rng))
    assert np.all(bench.e[:6] == 0.0)
    assert np.all(bench.e[6:] != 0.0)


@pytest.mark.parametrize(
    "size", [0.0, 1e-12, 1e-9, 1e-6, 1e-3, 0.5, 2.0, math.pi - 1e-6, math.pi - 1e-12, math.pi]
)
def test_the_turn_error_is_scipys_at_every_angle(size: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(30):
        axis = rng.normal(size=3)
        start = Rotation.from_quat(rng.normal(size=4))
        turn = size * axis / np.linalg.norm(axis)
        goal = (Rotation.from_rotvec(turn) * start).as_quat()
        world = np.zeros((1, 12))
        world[0, 3:] = start.as_matrix().ravel()
        found = np.array(turn_error(*goal, world, 0))
        if size > math.pi - 1e-9:
            found *= np.sign(found @ turn)
        np.testing.assert_allclose(found, turn, atol=1e-8 if size > 3.0 else 1e-14)


def differences(bench: Bench, pose: Pose, step: float = 1e-6) -> FloatArray:
    """-d(errors)/d(body increments) by central differences, each pose placed anew (base seated)."""
    columns = []
    for column in range(3 * len(BODY)):
        d = np.zeros(3 + 3 * len(BODY))
        d[3 + column] = step
        ahead, behind = (moved(BODY, pose, sign * d) for sign in (1.0, -1.0))
        bench.place(ahead)
        e = bench.e.copy()
        bench.place(behind)
        columns.append((bench.e - e) / (2.0 * step))
    return np.array(columns).T


def moves(bench: Bench, skeleton: Skeleton) -> list[int]:
    """Columns of the joints that a solver turns: not fixed, not set by an orientation goal."""
    exact = {e.joint for e in bench.effectors if e.orientation == "exact"}
    free = [j for j in range(len(skeleton)) if j not in exact]
    return [3 * j + k for j in free if j == 0 or skeleton.kinds[j] != FIXED for k in range(3)]


def check_jacobian(bench: Bench, seed: int) -> None:
    """At the goal, where the error's own derivative is the Jacobian's."""
    pose = random_pose(BODY, np.random.default_rng(seed))
    bench.aim_at(pose)
    pose = bench.place(pose)
    found = bench.jacobian()
    columns = moves(bench, BODY)
    expected = differences(bench, pose)
    np.testing.assert_allclose(found[:, columns], expected[:, columns], atol=3e-9)
    others = np.setdiff1d(np.arange(found.shape[1]), columns)
    assert np.all(found[:, others] == 0.0)


@pytest.mark.parametrize("name", SETS)
def test_the_jacobian_is_the_central_difference(name: str) -> None:
    check_jacobian(bench_of(name), 8)


@pytest.mark.parametrize(("name", "base"), cases_with_a_base())
def test_with_a_base_eliminated_the_jacobian_is_that_of_the_seated_body(
    name: str, base: int
) -> None:
    bench = bench_of(name, base)
    check_jacobian(bench, 9)


def test_chains_leave_out_what_cannot_move_a_block() -> None:
    plan = Plan(BODY, SETS["an exact joint"])
    for table, block in itertools.product(range(plan.chains.shape[0]), range(len(plan.blocks))):
        chain = plan.chains[table, block]
        joints = set(chain[1 : 1 + chain[0]].tolist())
        assert FOOT not in joints
        assert BODY.index("collar") not in joints
        assert joints == set(np.flatnonzero(plan.member[table, block]).tolist())


def test_an_exact_joint_whose_effector_is_ignored_moves_what_hangs_below_it() -> None:
    bench = bench_of("below exact joints")
    bench.targets.strengths[1:3] = 0.0
    pose = random_pose(BODY, np.random.default_rng(13))
    bench.aim_at(pose)
    pose = bench.place(pose)
    found = bench.jacobian()
    expected = differences(bench, pose)
    hand = slice(0, 6)
    np.testing.assert_allclose(found[hand], expected[hand], atol=3e-9)
    assert np.abs(found[hand, 3 * CHEST : 3 * CHEST + 3]).max() > 0.1


def test_two_orientations_for_one_joint_are_refused() -> None:
    pair = [Effector(name, FOOT, orientation="exact") for name in ("heel", "toe")]
    with pytest.raises(SolverError, match=r"'toe'.*'foot'.*'heel'"):
        Plan(BODY, pair)


def test_bound_joints_move_only_in_the_directions_left_free() -> None:
    bench = bench_of("orientation rows")
    bench.place(random_pose(BODY, np.random.default_rng(12)))
    plain = bench.jacobian()
    normal = np.array([0.6, 0.0, 0.8])
    bench.bound[ARM] = 2
    bench.free[ARM] = (np.eye(3) - np.outer(normal, normal)).ravel()
    held = bench.jacobian()
    columns = slice(3 * ARM, 3 * ARM + 3)
    np.testing.assert_allclose(held[:, columns] @ normal, 0.0, atol=1e-15)
    across = np.array([[0.0, 1.0, 0.0], [0.8, 0.0, -0.6]]).T
    np.testing.assert_allclose(held[:, columns] @ across, plain[:, columns] @ across, atol=1e-14)
    others = np.delete(np.arange(plain.shape[1]), np.arange(3 * ARM, 3 * ARM + 3))
    np.testing.assert_array_equal(held[:, others], plain[:, others])
