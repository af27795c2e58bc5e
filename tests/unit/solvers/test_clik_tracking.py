"""Goals and imitation: what the filter promises of effectors and of the angles left free."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import angle_between, chain, mixed_body, spine
from support.driving import drive, reached, smooth_motion
from understudy.align import Aligner
from understudy.characters import builtin_character, builtin_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Pose
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, Status, create_solver

BODY = mixed_body()
HAND, FOOT = BODY.index("hand"), BODY.index("foot")
TIP = np.array([[0.1, 0.0, 0.0]])


def still(pose: Pose, frames: int) -> list[Pose]:
    return [pose] * frames


@pytest.mark.parametrize("gain", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("rate_hz", [30.0, 60.0])
def test_the_error_of_a_fixed_goal_falls_by_the_gain(gain: float, rate_hz: float) -> None:
    """e[n] = (1 - K1) e[n-1] with K1 per 1/30 s (equation 13)."""
    body = chain(4)
    pose = smooth_motion(body, 1, seed=1)[0]
    solver = Clik(body, [Effector("tip", 3)], {"k1": gain, "ease_gain": 1.0})

    def displace(frame: int, targets: Targets) -> None:
        if frame >= 1:
            targets.positions[0] += [0.06, -0.05, 0.04]
        targets.jump = frame <= 1  # a new goal is no velocity

    track = drive(solver, still(pose, 12), change=displace, dt=1.0 / rate_hz)
    errors = track.residuals[1:, 0]
    assert errors[0] > 0.01
    kept = (1.0 - gain) ** (30.0 / rate_hz)
    large = errors[:-1] > 1e-6
    np.testing.assert_allclose((errors[1:] / errors[:-1])[large], kept, atol=1e-3)


@pytest.mark.parametrize("orientation", ["free", "rows", "exact"])
def test_moving_goals_are_met_by_a_body_of_other_proportions(orientation: str) -> None:
    body = builtin_character("actor")
    hand = body.index("leftHand")
    effector = Effector("hand", hand, orientation=orientation)  # type: ignore[arg-type]  # checked
    motion = smooth_motion(body, 60, seed=2, spread_rad=0.3)
    offset = np.array([0.05, -0.04, 0.06])

    def elsewhere(frame: int, targets: Targets) -> None:
        targets.positions[0] += offset

    track = drive(Clik(body, [effector]), motion, change=elsewhere)
    assert np.max(track.residuals) < 5e-4
    if orientation != "free":
        kinematics = ForwardKinematics(body)
        for i in (10, 35, 59):
            kinematics.update(motion[i].root, motion[i].rotations_xyzw)
            goal = kinematics.rotations[hand].copy()
            answer = track.pose(i)
            kinematics.update(answer.root, answer.rotations_xyzw)
            turn = Rotation.from_matrix(goal.T @ kinematics.rotations[hand]).magnitude()
            assert turn < (1e-9 if orientation == "exact" else 5e-3)


def test_more_corrections_bring_the_goal_nearer() -> None:
    """The remaining error is the null-space motion's second-order effect; corrections remove it."""
    motion = smooth_motion(BODY, 60, seed=3, rate_hz=15.0)

    def elsewhere(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.05, 0.05, 0.0]

    worst = []
    for corrections in (0, 1, 3):
        solver = Clik(BODY, [Effector("hand", HAND)], {"corrections": corrections})
        track = drive(solver, motion, points=TIP, change=elsewhere, dt=1.0 / 15.0)
        worst.append(float(np.max(track.residuals[5:])))
    assert worst[1] < 0.1 * worst[0]
    assert worst[2] <= worst[1]
    assert worst[2] < 5e-4


def null_space_error(size: float) -> float:
    """How far one frame's imitation of angles that are `size` rad off moves the effector."""
    body = chain(5)
    pose = smooth_motion(body, 1, seed=4)[0]
    # no way through the root, no correction afterwards, and rows that do not yield
    effector = Effector("tip", 4, softness_m2=0.0)
    solver = Clik(body, [effector], {"corrections": 0, "root_mobility": 0.0, "ease_gain": 1.0})
    rng = np.random.default_rng(5)
    turns = rng.normal(size=(len(body), 3))
    turns /= np.linalg.norm(turns)
    turned = (
        Rotation.from_quat(pose.rotations_xyzw) * Rotation.from_rotvec(size * turns)
    ).as_quat()
    place = reached(body, pose, 4, np.array([0.0, 0.3, 0.0]))

    def imitate_others(frame: int, targets: Targets) -> None:
        targets.positions[0] = place
        targets.jump = frame <= 1
        if frame == 1:
            targets.rotations_xyzw[:] = turned

    points = np.array([[0.0, 0.3, 0.0]])
    track = drive(solver, still(pose, 2), points=points, change=imitate_others)
    assert angle_between(track.rotations_xyzw[1], track.rotations_xyzw[0]) > 0.1 * size
    return float(track.residuals[1, 0])


