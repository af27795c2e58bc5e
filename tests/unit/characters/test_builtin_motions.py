"""What holds for every built-in motion."""

from __future__ import annotations

import numpy as np
import pytest

from support.motion import World, angular_velocities, local_vectors
from understudy.characters.builtin import BUILTIN_CLIPS, builtin_character, builtin_clip
from understudy.characters.builtin.feet import heel_point
from understudy.errors import UnderstudyError
from understudy.kinematics.types import FloatArray

FRAMES_AT_30_HZ = {"walk": 390, "bat-swing": 136, "throw": 78, "wave": 240}
SIDES = ("left", "right")


def largest_jump_of_acceleration(name: str, rate_hz: float) -> float:
    """The largest change of any joint's angular acceleration from one sample to the next."""
    clip = builtin_clip(name, rate_hz)
    accelerations = np.diff(angular_velocities(clip), axis=0) * rate_hz
    return float(np.max(np.abs(np.diff(accelerations, axis=0))))


def test_the_clips_are_the_documented_ones() -> None:
    assert BUILTIN_CLIPS == ("walk", "bat-swing", "throw", "wave")


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_clips_have_the_documented_length_and_body(name: str) -> None:
    clip = builtin_clip(name)
    assert clip.name == name
    assert clip.rate_hz == 30.0
    assert clip.frame_count == FRAMES_AT_30_HZ[name]
    assert clip.skeleton.names == builtin_character("actor").names


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_a_rate_samples_the_same_motion(name: str) -> None:
    slow, fast = builtin_clip(name, 30.0), builtin_clip(name, 120.0)
    assert fast.frame_count == 4 * slow.frame_count
    np.testing.assert_allclose(fast.roots[::4], slow.roots, atol=1e-12)
    cosines = np.abs(np.sum(fast.rotations_xyzw[::4] * slow.rotations_xyzw, axis=-1))
    np.testing.assert_allclose(cosines, 1.0, atol=1e-12)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_a_clip_is_the_same_every_time(name: str) -> None:
    first, second = builtin_clip(name, 50.0), builtin_clip(name, 50.0)
    np.testing.assert_array_equal(first.roots, second.roots)
    np.testing.assert_array_equal(first.rotations_xyzw, second.rotations_xyzw)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_accelerations_are_continuous(name: str) -> None:
    # A jump would stay as it is when sampled twice as fast; a continuous curve's steps halve.
    coarse = largest_jump_of_acceleration(name, 600.0)
    assert largest_jump_of_acceleration(name, 1200.0) < 0.7 * coarse


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_no_joint_moves_faster_than_a_body_can(name: str) -> None:
    speeds = np.linalg.norm(angular_velocities(builtin_clip(name, 120.0)), axis=-1)
    assert np.max(speeds) < (30.0 if name == "bat-swing" else 15.0)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
@pytest.mark.parametrize("side", SIDES)
def test_knees_bend_backwards_only_and_never_lock(name: str, side: str) -> None:
    knee = np.degrees(local_vectors(builtin_clip(name, 120.0), f"{side}LowerLeg"))
    assert np.min(knee[:, 0]) > 3.0
    assert np.max(knee[:, 0]) < 140.0
    np.testing.assert_allclose(knee[:, 1:], 0.0, atol=1e-9)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
@pytest.mark.parametrize("side", SIDES)
def test_elbows_bend_forwards_only_and_never_lock(name: str, side: str) -> None:
    clip = builtin_clip(name, 120.0)
    i = clip.skeleton.index(f"{side}LowerArm")
    bone = clip.skeleton.offsets[clip.skeleton.index(f"{side}Hand")]
    world = World(clip)
    upper = world.skeleton.index(f"{side}UpperArm")
    upper_from_lower = np.swapaxes(world.rotations[:, upper], 1, 2) @ world.rotations[:, i]
    forearm = upper_from_lower @ (bone / np.linalg.norm(bone))
    along = forearm[:, 0] * np.sign(bone[0])
    flexion = np.degrees(np.arctan2(forearm[:, 2], along))
    np.testing.assert_allclose(forearm[:, 1], 0.0, atol=1e-9)  # a hinge: no sideways bend
    assert np.min(flexion) > 5.0
    assert np.max(flexion) < 150.0


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
@pytest.mark.parametrize("side", SIDES)
def test_feet_stay_above_the_floor(name: str, side: str) -> None:
    world = World(builtin_clip(name, 120.0))
    for sole in sole_points(world, side):
        assert np.min(sole[:, 1]) > -1e-9


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
@pytest.mark.parametrize("side", SIDES)
def test_a_toe_tip_on_the_floor_does_not_slide(name: str, side: str) -> None:
    # Where a track holds the tip at the floor it is there to rounding; a tip that is only close
    # to the floor, on its way up or down, is not planted.
    tip = World(builtin_clip(name, 120.0)).tip(f"{side}Toes")
    planted = np.abs(tip[:, 1]) < 1e-12
    both = planted[1:] & planted[:-1]
    assert np.count_nonzero(both) > 0.2 * len(tip)
    steps = np.linalg.norm(np.diff(tip, axis=0), axis=1)
    assert np.max(steps[both]) < 1e-9


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_the_neck_and_the_torso_keep_within_human_range(name: str) -> None:
    clip = builtin_clip(name)
    for joints, limit in ((("spine", "chest", "upperChest"), 30.0), (("neck", "head"), 50.0)):
        for joint in joints:
            angles = np.degrees(np.linalg.norm(local_vectors(clip, joint), axis=1))
            assert np.max(angles) < limit, joint


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
@pytest.mark.parametrize("side", SIDES)
def test_toes_bend_upwards_at_the_ball_only(name: str, side: str) -> None:
    ball = np.degrees(local_vectors(builtin_clip(name, 120.0), f"{side}Toes"))
    assert np.max(ball[:, 0]) < 5.0
    assert np.min(ball[:, 0]) > -50.0


def test_an_unknown_clip_is_refused_with_the_known_names() -> None:
    with pytest.raises(UnderstudyError, match=r"no built-in clip 'moonwalk'.*bat-swing"):
        builtin_clip("moonwalk")


@pytest.mark.parametrize("rate_hz", [0.0, -30.0, float("nan"), float("inf")])
def test_a_rate_that_is_none_is_refused(rate_hz: float) -> None:
    with pytest.raises(UnderstudyError, match="rate"):
        builtin_clip("walk", rate_hz)


def sole_points(world: World, side: str) -> list[FloatArray]:
    heel = world.point(f"{side}Foot", heel_point(world.skeleton, side))
    return [heel, world.joint(f"{side}Toes"), world.tip(f"{side}Toes")]
