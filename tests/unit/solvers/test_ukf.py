"""The Kalman sweep: what a linear filter would do, what filterpy does, and the user's controls."""

from __future__ import annotations

import numpy as np
import pytest
from filterpy.kalman import JulierSigmaPoints, KalmanFilter, UnscentedKalmanFilter
from scipy.optimize import least_squares

from support.bodies import angle_between, chain, mixed_body, moved, random_pose, world_by_scipy
from support.driving import FRAME_S, drive, smooth_motion
from support.solver_bench import Bench, goals_of
from understudy.kinematics import FloatArray, Joint, Pose, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import ParameterValue, Solution, SolverError, Ukf
from understudy.solvers._kernels.correction import take_chords

BODY = mixed_body()
HAND, FOOT = BODY.index("hand"), BODY.index("foot")
PAIR = (Effector("hand", HAND, softness_m2=1e-3), Effector("foot", FOOT, softness_m2=2e-3))
ARM_M = 0.2


def solve(
    solver: Ukf, pose: Pose, goals: FloatArray, orientation: FloatArray | None = None
) -> Solution:
    """One first frame: the performer in `pose`, the effectors drawn to `goals` (k, 3)."""
    targets = Targets.allocate(solver.skeleton, solver.effectors)
    goals_of(solver.skeleton, solver.effectors, targets, pose)
    targets.positions[:] = goals
    if orientation is not None:
        targets.orientations_xyzw[:] = orientation
    targets.jump = True
    return solver.step(targets, FRAME_S)


def places(skeleton: Skeleton, pose: Pose, effectors: tuple[Effector, ...]) -> FloatArray:
    positions, _ = world_by_scipy(skeleton, pose)
    return positions[[effector.joint for effector in effectors]]


def hinged_chain() -> Skeleton:
    """A root and four hinges about one axis: the tip's turn is the sum of the angles."""
    joints = [Joint("root", None)]
    for i in range(4):
        joints.append(
            Joint(f"hinge{i}", joints[-1].name, (0, 0.2, 0), kind="hinge", axis=(0, 0, 1))
        )
    return Skeleton.build(joints)


def angles(solution: Solution) -> FloatArray:
    return rotations.log(solution.rotations_xyzw)[1:, 2]


def test_a_measurement_of_the_roots_place_is_a_kalman_update() -> None:
    rng = np.random.default_rng(0)
    pose = random_pose(BODY, rng)
    goals = places(BODY, pose, PAIR) + rng.normal(scale=0.1, size=(2, 3))
    solver = Ukf(BODY, PAIR, {"root_mobility": 0.04}, mobilities=np.zeros(len(BODY)))
    solution = solve(solver, pose, goals)
    H = np.vstack([np.eye(3), np.eye(3)])
    P, N = 0.04 * np.eye(3), np.diag(np.repeat([1e-3, 2e-3], 3))
    gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + N)
    expected = pose.root + gain @ (goals - places(BODY, pose, PAIR)).ravel()
    np.testing.assert_allclose(solution.root, expected, atol=1e-12)


def test_a_measurement_of_a_sum_of_angles_is_a_kalman_update() -> None:
    body = hinged_chain()
    tip = Effector("tip", 4, axes=(False, False, False), orientation="rows", softness_m2=3e-3)
    mobilities = np.array([0.0, 1.0, 0.5, 2.0, 0.0])
    solver = Ukf(body, (tip,), {"root_mobility": 0.0}, mobilities=mobilities)
    turned = rotations.exp(np.array([[0.0, 0.0, 0.7]]))
    solution = solve(solver, body.rest_pose(), np.zeros((1, 3)), turned)
    # Rows are in metres: an angle counts by the arm.
    gain = ARM_M * mobilities[1:] / (ARM_M**2 * mobilities.sum() + 3e-3)
    np.testing.assert_allclose(angles(solution), gain * ARM_M * 0.7, atol=1e-12)


def test_displacements_go_by_the_mobilities() -> None:
    body = hinged_chain()
    tip = Effector("tip", 4, axes=(False, False, False), orientation="rows", softness_m2=0.0)
    mobilities = np.array([0.0, 1.0, 0.25, 4.0, 1.0])
    solver = Ukf(body, (tip,), {"root_mobility": 0.0}, mobilities=mobilities)
    turned = rotations.exp(np.array([[0.0, 0.0, 0.5]]))
    found = angles(solve(solver, body.rest_pose(), np.zeros((1, 3)), turned))
    np.testing.assert_allclose(found, 0.5 * mobilities[1:] / mobilities.sum(), rtol=1e-7)


