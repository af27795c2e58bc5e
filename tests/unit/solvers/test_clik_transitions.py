"""Jumps, new effectors, clamps and singular poses: nothing pops, everything arrives."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import angle_between, chain, mixed_body
from support.driving import FRAME_S, drive, reached, smooth_motion
from understudy.characters import builtin_character
from understudy.kinematics import Joint, Pose, Skeleton
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, Status

BODY = mixed_body()
HAND, FOOT = BODY.index("hand"), BODY.index("foot")
EFFECTORS = (Effector("hand", HAND), Effector("foot", FOOT, orientation="exact"))
POINTS = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.1]])


def cut(frame: int, targets: Targets) -> None:
    targets.jump = frame in (0, 30)


def test_a_change_of_clip_is_eased_over_and_the_new_clip_is_reached() -> None:
    """The jump lives in the error only; the gains ramp from ease_gain to one."""
    first = smooth_motion(BODY, 30, seed=1)
    second = smooth_motion(BODY, 60, seed=2, spread_rad=0.8)
    step = angle_between(first[-1].rotations_xyzw, second[0].rotations_xyzw)
    assert step > 0.5
    track = drive(Clik(BODY, EFFECTORS), first + second, points=POINTS, change=cut)
    assert angle_between(track.rotations_xyzw[29], track.rotations_xyzw[30]) < 0.25 * step
    assert track.largest_turn() < 0.5 * step
    arrived = 30 + 30  # a second later
    for i in range(arrived, 90):
        assert angle_between(track.rotations_xyzw[i], second[i - 30].rotations_xyzw) < 1e-3
    assert np.max(track.residuals[arrived:]) < 1e-4


def test_without_the_flag_a_jump_would_be_taken_for_a_velocity() -> None:
    """The performer's increment is carried over: only the flag keeps the jump out of it."""
    first = smooth_motion(BODY, 30, seed=1)
    second = smooth_motion(BODY, 10, seed=2, spread_rad=0.8)
    flagged = drive(Clik(BODY, EFFECTORS), first + second, points=POINTS, change=cut)
    plain = drive(Clik(BODY, EFFECTORS), first + second, points=POINTS)
    assert plain.largest_turn(28) > 2.0 * flagged.largest_turn(28)


@pytest.mark.parametrize("ease_gain", [0.05, 0.2, 1.0])
def test_the_first_step_after_a_jump_is_the_ease_gains_share(ease_gain: float) -> None:
    body = chain(3)
    pose = body.rest_pose()
    turned = Pose(pose.root.copy(), pose.rotations_xyzw.copy())
    turned.rotations_xyzw[1:] = Rotation.from_rotvec([0.0, 0.0, 0.6]).as_quat()
    solver = Clik(body, [], {"ease_gain": ease_gain})
    track = drive(solver, [pose] * 30 + [turned] * 30, change=cut)
    made = angle_between(track.rotations_xyzw[29], track.rotations_xyzw[30])
    assert made == pytest.approx(0.6 * ease_gain, rel=1e-3)
    assert angle_between(track.rotations_xyzw[-1], turned.rotations_xyzw) < 1e-3


def test_a_new_effector_is_eased_in() -> None:
    motion = smooth_motion(BODY, 90, seed=3)
    offset = np.array([0.1, 0.1, -0.1])

    def appear(frame: int, targets: Targets) -> None:
        targets.positions[0] += offset
        targets.strengths[0] = 0.0 if frame < 30 else 1.0

    track = drive(Clik(BODY, EFFECTORS), motion, points=POINTS, change=appear)
    calm = drive(Clik(BODY, EFFECTORS), motion, points=POINTS)
    away = []
    for i in (29, 30, 35, 60):
        place = reached(BODY, track.pose(i), HAND, POINTS[0])
        own = reached(BODY, motion[i], HAND, POINTS[0])
        away.append(float(np.linalg.norm(place - own)))
    assert away[0] < 1e-9
    assert away[1] < 0.25 * float(np.linalg.norm(offset))
    assert away[1] < away[2] < away[3]
    assert away[3] == pytest.approx(float(np.linalg.norm(offset)), abs=1e-3)
    assert track.largest_turn(28) < calm.largest_turn(28) + 0.15
    assert np.max(track.residuals[60:, 0]) < 1e-3