def test_a_null_space_step_moves_the_effector_by_its_square() -> None:
    errors = [null_space_error(h) for h in (0.1, 0.01, 0.001)]
    assert errors[0] > 1e-5
    assert errors[1] == pytest.approx(errors[0] / 100.0, rel=0.2)
    assert errors[2] == pytest.approx(errors[1] / 100.0, rel=0.2)


@pytest.mark.parametrize("paper", [0, 1])
def test_the_same_body_gives_its_own_motion_back(paper: int) -> None:
    body = builtin_character("actor")
    effectors = [
        Effector("hand", body.index("leftHand")),
        Effector("foot", body.index("rightFoot"), orientation="exact"),
        Effector("hips", 0, axes=(True, False, True)),
    ]
    motion = smooth_motion(body, 45, seed=6)
    track = drive(Clik(body, effectors, {"paper": paper, "corrections": 1 + paper}), motion)
    worst = max(angle_between(track.rotations_xyzw[i], p.rotations_xyzw)
                for i, p in enumerate(motion))  # fmt: skip
    # Predicted by the goals' own increment, the angles come back only as the iteration converges.
    assert worst < (5e-3 if paper else 1e-9)
    assert np.max(track.residuals) < (1e-3 if paper else 1e-9)


def test_one_chest_orientation_is_split_evenly_over_five_spine_joints() -> None:
    body = spine(5)
    chest = Effector("chest", 5, axes=(False, False, False), orientation="rows", softness_m2=0.0)
    solver = Clik(body, [chest], {"corrections": 4}, mobilities=np.array([0.0, 1, 1, 1, 1, 1]))
    turn = np.array([0.5, 0.3, -0.4])

    def bend(frame: int, targets: Targets) -> None:
        share = min(1.0, frame / 30.0)
        targets.orientations_xyzw[0] = Rotation.from_rotvec(share * turn).as_quat()

    track = drive(solver, still(body.rest_pose(), 60), change=bend)
    vectors = Rotation.from_quat(track.rotations_xyzw[-1]).as_rotvec()
    np.testing.assert_allclose(vectors[0], 0.0, atol=1e-9)
    np.testing.assert_allclose(vectors[1:], np.tile(turn / 5.0, (5, 1)), atol=1e-4)


def test_a_joint_with_little_mobility_does_little() -> None:
    body = spine(4)
    turns = []
    for mobility in (1.0, 0.1):
        chest = Effector("chest", 4, axes=(False, False, False), orientation="rows")
        mobilities = np.array([0.0, 1.0, mobility, 1.0, 1.0])

        def bend(frame: int, targets: Targets) -> None:
            targets.orientations_xyzw[0] = Rotation.from_rotvec([0.0, 0.0, 0.6]).as_quat()

        track = drive(Clik(body, [chest], mobilities=mobilities), still(body.rest_pose(), 3),
                      change=bend)  # fmt: skip
        turns.append(np.atleast_1d(Rotation.from_quat(track.rotations_xyzw[-1, 1:]).magnitude()))
    np.testing.assert_allclose(turns[0], 0.15, atol=0.01)
    assert turns[1][1] == pytest.approx(0.1 * turns[1][0], rel=0.15)


def test_a_softer_goal_yields_to_a_firm_one() -> None:
    body = chain(4)

    def apart(frame: int, targets: Targets) -> None:
        targets.positions[1] = targets.positions[0] + [0.4, 0.0, 0.0]

    for firm in (0, 1):
        effectors = [
            Effector(f"tip{i}", 3, softness_m2=1e-6 if i == firm else 1e-1) for i in (0, 1)
        ]
        track = drive(Clik(body, effectors), still(body.rest_pose(), 30), change=apart)
        assert track.residuals[-1, firm] < 5e-3
        assert track.residuals[-1, 1 - firm] > 0.39


def test_another_imitation_gain_leaves_the_effectors_where_they_are() -> None:
    motion = smooth_motion(BODY, 90, seed=7)
    solver = Clik(BODY, [Effector("hand", HAND)])

    def elsewhere(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.06, 0.0, 0.05]
        if frame in (30, 60):
            solver.set_parameters({"k2": 0.1 if frame == 30 else 1.0})

    track = drive(solver, motion, points=TIP, change=elsewhere)
    assert np.max(track.residuals) < 5e-4
    assert track.largest_turn() < 0.35


def aim(skeleton_joint: int, wanted: float) -> tuple[FloatArray, FloatArray]:
    """Error and Jacobian of a task that wants joint `skeleton_joint` turned about X by `wanted`."""
    J = np.zeros((1, 3 + 3 * 5))
    J[0, 3 + 3 * skeleton_joint] = 1.0
    return np.array([wanted]), J


