from __future__ import annotations

import numpy as np
import pytest

from support.humanoids import Reframed, actor, angle_deg
from understudy.align import Alignment, MotionSample, Transfer, find_roles
from understudy.align.calibration import (
    CalibrationError,
    at_rest_in,
    average_pose,
    calibrated,
    check_calibration,
    facing_turn,
)
from understudy.kinematics import FloatArray, ForwardKinematics, Pose, Skeleton
from understudy.kinematics.rotations import exp, multiply, rotate


def held(
    skeleton: Skeleton, pose: Pose, rng: np.random.Generator, shake_rad: float, frames: int = 90
) -> tuple[FloatArray, FloatArray]:
    """Frames of somebody who holds a pose, with noise on every joint and random signs."""
    noise = exp(rng.normal(scale=shake_rad, size=(frames, len(skeleton), 3)))
    q = multiply(np.tile(pose.rotations_xyzw, (frames, 1, 1)), noise)
    q *= rng.choice([-1.0, 1.0], size=(frames, len(skeleton), 1))
    return np.tile(pose.root, (frames, 1)), q


def test_noise_and_signs_average_out() -> None:
    rng = np.random.default_rng(1)
    body = actor()
    other = Reframed(body, rng).skeleton
    result = average_pose(*held(other, other.rest_pose(), rng, 0.02))
    dots = np.abs(np.sum(result.pose.rotations_xyzw * other.rest_xyzw, axis=1))
    assert 2.0 * np.arccos(np.min(np.clip(dots, 0.0, 1.0))) < 0.02
    np.testing.assert_allclose(result.spread_rad, 0.02 * np.sqrt(3.0), rtol=0.3)


def test_a_late_start_is_left_out() -> None:
    rng = np.random.default_rng(2)
    body = actor()
    roots, q = held(body, body.rest_pose(), rng, 0.003)
    q[:20, body.index("leftUpperArm")] = exp(np.array([0.0, 0.0, -1.2]))
    q[:20, body.index("rightUpperArm")] = exp(np.array([0.0, 0.0, 1.2]))
    result = average_pose(roots, q)
    assert not result.used[:20].any()
    assert result.used[20:].all()
    assert np.max(result.spread_rad) < 0.01


def test_too_few_frames_are_refused() -> None:
    body = actor()
    with pytest.raises(CalibrationError, match="at least 10 frames, got 3"):
        average_pose(np.zeros((3, 3)), np.tile(body.rest_xyzw, (3, 1, 1)))


def test_who_moved_is_named() -> None:
    rng = np.random.default_rng(3)
    body = actor()
    roots, q = held(body, body.rest_pose(), rng, 0.002)
    for frame, angle in enumerate(np.linspace(-0.5, 0.5, len(q))):
        q[frame, body.index("rightUpperArm")] = exp(np.array([0.0, 0.0, angle]))
    with pytest.raises(CalibrationError, match=r"^rightUpperArm moved during the calibration"):
        check_calibration(body, find_roles(body), average_pose(roots, q))


def test_somebody_who_sits_is_asked_to_stand() -> None:
    rng = np.random.default_rng(4)
    body = actor()
    sitting = body.rest_pose()
    for side in ("left", "right"):
        sitting.rotations_xyzw[body.index(side + "UpperLeg")] = exp(np.array([-1.5, 0.0, 0.0]))
    with pytest.raises(CalibrationError, match="stand upright"):
        check_calibration(body, find_roles(body), average_pose(*held(body, sitting, rng, 0.002)))


def test_a_calibrated_performer_in_the_pose_gives_the_character_s_t_pose() -> None:
    """Sensors worn crooked: the rest pose is wrong, the pose that was held is not."""
    rng = np.random.default_rng(5)
    body = actor()
    worn = Reframed(body, rng).skeleton
    t_pose = worn.rest_pose()
    noise = exp(rng.uniform(-0.3, 0.3, size=(len(worn), 3)))
    crooked = at_rest_in(worn, Pose(t_pose.root, multiply(worn.rest_xyzw, noise)))
    result = average_pose(*held(crooked, t_pose, rng, 0.0))
    copied = []
    for source in (crooked, calibrated(crooked, result)):
        alignment = Alignment.build(source, body, find_roles(source), find_roles(body))
        kinematics = ForwardKinematics(source)
        kinematics.update(t_pose.root.copy(), t_pose.rotations_xyzw.copy())
        q, root = np.zeros((len(body), 4)), np.zeros(3)
        Transfer(alignment).run(kinematics.positions, t_pose.rotations_xyzw.copy(), q, root)
        copied.append(np.max(2.0 * np.arccos(np.clip(np.abs(q[:, 3]), 0.0, 1.0))))
    assert copied[0] > 0.1
    assert copied[1] < 1e-6


@pytest.mark.parametrize("heading", [0.0, 1.0, -2.5, 3.0])
def test_a_performer_is_turned_to_face_z(heading: float) -> None:
    body = actor()
    pose = body.rest_pose()
    pose.rotations_xyzw[0] = exp(np.array([0.0, heading, 0.0]))
    sample = MotionSample.from_frames(body, pose.root[None], pose.rotations_xyzw[None], 30.0)
    turn = facing_turn(sample.positions[0], find_roles(body))
    toes = sample.positions[0, body.index("leftToes")] - sample.positions[0, body.index("leftFoot")]
    ahead = rotate(turn, toes) * np.array([1.0, 0.0, 1.0])
    assert angle_deg(ahead, np.array([0.0, 0.0, 1.0])) < 1e-6
