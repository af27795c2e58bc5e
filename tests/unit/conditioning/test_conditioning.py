"""Easing before the solver and the check after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.characters.builtin import builtin_character
from understudy.conditioning import CharacterPose, TargetEase
from understudy.kinematics import FloatArray, Joint, Pose, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets

BODY = builtin_character("actor")
EFFECTORS = (Effector("leftHand", BODY.index("leftHand")), Effector("rightFoot", 3))
DT = 1.0 / 60.0


def random_targets(seed: int) -> Targets:
    rng = np.random.default_rng(seed)
    targets = Targets.allocate(BODY, EFFECTORS, 2)
    targets.root[:] = rng.normal(size=3)
    targets.rotations_xyzw[:] = rotations.normalise(rng.normal(size=(len(BODY), 4)))
    targets.points[:] = rng.normal(size=(2, 3))
    targets.positions[:] = rng.normal(size=(2, 3))
    targets.orientations_xyzw[:] = rotations.normalise(rng.normal(size=(2, 4)))
    return targets


def apart_rad(a: FloatArray, b: FloatArray) -> float:
    return float(
        np.linalg.norm(rotations.log(rotations.multiply(rotations.conjugate(a), b)), axis=-1).max()
    )


def test_the_way_leaves_the_last_targets_gently_and_ends_at_the_live_ones() -> None:
    ease = TargetEase(BODY, EFFECTORS, 0.3)
    last, live = random_targets(1), random_targets(2)
    assert not ease.active
    ease.start(last)
    before = last
    frames = 0
    while ease.active:
        targets = random_targets(2)
        ease.apply(targets, DT)
        assert apart_rad(before.rotations_xyzw, targets.rotations_xyzw) < 0.35
        assert np.abs(before.root - targets.root).max() < 0.4
        assert not targets.jump
        before = targets
        frames += 1
    assert frames == 18
    np.testing.assert_allclose(before.root, live.root, atol=1e-12)
    assert apart_rad(before.rotations_xyzw, live.rotations_xyzw) < 1e-7
    np.testing.assert_allclose(before.goals, live.goals, atol=1e-7)


@given(st.integers(0, 1000), st.floats(-3.0, 3.0))
def test_goals_go_along_with_a_body_that_only_turns_and_travels(seed: int, angle: float) -> None:
    last = random_targets(seed)
    live = random_targets(seed)
    turn = rotations.exp(np.array([0.0, angle, 0.0]))
    shift = np.array([5.0, 0.0, -3.0])
    live.root[:] = rotations.rotate(turn, last.root) + shift
    live.rotations_xyzw[0] = rotations.multiply(turn, last.rotations_xyzw[0])
    live.positions[:] = rotations.rotate(turn, last.positions) + shift
    ease = TargetEase(BODY, EFFECTORS, 0.3)
    ease.start(last)
    reach = np.linalg.norm(last.positions - last.root, axis=1)
    ease.apply(live, 0.15)
    np.testing.assert_allclose(np.linalg.norm(live.positions - live.root, axis=1), reach)


def test_effectors_the_other_alignment_did_not_have_are_left_alone() -> None:
    ease = TargetEase(BODY, EFFECTORS, 0.3)
    ease.start_elsewhere(random_targets(1), (EFFECTORS[1], EFFECTORS[0]))
    both = random_targets(2)
    ease.apply(both, 1e-6)
    np.testing.assert_allclose(both.points[0], random_targets(1).points[1], atol=1e-6)
    ease.start_elsewhere(random_targets(1), (EFFECTORS[1],))
    one = random_targets(2)
    ease.apply(one, 1e-6)
    np.testing.assert_allclose(one.points[0], random_targets(2).points[0], atol=1e-6)


def posed(seed: int) -> Pose:
    rng = np.random.default_rng(seed)
    return Pose(rng.normal(size=3), rotations.normalise(rng.normal(size=(len(BODY), 4))))


def test_a_good_pose_is_taken_and_published_as_float32() -> None:
    pose = CharacterPose(BODY, len(EFFECTORS), 2)
    targets = Targets.allocate(BODY, EFFECTORS, 2)
    targets.contacts[:] = [0.2, 0.9]
    solved = posed(3)
    residuals = np.array([0.1, 0.3])
    assert pose.accept(solved.root, solved.rotations_xyzw, residuals, targets) == 0.3
    assert pose.touching.tolist() == [0, 1]
    np.testing.assert_array_equal(pose.root, solved.root)
    np.testing.assert_array_equal(pose.root_f32, solved.root.astype(np.float32))
    np.testing.assert_array_equal(
        pose.rotations_f32.reshape(-1, 4), solved.rotations_xyzw.astype(np.float32)
    )


@pytest.mark.parametrize("part", ["root", "rotation", "residual", "length"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_pose_that_is_not_finite_changes_nothing(part: str, value: float) -> None:
    pose = CharacterPose(BODY, len(EFFECTORS), 2)
    targets = Targets.allocate(BODY, EFFECTORS, 2)
    good, bad = posed(3), posed(4)
    residuals = np.zeros(2)
    assert pose.accept(good.root, good.rotations_xyzw, residuals, targets) == 0.0
    if part == "root":
        bad.root[1] = value
    elif part == "rotation":
        bad.rotations_xyzw[5, 2] = value
    elif part == "length":
        bad.rotations_xyzw[5] *= 2.0
    else:
        residuals[1] = value
    assert pose.accept(bad.root, bad.rotations_xyzw, residuals, targets) < 0.0
    np.testing.assert_array_equal(pose.root, good.root)
    np.testing.assert_array_equal(pose.rotations_xyzw, good.rotations_xyzw)


@given(st.floats(-3.1, 3.1))
def test_the_angle_of_a_hinge_counts_from_its_rest_pose(angle: float) -> None:
    axis = np.array([0.6, 0.0, 0.8])
    rest = rotations.exp(np.array([0.4, -0.2, 0.9]))
    door = Skeleton.build(
        [Joint("frame", None), Joint("door", "frame", rest_xyzw=rest, kind="hinge", axis=axis)]
    )
    solved = door.rest_pose()
    solved.rotations_xyzw[1] = rotations.multiply(rest, rotations.exp(angle * axis))
    for sign in (1.0, -1.0):
        pose = CharacterPose(door, 0, 0)
        pose.accept(
            solved.root, sign * solved.rotations_xyzw, np.zeros(0), Targets.allocate(door, ())
        )
        np.testing.assert_allclose(pose.angles_f32, [angle], atol=1e-6)
