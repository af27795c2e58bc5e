from __future__ import annotations

import numpy as np
import pytest

from support.motion import World, local_vectors
from understudy.characters.builtin import builtin_clip
from understudy.characters.builtin.feet import heel_point
from understudy.characters.builtin.walk import STEP_M, STEPS, Arc, walk_along, walk_stance
from understudy.kinematics.rotations import align_sign
from understudy.kinematics.types import FloatArray, IntArray

RATE_HZ = 120
SIDES = ("left", "right")


@pytest.fixture(scope="module")
def world() -> World:
    return World(builtin_clip("walk", RATE_HZ))


def flexion_deg(joint: str, sign: float) -> FloatArray:
    return np.asarray(sign * np.degrees(local_vectors(builtin_clip("walk", RATE_HZ), joint)[:, 0]))


def mirrored(rotations_xyzw: FloatArray) -> FloatArray:
    return np.asarray(rotations_xyzw * (1.0, -1.0, -1.0, 1.0))


@pytest.mark.parametrize("rate_hz", [10.0, 30.0, 120.0])
def test_thirteen_steps_alternate_between_the_feet(rate_hz: float) -> None:
    stance = walk_stance(rate_hz)
    assert len(stance) == builtin_clip("walk", rate_hz).frame_count
    changes = np.flatnonzero(np.diff(stance)) + 1
    np.testing.assert_array_equal(changes, np.arange(1, STEPS) * round(rate_hz))
    assert set(np.diff(stance[changes])) == {-1, 1}
    assert stance[0] == 0


def test_the_base_toe_never_moves_within_its_step(world: World) -> None:
    stance = walk_stance(RATE_HZ)
    for number, side in enumerate(SIDES):
        tip = world.tip(f"{side}Toes")
        within = (stance[1:] == number) & (stance[:-1] == number)
        assert np.max(np.linalg.norm(np.diff(tip, axis=0), axis=1)[within]) < 1e-9
        assert np.max(np.abs(tip[stance == number, 1])) < 1e-9


def test_both_toes_are_at_rest_on_the_floor_where_the_base_changes(world: World) -> None:
    changes = np.flatnonzero(np.diff(walk_stance(RATE_HZ))) + 1
    for side in SIDES:
        tip = world.tip(f"{side}Toes")
        for around in range(-10, 10):
            step = tip[changes + around + 1] - tip[changes + around]
            assert np.max(np.linalg.norm(step, axis=1)) < 1e-9


