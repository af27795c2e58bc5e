"""Points on bones: found again wherever they were put."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.align.markers import (
    POINT_ERROR_M,
    AttachedPoint,
    MarkerError,
    attach,
    place,
    quarter_turned,
)
from understudy.align.motion import MotionSample
from understudy.characters import builtin_clip
from understudy.kinematics import FloatArray

CLIP = builtin_clip("bat-swing", 60.0)
BODY = CLIP.skeleton
MOTION = MotionSample.from_frames(BODY, CLIP.roots, CLIP.rotations_xyzw, CLIP.rate_hz)
BONES = ("leftLowerArm", "rightLowerArm", "leftLowerLeg", "rightUpperLeg", "hips")
NAMES = tuple(f"on {bone}" for bone in BONES)
JOINTS = {name: BODY.index(bone) for name, bone in zip(NAMES, BONES, strict=True)}
OFFSETS = np.random.default_rng(2).uniform(-0.1, 0.1, (len(BONES), 3))


def carried() -> FloatArray:
    """Where the bones carry the points, (T, k, 3) m."""
    joints = [BODY.index(bone) for bone in BONES]
    away = np.einsum("tkab,kb->tka", MOTION.rotations[:, joints], OFFSETS)
    return np.asarray(MOTION.positions[:, joints] + away, np.float64)


def check(points: tuple[AttachedPoint, ...]) -> None:
    for point, bone, offset in zip(points, BONES, OFFSETS, strict=True):
        assert BODY.names[point.joint] == bone
        np.testing.assert_allclose(point.offset, offset, atol=1e-9)
        assert point.error_m == POINT_ERROR_M


def test_a_point_is_found_on_its_bone_with_its_offset() -> None:
    check(attach(BODY, MOTION, carried(), NAMES))


def test_gaps_and_swapped_labels_do_not_move_an_offset() -> None:
    points = carried()
    points[::5, 0] = np.nan
    points[10:25, [0, 1]] = points[10:25, [1, 0]]
    found = attach(BODY, MOTION, points, NAMES, JOINTS)
    for point, offset in zip(found, OFFSETS, strict=True):
        np.testing.assert_allclose(point.offset, offset, atol=1e-9)


def test_a_point_that_is_hardly_ever_seen_is_left_out() -> None:
    points = carried()
    points[5:, 2] = np.nan
    found = place(BODY, CLIP.roots, CLIP.rotations_xyzw, points, NAMES)
    assert found.left_out == (NAMES[2],)
    assert [point.name for point in found.points] == [n for n in NAMES if n != NAMES[2]]


def test_a_point_that_wanders_farther_than_angles_explain_is_trusted_less() -> None:
    points = carried()
    points[:, 4] += np.random.default_rng(4).normal(0.0, 0.2, (len(points), 3))
    on_hips = attach(BODY, MOTION, points, NAMES, JOINTS)[4]
    assert on_hips.error_m == pytest.approx(0.2, rel=0.1)


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_heading_and_lag_of_the_points_are_found(turns: int, lag: int) -> None:
    points = quarter_turned(carried()[lag:], -turns)
    found = place(BODY, CLIP.roots, CLIP.rotations_xyzw, points, NAMES)
    assert (found.quarter_turns, found.lag) == (turns, lag)
    np.testing.assert_allclose(found.turned(points), carried()[lag:], atol=1e-12)
    check(found.points)


@pytest.mark.parametrize("longer", [-1, 9])
def test_points_of_another_length_are_refused(longer: int) -> None:
    points = np.zeros((CLIP.frame_count - longer, 1, 3))
    with pytest.raises(MarkerError, match=r"the points have \d+ frames, the motion \d+; allowed"):
        place(BODY, CLIP.roots, CLIP.rotations_xyzw, points, ("A",))


def test_points_that_were_never_seen_are_refused() -> None:
    points = np.full((CLIP.frame_count, 2, 3), np.nan)
    with pytest.raises(MarkerError, match="none of the points was seen"):
        place(BODY, CLIP.roots, CLIP.rotations_xyzw, points, ("A", "B"))