@pytest.mark.parametrize("kappa", [0.0, 2.0, 12.0])
def test_the_paper_form_is_filterpys_unscented_update(kappa: float) -> None:
    body = chain(4)
    effectors = (Effector("middle", 2, softness_m2=0.05), Effector("end", 3, softness_m2=0.02))
    rng = np.random.default_rng(4)
    pose = random_pose(body, rng)
    goals = places(body, pose, effectors) + rng.normal(scale=0.05, size=(2, 3))
    sigma, mobilities = 0.2, np.array([0.5, 1.0, 2.0, 0.7])
    n = 3 + 3 * len(body)

    def measured(d: FloatArray) -> FloatArray:
        return places(body, moved(body, pose, d), effectors).ravel()

    points = JulierSigmaPoints(n, kappa)
    peer = UnscentedKalmanFilter(n, 6, 1.0, measured, lambda d, dt: d, points)
    peer.P = sigma**2 * np.diag(np.concatenate([np.full(3, 0.01), np.repeat(mobilities, 3)]))
    peer.Q = np.zeros((n, n))
    peer.R = sigma**2 * np.diag(np.repeat([0.05, 0.02], 3))
    peer.predict()
    peer.update(goals.ravel())
    expected = moved(body, pose, peer.x)

    settings: dict[str, ParameterValue]
    settings = {"form": "paper", "passes": 1, "kappa": kappa, "sigma_rad": sigma,
                "root_mobility": 0.01, "max_joint_step": 3.0}  # fmt: skip
    solution = solve(Ukf(body, effectors, settings, mobilities=mobilities), pose, goals)
    assert np.linalg.norm(peer.x) > 0.1
    assert angle_between(solution.rotations_xyzw, expected.rotations_xyzw) < 1e-9
    np.testing.assert_allclose(solution.root, expected.root, atol=1e-9)


def test_goals_that_are_met_leave_the_pose_as_it_is() -> None:
    pose = random_pose(BODY, np.random.default_rng(5))
    goals = places(BODY, pose, PAIR)
    solution = solve(Ukf(BODY, PAIR), pose, goals)
    np.testing.assert_allclose(solution.rotations_xyzw, pose.rotations_xyzw, atol=1e-14)
    np.testing.assert_allclose(solution.root, pose.root, atol=1e-14)


def test_the_paper_form_moves_even_a_pose_whose_goals_are_met() -> None:
    """Its innovation is counted from the mean of the sigma points, which curvature displaces."""
    pose = random_pose(BODY, np.random.default_rng(5))
    goals = places(BODY, pose, PAIR)
    settings: dict[str, ParameterValue] = {"form": "paper", "sigma_rad": 0.2, "passes": 1}
    assert solve(Ukf(BODY, PAIR, settings), pose, goals).residuals.max() > 0.01


def test_a_joint_without_mobility_stays_with_the_performer() -> None:
    rng = np.random.default_rng(6)
    pose = random_pose(BODY, rng)
    goals = places(BODY, pose, PAIR) + rng.normal(scale=0.05, size=(2, 3))
    arm, chest = BODY.index("arm"), BODY.index("chest")
    solver = Ukf(BODY, PAIR, {"mobility.arm": 0.0, "softness.hand": 0.0, "softness.foot": 0.0})
    solution = solve(solver, pose, goals)
    np.testing.assert_allclose(solution.rotations_xyzw[arm], pose.rotations_xyzw[arm], atol=1e-14)
    assert angle_between(solution.rotations_xyzw[chest], pose.rotations_xyzw[chest]) > 0.01
    assert solution.residuals.max() < 1e-4


def test_a_soft_goal_yields_to_a_hard_one() -> None:
    pose = random_pose(BODY, np.random.default_rng(7))
    both = (Effector("here", HAND, softness_m2=1e-8), Effector("there", HAND, softness_m2=1e-2))
    goals = places(BODY, pose, both)
    goals[1] += [0.0, 0.1, 0.0]
    solution = solve(Ukf(BODY, both), pose, goals)
    assert solution.residuals[0] < 1e-6
    assert solution.residuals[1] > 0.099


def test_the_pose_is_the_most_probable_one() -> None:
    """The iterated correction ends where a general optimiser of the same cost ends."""
    body = chain(4)
    effectors = (Effector("middle", 2, softness_m2=0.02), Effector("end", 3, softness_m2=0.01))
    rng = np.random.default_rng(8)
    pose = random_pose(body, rng)
    goals = places(body, pose, effectors) + rng.normal(scale=0.2, size=(2, 3))
    mobilities = np.array([0.5, 1.0, 2.0, 0.7])
    settings = {"passes": 16, "root_mobility": 0.01, "sigma_rad": 1e-4}
    solution = solve(Ukf(body, effectors, settings, mobilities=mobilities), pose, goals)
    deviation = np.sqrt(np.concatenate([np.full(3, 0.01), np.repeat(mobilities, 3)]))
    softness = np.sqrt(np.repeat([0.02, 0.01], 3))

    def residuals(d: FloatArray) -> FloatArray:
        missing = goals - places(body, moved(body, pose, d), effectors)
        return np.concatenate([missing.ravel() / softness, d / deviation])

    best = least_squares(residuals, np.zeros(15), xtol=1e-14, ftol=1e-14, gtol=1e-12).x
    turned = rotations.multiply(rotations.conjugate(pose.rotations_xyzw), solution.rotations_xyzw)
    found = np.concatenate([solution.root - pose.root, rotations.log(turned).ravel()])
    np.testing.assert_allclose(found, best, atol=2e-6)


