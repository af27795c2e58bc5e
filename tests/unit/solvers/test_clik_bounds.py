"""Joint limits and adversarial frames: the answer is always a pose the body can take."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import angle_between, chain, mixed_body
from support.driving import drive, smooth_motion
from understudy.characters import builtin_character
from understudy.kinematics import HINGE, FloatArray, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, Status

BODY = mixed_body()
HAND, FOOT, ELBOW = BODY.index("hand"), BODY.index("foot"), BODY.index("elbow")
EFFECTORS = (Effector("hand", HAND), Effector("foot", FOOT, orientation="exact"))
POINTS = np.array([[0.1, 0.0, 0.0], [0.0, 0.1, 0.1]])


def off_axis(body: Skeleton, rotations_xyzw: FloatArray) -> float:
    """How far (rad) hinges are from any rotation about their axes."""
    local = rotations.log(rotations.multiply(rotations.conjugate(body.rest_xyzw), rotations_xyzw))
    across = local - np.sum(local * body.axes, axis=-1, keepdims=True) * body.axes
    return float(np.max(np.abs(across[:, body.kinds == HINGE])))


def wild(frame: int, targets: Targets) -> None:
    """Goals anywhere in a few metres, a new place every few frames."""
    rng = np.random.default_rng(frame // 4)
    targets.positions[:] = rng.normal(scale=1.0, size=targets.positions.shape)
    targets.orientations_xyzw[:] = Rotation.random(len(targets.positions), rng=rng).as_quat()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("paper", [0, 1])
def test_no_joint_is_ever_beyond_its_limit(seed: int, paper: int) -> None:
    motion = smooth_motion(BODY, 80, seed=seed, spread_rad=1.0)
    around = np.stack([pose.rotations_xyzw for pose in smooth_motion(BODY, 200, seed=9)])
    limits = JointLimits.around_motion(BODY, around, math.radians(5.0))
    solver = Clik(BODY, EFFECTORS, {"paper": paper}, limits=limits)
    track = drive(solver, motion, points=POINTS, change=wild)
    assert np.max(limits.excess_rad(track.rotations_xyzw)) < 1e-9
    assert np.max(JointLimits.none(BODY).excess_rad(track.rotations_xyzw)) < 1e-9
    assert off_axis(BODY, track.rotations_xyzw) < 1e-9
    assert any(status & Status.LIMITED for status in track.statuses)


def test_a_human_stays_within_the_range_of_its_motion() -> None:
    body = builtin_character("actor")
    motion = smooth_motion(body, 60, seed=3, spread_rad=0.3)
    around = np.stack([pose.rotations_xyzw for pose in motion])
    limits = JointLimits.around_motion(body, around, math.radians(5.0))
    effectors = [
        Effector("hand", body.index("leftHand")),
        Effector("foot", body.index("rightFoot"), orientation="exact"),
    ]
    solver = Clik(body, effectors, limits=limits)
    track = drive(solver, motion, change=wild)
    assert np.max(limits.excess_rad(track.rotations_xyzw)) < 1e-9


def test_a_motion_inside_its_limits_is_not_touched_by_them() -> None:
    motion = smooth_motion(BODY, 60, seed=4)
    around = np.stack([pose.rotations_xyzw for pose in motion])
    limits = JointLimits.around_motion(BODY, around, math.radians(1.0))
    track = drive(Clik(BODY, EFFECTORS, limits=limits), motion, points=POINTS)
    for i, pose in enumerate(motion):
        assert angle_between(track.rotations_xyzw[i], pose.rotations_xyzw) < 1e-9
    assert set(track.statuses) == {Status.OK}


def test_a_limit_is_solved_around_and_not_only_clamped() -> None:
    """One joint is held back, the others make up for it: the goal is met all the same."""
    body = chain(5)
    limits = JointLimits.none(body)
    limits.set(
        2,
        centre_xyzw=rotations.IDENTITY_XYZW,
        twist_axis=np.array([0.0, 1.0, 0.0]),
        low_rad=np.full(3, -0.05),
        high_rad=np.full(3, 0.05),
    )

    def bend(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.4 * min(1.0, frame / 30.0), -0.15 * min(1.0, frame / 30.0), 0.0]

    # The chain is straight: it bends by 0.3 rad for the first centimetre.
    solver = Clik(
        body,
        [Effector("tip", 4)],
        {"root_mobility": 0.0, "corrections": 2, "max_joint_lead": 20.0},
        limits=limits,
    )
    track = drive(solver, [body.rest_pose()] * 60, change=bend)
    assert track.statuses[-1] & Status.LIMITED
    assert np.max(limits.excess_rad(track.rotations_xyzw)) < 1e-9
    assert np.max(track.residuals) < 2e-3


def test_a_hinge_comes_off_its_limit_again() -> None:
    """Sent beyond it and back: it follows at once, however often."""
    low, high = BODY.limits_rad[ELBOW]
    motion = smooth_motion(BODY, 1, seed=5) * 80
    wanted = 0.9 + 1.8 * np.sin(np.arange(80) * 0.25)

    def swing(frame: int, targets: Targets) -> None:
        turn = Rotation.from_rotvec(wanted[frame] * BODY.axes[ELBOW])
        rest = Rotation.from_quat(BODY.rest_xyzw[ELBOW])
        targets.rotations_xyzw[ELBOW] = (rest * turn).as_quat()
        targets.strengths[:] = 0.0

    track = drive(Clik(BODY, EFFECTORS), motion, change=swing)
    rest = Rotation.from_quat(BODY.rest_xyzw[ELBOW])
    turns = (rest.inv() * Rotation.from_quat(track.rotations_xyzw[:, ELBOW])).as_rotvec()
    angles = turns @ BODY.axes[ELBOW]
    np.testing.assert_allclose(angles, np.clip(wanted, low, high), atol=1e-9)


@pytest.mark.parametrize("k2", [0.0, 0.1])
def test_a_hinge_does_not_lag_when_imitation_is_weak(k2: float) -> None:
    motion = smooth_motion(BODY, 60, seed=6)
    track = drive(Clik(BODY, EFFECTORS, {"k2": k2}), motion, points=POINTS)
    assert angle_between(track.rotations_xyzw[-1], motion[-1].rotations_xyzw) < 1e-6


def test_two_goals_for_one_point_meet_in_the_middle() -> None:
    body = chain(4)

    def apart(frame: int, targets: Targets) -> None:
        targets.positions[0] += [0.5, 0.0, 0.0]
        targets.positions[1] -= [0.5, 0.0, 0.0]

    effectors = [Effector("a", 3), Effector("b", 3)]
    track = drive(Clik(body, effectors), [body.rest_pose()] * 60, change=apart)
    np.testing.assert_allclose(track.residuals, 0.5, atol=1e-6)
    assert track.largest_turn() < 1e-6