def test_a_new_orientation_goal_is_eased_in() -> None:
    body = builtin_character("actor")
    foot = body.index("leftFoot")
    motion = [smooth_motion(body, 1, seed=4)[0]] * 75

    def appear(frame: int, targets: Targets) -> None:
        turned = Rotation.from_rotvec([0.0, 0.6, 0.0])
        goal = turned * Rotation.from_quat(targets.orientations_xyzw[0])
        targets.orientations_xyzw[0] = goal.as_quat()
        targets.strengths[0] = 0.0 if frame < 15 else 1.0

    solver = Clik(body, [Effector("foot", foot, orientation="exact")])
    track = drive(solver, motion, change=appear)
    steps = [
        angle_between(a[foot], b[foot])
        for a, b in zip(track.rotations_xyzw[:-1], track.rotations_xyzw[1:], strict=True)
    ]
    assert max(steps) < 0.15
    assert sum(steps) == pytest.approx(0.6, rel=0.02)


def test_a_reset_to_a_pose_starts_there_and_eases_to_the_performer() -> None:
    motion = smooth_motion(BODY, 60, seed=5)
    start = smooth_motion(BODY, 1, seed=6, spread_rad=0.8)[0]
    solver = Clik(BODY, EFFECTORS)
    drive(solver, motion, points=POINTS)
    solver.reset(start)
    track = drive(solver, motion, points=POINTS)
    whole = angle_between(start.rotations_xyzw, motion[0].rotations_xyzw)
    assert angle_between(start.rotations_xyzw, track.rotations_xyzw[0]) < 0.3 * whole
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-3


def test_a_goal_that_leaps_is_followed_as_a_new_one() -> None:
    pose = smooth_motion(BODY, 1, seed=7)[0]

    def leap(frame: int, targets: Targets) -> None:
        if 20 <= frame < 60:
            targets.positions[0] += [3.0, 0.0, 0.0]

    solver = Clik(BODY, [EFFECTORS[0]], {"max_effector_speed": 5.0})
    track = drive(solver, [pose] * 120, points=POINTS[:1], change=leap)
    assert track.largest_turn() < 2 * 0.7  # the main step and a correction
    assert track.residuals[-1, 0] < 1e-3
    assert angle_between(track.rotations_xyzw[-1], pose.rotations_xyzw) < 0.02


def test_a_goal_that_leaps_with_its_own_limb_is_followed_at_once() -> None:
    calm = smooth_motion(BODY, 1, seed=7)[0]
    snapped = calm.copy()
    limb = BODY.ancestors(EFFECTORS[0].joint)[1]
    turn = Rotation.from_rotvec([0.0, 0.0, 1.2])
    snapped.rotations_xyzw[limb] = (Rotation.from_quat(calm.rotations_xyzw[limb]) * turn).as_quat()
    solver = Clik(BODY, [EFFECTORS[0]], {"max_effector_speed": 1.0})
    track = drive(solver, [calm] * 20 + [snapped] * 20, points=POINTS[:1])
    assert track.residuals[20, 0] < 1e-3
    assert angle_between(track.rotations_xyzw[20], snapped.rotations_xyzw) < 0.02


@pytest.mark.parametrize("limit", [0.02, 0.1])
def test_a_clamped_step_keeps_its_direction(limit: float) -> None:
    body = chain(4)
    pose = body.rest_pose()
    turned = Pose(pose.root.copy(), pose.rotations_xyzw.copy())
    vectors = np.array([[0.0, 0, 0], [0.3, 0.0, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, -0.15]])
    turned.rotations_xyzw[:] = Rotation.from_rotvec(vectors).as_quat()
    solver = Clik(body, [], {"max_joint_step": limit, "ease_gain": 1.0, "corrections": 0})
    track = drive(solver, [pose] * 30 + [turned] * 1, change=cut)
    made = Rotation.from_quat(track.rotations_xyzw[30]).as_rotvec()
    np.testing.assert_allclose(made, vectors * limit / 0.6, atol=1e-9)


def two_bones() -> Skeleton:
    return Skeleton.build(
        [
            Joint("hips", None),
            Joint("shoulder", "hips", (0, 0.5, 0)),
            Joint("elbow", "shoulder", (0.3, 0, 0)),
            Joint("hand", "elbow", (0.3, 0, 0)),
        ]
    )