def test_slopes_of_chords_are_what_sigma_points_give() -> None:
    effectors = (Effector("hand", HAND), Effector("chest", BODY.index("chest"), orientation="rows"))
    pose = random_pose(BODY, np.random.default_rng(9))
    bench = Bench(BODY, effectors, points=np.array([[0.1, 0.02, 0.0], [0.0, 0.1, 0.1]]))
    bench.aim_at(pose)
    bench.place(pose)
    bench.jacobian()
    step = 0.4
    take_chords(bench.plan.blocks, bench.chain, np.sin(step) / step, bench.J)
    for j in (0, BODY.index("chest"), BODY.index("arm")):
        for k in range(3):
            sides = []
            for sign in (1.0, -1.0):
                d = np.zeros(3 + 3 * len(BODY))
                d[3 + 3 * j + k] = sign * step
                bench.place(moved(BODY, pose, d))
                sides.append(-bench.e.copy())
            slope = (sides[0] - sides[1]) / (2.0 * step)
            found = np.concatenate([bench.J[i, j, k] for i in range(3)])
            moves = np.repeat(bench.member[:, j] == 1, 3)
            np.testing.assert_allclose(found[moves], slope[moves], atol=1e-12)


def test_a_tracked_hinge_is_what_an_ordinary_kalman_filter_says() -> None:
    body = hinged_chain()
    settings = {"carry": True, "agility": 3.0, "noise_rad": 0.02}
    solver = Ukf(body, (), settings)
    peer = KalmanFilter(2, 1)
    peer.H = np.array([[1.0, 0.0]])
    peer.R = np.array([[0.02**2]])
    peer.F = np.array([[1.0, FRAME_S], [0.0, 1.0]])
    peer.Q = 9.0 * np.array([[FRAME_S**3 / 3, FRAME_S**2 / 2], [FRAME_S**2 / 2, FRAME_S]])
    rng = np.random.default_rng(10)
    targets = Targets.allocate(body, ())
    for i in range(60):
        angle = 0.5 * np.sin(0.1 * i) + rng.normal(scale=0.02)
        targets.rotations_xyzw[2] = rotations.exp(np.array([0.0, 0.0, angle]))
        targets.jump = i == 0
        found = angles(solver.step(targets, FRAME_S))[1]
        if i == 0:
            peer.x, peer.P = np.array([[angle], [0.0]]), np.diag([0.02**2, 25.0])
        else:
            peer.predict()
            peer.update(angle)
        assert found == pytest.approx(float(peer.x[0, 0]), abs=1e-12)


def test_carrying_covariance_smooths_a_noisy_performer() -> None:
    rate_hz = 120.0
    motion = smooth_motion(BODY, 240, seed=11, rate_hz=rate_hz)
    rng = np.random.default_rng(11)
    noisy = []
    for pose in motion:
        d = np.zeros(3 + 3 * len(BODY))
        d[3:] = rng.normal(scale=0.01, size=3 * len(BODY))
        noisy.append(moved(BODY, pose, d))
    errors = {}
    for carry in (False, True):
        track = drive(Ukf(BODY, (), {"carry": carry, "agility": 1.0}), noisy, dt=1.0 / rate_hz)
        between = [
            angle_between(track.rotations_xyzw[i], motion[i].rotations_xyzw)
            for i in range(30, len(motion))
        ]
        errors[carry] = float(np.mean(between))
    assert errors[True] < 0.6 * errors[False]


@pytest.mark.parametrize(
    "change", [{"mobility.arm": 0.0}, {"softness.hand": 0.05}, {"form": "paper"}, {"carry": True}]
)
def test_a_change_in_mid_motion_is_eased_in(change: dict[str, float | str]) -> None:
    motion = smooth_motion(BODY, 90, seed=12)
    solver = Ukf(BODY, PAIR, {"sigma_rad": 0.02})

    def displace(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.0, 0.1, 0.05]
        if frame == 45:
            solver.set_parameters(change)

    calm = drive(Ukf(BODY, PAIR, {"sigma_rad": 0.02}), motion, change=displace).largest_turn(1)
    track = drive(solver, motion, change=displace)
    assert track.largest_turn(1) < calm + 0.03
    assert solver.parameters() | change == solver.parameters()


def test_a_spread_of_nothing_or_less_is_refused() -> None:
    solver = Ukf(BODY, PAIR)
    with pytest.raises(SolverError, match=r"'kappa' = -40; allowed: above -2\d"):
        solver.set_parameters({"kappa": -40.0})
    assert solver.parameters()["kappa"] == 0.0


def test_words_are_shown_as_words_and_wrong_ones_refused() -> None:
    solver = Ukf(BODY, PAIR, {"form": "paper"})
    assert solver.parameters()["form"] == "paper"
    with pytest.raises(SolverError, match="'form' = 'pauper'; allowed: iterated, paper"):
        solver.set_parameters({"form": "pauper"})
