"""Tears in a capture are held over, real jumps are told apart."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.characters import builtin_clip
from understudy.conditioning import Bridged, TearBridge
from understudy.kinematics import rotations

RATE_HZ = 120.0
CLIP = builtin_clip("walk", RATE_HZ)
ELBOW = CLIP.skeleton.index("leftLowerArm")


def torn(frame: int, angle_deg: float, joint: int = ELBOW) -> tuple[np.ndarray, np.ndarray]:
    pose = CLIP.pose(frame)
    turn = rotations.exp(np.array([0.0, np.radians(angle_deg), 0.0]))
    pose.rotations_xyzw[joint] = rotations.multiply(pose.rotations_xyzw[joint], turn)
    return pose.root, pose.rotations_xyzw


def fed(bridge: TearBridge, frames: range) -> None:
    for frame in frames:
        pose = CLIP.pose(frame)
        assert bridge.apply(pose.root, pose.rotations_xyzw, 1 / RATE_HZ) is Bridged.PASSED


def test_an_ordinary_motion_passes_untouched() -> None:
    bridge = TearBridge(CLIP.skeleton)
    for frame in range(CLIP.frame_count):
        pose = CLIP.pose(frame)
        assert bridge.apply(pose.root, pose.rotations_xyzw, 1 / RATE_HZ) is Bridged.PASSED
        assert np.array_equal(pose.rotations_xyzw, CLIP.rotations_xyzw[frame])


def test_a_frame_in_which_a_limb_flies_off_shows_the_last_pose() -> None:
    bridge = TearBridge(CLIP.skeleton)
    fed(bridge, range(10))
    root, turned = torn(10, 60.0)
    assert bridge.apply(root, turned, 1 / RATE_HZ) is Bridged.HELD
    assert np.array_equal(turned, CLIP.rotations_xyzw[9])
    assert np.array_equal(root, CLIP.roots[9])
    fed(bridge, range(11, 20))


@pytest.mark.parametrize("rate_hz", [120.0, 60.0])
def test_a_tear_that_stays_is_passed_on_after_25_ms(rate_hz: float) -> None:
    bridge = TearBridge(CLIP.skeleton)
    pose = CLIP.pose(0)
    bridge.apply(pose.root, pose.rotations_xyzw, 1 / rate_hz)
    held = 0
    while True:
        root, turned = torn(0, 150.0)
        if bridge.apply(root, turned, 1 / rate_hz) is not Bridged.HELD:
            break
        held += 1
    assert held == int(0.025 * rate_hz + 1e-6)
    assert np.array_equal(turned, torn(0, 150.0)[1])


def test_a_body_that_is_elsewhere_has_jumped() -> None:
    bridge = TearBridge(CLIP.skeleton)
    fed(bridge, range(5))
    outcomes = []
    for _ in range(5):
        root, turned = torn(5, 120.0, joint=0)
        outcomes.append(bridge.apply(root, turned, 1 / RATE_HZ))
    assert outcomes[:3] == [Bridged.HELD] * 3
    assert outcomes[3:] == [Bridged.JUMPED, Bridged.PASSED]


def test_toes_and_fingers_may_turn_as_fast_as_they_like() -> None:
    bridge = TearBridge(CLIP.skeleton, loose={ELBOW})
    fed(bridge, range(5))
    root, turned = torn(5, 90.0)
    assert bridge.apply(root, turned, 1 / RATE_HZ) is Bridged.PASSED


def test_after_a_reset_the_next_frame_passes() -> None:
    bridge = TearBridge(CLIP.skeleton)
    fed(bridge, range(5))
    bridge.reset()
    root, turned = torn(5, 170.0)
    assert bridge.apply(root, turned, 1 / RATE_HZ) is Bridged.PASSED