def test_an_arm_driven_out_of_reach_stays_smooth_and_comes_back() -> None:
    """5 % beyond the arm's length and back, in a second each way."""
    body = two_bones()
    bent = body.rest_pose()
    bent.rotations_xyzw[1] = Rotation.from_rotvec([0, 0, 0.3]).as_quat()
    bent.rotations_xyzw[2] = Rotation.from_rotvec([0, 0, -0.9]).as_quat()
    start = reached(body, bent, 3, np.zeros(3))
    shoulder = np.array([0.0, 0.5, 0.0])
    out = shoulder + 1.05 * 0.6 * (start - shoulder) / np.linalg.norm(start - shoulder)

    def drive_out(frame: int, targets: Targets) -> None:
        share = 0.5 - 0.5 * math.cos(math.pi * frame / 30.0)
        targets.positions[0] = start + share * (out - start)

    solver = Clik(body, [Effector("hand", 3)], {"root_mobility": 0.0})
    track = drive(solver, [bent] * 121, change=drive_out)
    assert track.largest_turn() < 0.2
    # the spine may help by a little; what is left is about what the arm lacks
    assert track.residuals[60 - 30, 0] < 0.05
    assert track.residuals[-1, 0] < 1e-3
    assert angle_between(track.rotations_xyzw[-1], bent.rotations_xyzw) < 0.05


def test_a_goal_far_out_of_reach_is_reported_and_held_without_vibration() -> None:
    body = two_bones()
    pose = body.rest_pose()
    pose.rotations_xyzw[2] = Rotation.from_rotvec([0, 0, -0.9]).as_quat()

    def far(frame: int, targets: Targets) -> None:
        targets.positions[0] = [2.0, 1.0, 0.0]

    solver = Clik(body, [Effector("hand", 3)], {"root_mobility": 0.0})
    track = drive(solver, [pose] * 90, change=far)
    assert all(status & Status.OUT_OF_REACH for status in track.statuses)
    assert track.largest_turn(60) < 0.01
    hand = reached(body, track.pose(-1), 3, np.zeros(3))
    to_goal = np.array([2.0, 1.0, 0.0]) - hand
    assert to_goal @ (hand - [0.0, 0.5, 0.0]) > 0.9 * np.linalg.norm(to_goal) * 0.55


def test_damping_sets_in_near_singularity_only() -> None:
    body = two_bones()
    bent = body.rest_pose()
    bent.rotations_xyzw[2] = Rotation.from_rotvec([0, 0, -0.9]).as_quat()
    motion = [bent] * 40

    def circle(frame: int, targets: Targets) -> None:
        a = 2.0 * math.pi * frame / 40.0
        targets.positions[0] += [0.05 * math.sin(a), 0.05 * math.cos(a) - 0.05, 0.0]

    tracks = [
        drive(Clik(body, [Effector("hand", 3)], {"damping": damping}), motion, change=circle)
        for damping in (0.0, 1e-2, 1.0)
    ]
    for track in tracks[1:]:
        np.testing.assert_array_equal(track.rotations_xyzw, tracks[0].rotations_xyzw)


def test_dexterity_lowers_the_gains_near_a_singular_pose() -> None:
    body = two_bones()
    pose = body.rest_pose()  # a straight arm
    pose.rotations_xyzw[2] = Rotation.from_rotvec([0, 0, -0.02]).as_quat()

    def nearer(frame: int, targets: Targets) -> None:
        targets.positions[0] -= [0.05, 0.0, 0.0]
        targets.jump = frame in (0, 1)

    turns = []
    for dexterity in (0.0, 1.0):
        solver = Clik(
            body, [Effector("hand", 3)],
            {"dexterity": dexterity, "root_mobility": 0.0, "ease_gain": 1.0, "k1": 0.5},
        )  # fmt: skip
        start = drive(solver, [pose] * 2)
        solver.reset(start.pose(-1))
        track = drive(solver, [pose] * 3, change=nearer)
        turns.append(track.largest_turn())
    assert turns[1] < turns[0]


def test_a_tenth_of_a_second_is_not_a_frame() -> None:
    """Easing runs on seconds: half as many frames at half the rate get as far."""
    first = smooth_motion(BODY, 1, seed=8)[0]
    second = smooth_motion(BODY, 1, seed=9)[0]
    whole = angle_between(first.rotations_xyzw, second.rotations_xyzw)
    left = []
    for frames, dt in ((9, FRAME_S), (36, 0.25 * FRAME_S)):
        solver = Clik(BODY, EFFECTORS)
        motion = [first] * 30 + [second] * frames
        track = drive(solver, motion, points=POINTS, change=cut, dt=dt)
        left.append(angle_between(track.rotations_xyzw[-1], second.rotations_xyzw))
    assert left[0] == pytest.approx(left[1], abs=0.02 * whole)
