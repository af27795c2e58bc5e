"""The bat swing, the throw and the wave do what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from support.motion import World
from understudy.characters.builtin import builtin_clip
from understudy.characters.builtin import swing as bat
from understudy.characters.builtin import throw as ball
from understudy.kinematics.types import FloatArray

RATE_HZ = 120


@pytest.fixture(scope="module")
def swing() -> World:
    return World(builtin_clip("bat-swing", RATE_HZ))


@pytest.fixture(scope="module")
def throw() -> World:
    return World(builtin_clip("throw", RATE_HZ))


@pytest.fixture(scope="module")
def wave() -> World:
    return World(builtin_clip("wave", RATE_HZ))


def yaw_deg(world: World, joint: str) -> FloatArray:
    facing = world.rotations[:, world.skeleton.index(joint), :, 2]
    return np.degrees(np.unwrap(np.arctan2(facing[:, 0], facing[:, 2])))


def fist(world: World, side: str) -> FloatArray:
    hand = world.skeleton.index(f"{side}Hand")
    return world.point(f"{side}Hand", 0.47 * world.skeleton.tips[hand])


def frame(time_s: float) -> int:
    return round(time_s * RATE_HZ)


def speed(points: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(np.diff(points, axis=0), axis=1) * RATE_HZ)


def test_both_fists_stay_on_the_bat(swing: World) -> None:
    apart = fist(swing, "right") - fist(swing, "left")
    bat_from_knob = bat.bat_direction(np.arange(len(apart)) / RATE_HZ)
    np.testing.assert_allclose(apart, bat.GRIP_SPACING_M * bat_from_knob, atol=1e-9)


def test_the_hips_open_before_the_shoulders(swing: World) -> None:
    apart = yaw_deg(swing, "hips") - yaw_deg(swing, "upperChest")
    assert np.max(apart[frame(bat.LIFT_S) : frame(bat.CONTACT_S)]) > 25.0
    assert apart[-1] < 0.0


def test_the_swing_loads_away_from_the_ball_and_finishes_towards_it(swing: World) -> None:
    chest = yaw_deg(swing, "upperChest")
    loaded = np.min(chest[: frame(bat.LAND_S)])
    assert loaded < chest[0] - 15.0
    assert np.max(chest) > 90.0


def test_the_bat_is_fastest_near_the_contact(swing: World) -> None:
    direction = bat.bat_direction(np.arange(swing.clip.frame_count) / RATE_HZ)
    barrel = speed(fist(swing, "left") + 0.75 * direction)
    fastest = int(np.argmax(barrel)) / RATE_HZ
    assert abs(fastest - bat.CONTACT_S) < 0.15
    assert 12.0 < np.max(barrel) < 40.0


def test_the_bat_keeps_clear_of_the_head(swing: World) -> None:
    direction = bat.bat_direction(np.arange(swing.clip.frame_count) / RATE_HZ)
    for along in np.linspace(0.1, 0.8, 15):
        barrel = fist(swing, "left") + along * direction
        for part in (swing.joint("head"), swing.tip("head")):
            assert np.min(np.linalg.norm(barrel - part, axis=1)) > 0.15


def test_the_front_foot_strides_towards_the_ball_and_the_back_toe_stays(swing: World) -> None:
    front, back = swing.tip("leftToes"), swing.tip("rightToes")
    assert front[-1, 0] - front[0, 0] > 0.2
    assert np.max(speed(back)) < 1e-9
    standing = np.r_[np.arange(0, frame(bat.LIFT_S)), np.arange(frame(bat.LAND_S), len(front) - 1)]
    assert np.max(speed(front)[standing]) < 1e-9


def test_the_thrown_ball_leaves_forwards_and_fast(throw: World) -> None:
    hand = throw.tip("rightHand")
    fastest = int(np.argmax(speed(hand)))
    assert abs(fastest / RATE_HZ - ball.RELEASE_S) < 0.08
    assert 8.0 < speed(hand)[fastest] < 25.0
    release = frame(ball.RELEASE_S)
    velocity = (hand[release + 1] - hand[release - 1]) * RATE_HZ / 2.0
    assert velocity[2] > 0.75 * np.linalg.norm(velocity)
    assert hand[release, 1] > throw.joint("head")[release, 1]


def test_the_arm_is_cocked_behind_the_head_before_the_release(throw: World) -> None:
    hand, head = throw.joint("rightHand"), throw.joint("head")
    cocking = slice(frame(ball.LAND_S), frame(ball.RELEASE_S))
    assert np.min((hand - head)[cocking, 2]) < -0.2


def test_the_throw_strides_forward_and_brings_the_back_foot_up(throw: World) -> None:
    left, right = throw.tip("leftToes"), throw.tip("rightToes")
    assert left[-1, 2] - left[0, 2] > 0.6
    assert np.max(speed(right)[: frame(ball.STEP_UP_S)]) < 1e-9
    assert abs(left[-1, 2] - right[-1, 2]) < 0.2


def test_the_wave_starts_again_where_it_ends(wave: World) -> None:
    clip = wave.clip
    closed = np.concatenate([clip.rotations_xyzw, clip.rotations_xyzw[:3]])
    moves = 1.0 - np.abs(np.sum(closed[1:] * closed[:-1], axis=-1))
    assert np.max(moves[-3:]) < 2.0 * np.max(moves[:60])
    assert np.max(np.abs(clip.roots[0] - clip.roots[-1])) < 0.002


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_feet_of_the_wave_are_flat_and_still(wave: World, side: str) -> None:
    foot, toes = wave.joint(f"{side}Foot"), wave.joint(f"{side}Toes")
    assert np.max(speed(foot)) < 1e-9
    assert np.max(speed(toes)) < 1e-9
    np.testing.assert_allclose(toes[:, 1], 0.0, atol=1e-12)
    np.testing.assert_allclose(wave.tip(f"{side}Toes")[:, 1], 0.0, atol=1e-12)


def test_the_right_hand_waves_above_the_shoulder_and_the_left_hangs(wave: World) -> None:
    hand = wave.joint("rightHand") - wave.joint("rightUpperArm")
    raised = hand[:, 1] > 0.15
    assert 2.0 < np.count_nonzero(raised) / RATE_HZ < 4.0
    sideways = hand[raised, 0] - np.mean(hand[raised, 0])
    assert np.count_nonzero(np.diff(np.sign(sideways))) >= 6
    left = wave.joint("leftHand") - wave.joint("leftUpperArm")
    assert np.max(left[:, 1]) < -0.4


def test_the_weight_shifts_from_leg_to_leg(wave: World) -> None:
    across = wave.clip.roots[:, 0]
    assert np.max(across) > 0.02
    assert np.min(across) < -0.02