@pytest.mark.parametrize("paper", [0, 1])
def test_another_secondary_task_is_followed_without_moving_the_effector(paper: int) -> None:
    body = chain(5)
    wanted, joint = 0.5, 2

    def bend_one(root: FloatArray, rotations_xyzw: FloatArray) -> tuple[FloatArray, FloatArray]:
        angle = Rotation.from_quat(rotations_xyzw[joint]).as_rotvec()[0]
        error, J = aim(joint, 0.3 * (wanted - angle))
        return error, J

    pose = smooth_motion(body, 1, seed=8)[0]
    parameters = {"k2": 0.0, "paper": paper, "corrections": 2}
    plain = drive(Clik(body, [Effector("tip", 4)], parameters), still(pose, 60))
    solver = Clik(body, [Effector("tip", 4)], parameters, secondary=bend_one)
    track = drive(solver, still(pose, 60))
    start = Rotation.from_quat(plain.rotations_xyzw[-1, joint]).as_rotvec()[0]
    end = Rotation.from_quat(track.rotations_xyzw[-1, joint]).as_rotvec()[0]
    assert abs(wanted - end) < 0.2 * abs(wanted - start)
    assert np.max(track.residuals) < 5e-4


def test_a_secondary_task_may_ask_for_the_root() -> None:
    body = chain(4)
    for paper in (0, 1):

        def up(root: FloatArray, rotations_xyzw: FloatArray) -> tuple[FloatArray, FloatArray]:
            J = np.zeros((1, 3 + 3 * 4))
            J[0, 1] = 1.0
            return np.array([0.2 * (0.1 - root[1])]), J

        solver = Clik(body, [], {"k2": 0.0, "paper": paper}, secondary=up)
        track = drive(solver, still(body.rest_pose(), 60))
        assert track.roots[-1, 1] == pytest.approx(0.1, abs=0.01)


def test_partial_axes_leave_the_others_free() -> None:
    body = chain(4)
    effector = Effector("hips", 0, axes=(True, False, True))

    def push(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.1, 0.5, -0.1]

    track = drive(Clik(body, [effector]), still(body.rest_pose(), 10), change=push)
    np.testing.assert_allclose(track.roots[-1], [0.1, 0.0, -0.1], atol=1e-4)
    assert track.residuals[-1, 0] < 1e-4


def test_an_ignored_orientation_goal_leaves_its_joint_to_the_performer() -> None:
    body = builtin_character("actor")
    foot = Effector("foot", body.index("leftFoot"), orientation="exact")
    motion = smooth_motion(body, 40, seed=9)

    def ignore(frame: int, targets: Targets) -> None:
        targets.strengths[0] = 0.0

    track = drive(Clik(body, [foot]), motion, change=ignore)
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-9


def test_ten_frames_a_second_stay_within_a_quarter_of_a_centimetre() -> None:
    clip = builtin_clip("walk", 10.0)
    body = builtin_character("short-legs")
    aligner = Aligner(clip.skeleton, body)
    solver = create_solver("clik", body, aligner.effectors)
    worst = np.zeros(len(aligner.effectors))
    for i in range(clip.frame_count):
        pose = clip.pose(i)
        targets = aligner.align(pose.root.copy(), pose.rotations_xyzw.copy(), 0.1, i == 0)
        solution = solver.step(targets, 0.1)
        assert not solution.status & Status.HELD
        worst = np.maximum(worst, solution.residuals)
    feet = [k for k, e in enumerate(aligner.effectors) if "Foot" in e.name]
    assert np.max(worst[feet]) < 0.0025


def test_the_gain_of_a_frame_does_not_depend_on_how_it_is_cut() -> None:
    """Half the time, the root of what is kept: an eased goal is as far at 30 Hz as at 120."""
    pose = smooth_motion(BODY, 1, seed=10)[0]
    ends = []
    for rate in (30.0, 120.0):

        def displace(frame: int, targets: Targets) -> None:
            if frame >= 1:
                targets.positions[0] += [0.05, 0.02, 0.0]
            targets.jump = frame <= 1

        solver = Clik(BODY, [Effector("hand", HAND)], {"k1": 0.2, "ease_gain": 1.0})
        frames = round(0.3 * rate) + 1
        track = drive(solver, still(pose, frames), points=TIP, change=displace, dt=1.0 / rate)
        ends.append(track.residuals[-1, 0])
    assert ends[0] == pytest.approx(ends[1], rel=0.02)
    assert ends[0] == pytest.approx(math.hypot(0.05, 0.02) * 0.8**9, rel=0.05)


def test_causality_holds_for_every_frame() -> None:
    motion = smooth_motion(BODY, 30, seed=11)
    whole = drive(Clik(BODY, [Effector("hand", HAND)]), motion, points=TIP)
    for count in (1, 7, 20):
        part = drive(Clik(BODY, [Effector("hand", HAND)]), motion[:count], points=TIP)
        np.testing.assert_array_equal(part.rotations_xyzw, whole.rotations_xyzw[:count])