def test_each_base_is_one_step_further_on(world: World) -> None:
    stance = walk_stance(RATE_HZ)
    middles = (np.arange(STEPS) * RATE_HZ + RATE_HZ // 2).astype(int)
    tips = np.array([world.tip(f"{SIDES[stance[m]]}Toes")[m] for m in middles])
    lengths = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    np.testing.assert_allclose(lengths, STEP_M, rtol=0.1)


@pytest.mark.parametrize("side", SIDES)
def test_the_heel_stands_still_from_its_strike_until_it_rises(world: World, side: str) -> None:
    heel = world.point(f"{side}Foot", heel_point(world.skeleton, side))
    down = np.abs(heel[:, 1]) < 1e-12
    both = down[1:] & down[:-1]
    # From heel strike (-0.25 s) to heel rise (0.5 s): three eighths of a stride.
    assert np.mean(down) == pytest.approx(0.375, abs=0.03)
    assert np.max(np.linalg.norm(np.diff(heel, axis=0), axis=1)[both]) < 1e-9


@pytest.mark.parametrize("side", SIDES)
def test_the_heel_lands_before_the_toes_and_leaves_before_them(world: World, side: str) -> None:
    heel = world.point(f"{side}Foot", heel_point(world.skeleton, side))[:, 1] < 1e-12
    toes = world.tip(f"{side}Toes")[:, 1] < 1e-12
    landed = np.flatnonzero(np.diff(heel.astype(int)) == 1)
    flat = np.flatnonzero(np.diff(toes.astype(int)) == 1)
    risen = np.flatnonzero(np.diff(heel.astype(int)) == -1)
    off = np.flatnonzero(np.diff(toes.astype(int)) == -1)
    assert_each_is_followed(landed, flat, within=round(0.25 * RATE_HZ), frames=len(heel))
    assert_each_is_followed(risen, off, within=round(0.7 * RATE_HZ), frames=len(heel))


def assert_each_is_followed(first: IntArray, second: IntArray, *, within: int, frames: int) -> None:
    complete = first[first + within < frames]
    assert len(complete) >= 5
    for event in complete:
        assert np.any((second > event) & (second <= event + within))


@pytest.mark.parametrize("side", SIDES)
def test_a_swinging_toe_clears_the_floor(world: World, side: str) -> None:
    tip = world.tip(f"{side}Toes")
    speed = np.linalg.norm(np.diff(tip, axis=0), axis=1) * RATE_HZ
    fast = speed > 1.5
    assert np.count_nonzero(fast) > 100
    assert np.min(tip[1:][fast][:, 1]) > 0.012


@pytest.mark.parametrize("side", SIDES)
def test_leg_joints_follow_normal_gait(side: str) -> None:
    hip = flexion_deg(f"{side}UpperLeg", -1.0)
    knee = flexion_deg(f"{side}LowerLeg", 1.0)
    ankle = flexion_deg(f"{side}Foot", -1.0)
    ball = flexion_deg(f"{side}Toes", -1.0)
    assert 24.0 < np.max(hip) < 36.0
    assert -15.0 < np.min(hip) < -6.0
    assert 55.0 < np.max(knee) < 66.0
    assert 5.0 < np.min(knee) < 14.0
    assert 8.0 < np.max(ankle) < 21.0
    assert -18.0 < np.min(ankle) < -7.0
    assert 25.0 < np.max(ball) < 40.0


def test_the_right_arm_does_what_the_left_did_a_step_before() -> None:
    clip = builtin_clip("walk", RATE_HZ)
    for joint in ("Shoulder", "UpperArm", "LowerArm", "Hand"):
        left = clip.rotations_xyzw[:, clip.skeleton.index(f"left{joint}")]
        right = clip.rotations_xyzw[:, clip.skeleton.index(f"right{joint}")]
        cosines = np.abs(np.sum(mirrored(left)[:-RATE_HZ] * right[RATE_HZ:], axis=-1))
        np.testing.assert_allclose(cosines, 1.0, atol=1e-12)


def test_on_a_straight_path_the_right_leg_does_what_the_left_did_a_step_before() -> None:
    time = np.arange(5 * RATE_HZ) / RATE_HZ
    clip = walk_along(Arc(1e6), time).clip("straight", RATE_HZ)
    for joint in ("UpperLeg", "LowerLeg", "Foot", "Toes"):
        left = clip.rotations_xyzw[:, clip.skeleton.index(f"left{joint}")]
        right = clip.rotations_xyzw[:, clip.skeleton.index(f"right{joint}")]
        np.testing.assert_allclose(
            align_sign(mirrored(left)[:-RATE_HZ], right[RATE_HZ:]), right[RATE_HZ:], atol=1e-4
        )


@pytest.mark.parametrize(("arm", "leg"), [("left", "right"), ("right", "left")])
def test_each_arm_swings_with_the_opposite_leg(world: World, arm: str, leg: str) -> None:
    pelvis = world.skeleton.index("hips")
    forward = world.rotations[:, pelvis, :, 2]
    ahead = [
        np.sum((world.joint(joint) - world.joint("hips")) * forward, axis=1)
        for joint in (f"{arm}Hand", f"{leg}Foot", f"{arm}Foot")
    ]
    hand, opposite, own = (values - np.mean(values) for values in ahead)
    assert np.corrcoef(hand, opposite)[0, 1] > 0.8
    assert np.corrcoef(hand, own)[0, 1] < -0.8


def test_thorax_and_pelvis_turn_against_each_other(world: World) -> None:
    yaws = []
    for joint in ("hips", "upperChest"):
        facing = world.rotations[:, world.skeleton.index(joint), :, 2]
        yaw = np.unwrap(np.arctan2(facing[:, 0], facing[:, 2]))
        trend = np.polynomial.Polynomial.fit(np.arange(len(yaw)), yaw, 1)
        yaws.append(yaw - trend(np.arange(len(yaw))))
    assert np.corrcoef(yaws[0], yaws[1])[0, 1] < -0.8


def test_the_head_is_steadier_than_the_pelvis(world: World) -> None:
    def wobble(joint: str) -> float:
        facing = world.rotations[:, world.skeleton.index(joint), :, 2]
        yaw = np.unwrap(np.arctan2(facing[:, 0], facing[:, 2]))
        return float(np.std(np.diff(yaw)))

    assert wobble("head") < 0.2 * wobble("hips")


def test_the_pelvis_goes_round_the_curve_at_an_even_speed(world: World) -> None:
    root = world.clip.roots
    velocity = np.diff(root[:, [0, 2]], axis=0) * RATE_HZ
    speed = np.linalg.norm(velocity, axis=1)
    assert np.max(np.abs(speed / np.mean(speed) - 1.0)) < 0.12
    heading = np.unwrap(np.arctan2(velocity[:, 0], velocity[:, 1]))
    assert np.degrees(heading[-1] - heading[0]) > 60.0


def test_the_pelvis_rises_over_each_planted_leg(world: World) -> None:
    height = world.clip.roots[:, 1]
    peaks = np.flatnonzero((height[1:-1] > height[:-2]) & (height[1:-1] > height[2:])) + 1
    assert len(peaks) == STEPS
    assert 0.01 < np.ptp(height) < 0.04
