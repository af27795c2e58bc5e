"""Clips: what they refuse, what they keep, and motion at another rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy.characters.clip import Clip, ClipError, continuous
from understudy.kinematics import FloatArray, Joint, Skeleton
from understudy.kinematics.rotations import conjugate, exp, log, multiply

BODY = Skeleton.build([Joint("root", None), Joint("arm", "root", offset=(0.0, 1.0, 0.0))])


def spinning(frames: int, rate_hz: float, turns_per_s: float = 0.7) -> Clip:
    """A body that moves along X at 2 m/s while both joints turn steadily about fixed axes."""
    time = np.arange(frames) / rate_hz
    axes = np.array([[0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
    angle = 2.0 * np.pi * turns_per_s * time
    roots = np.stack([2.0 * time, 0.0 * time, 0.0 * time], axis=-1)
    return Clip("spin", BODY, rate_hz, roots, continuous(exp(angle[:, None, None] * axes)))


def largest_angle(a: FloatArray, b: FloatArray) -> float:
    return float(np.max(np.linalg.norm(log(multiply(conjugate(a), b)), axis=-1)))


def test_arrays_are_copies_that_nobody_can_write() -> None:
    roots = np.zeros((2, 3))
    clip = Clip("still", BODY, 30.0, roots, np.tile([0.0, 0.0, 0.0, 1.0], (2, 2, 1)))
    roots[0] = 5.0
    assert not clip.roots.any()
    with pytest.raises(ValueError, match="read-only"):
        clip.roots[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        clip.rotations_xyzw[0] = 1.0


def test_a_pose_is_the_callers_own() -> None:
    clip = spinning(3, 30.0)
    pose = clip.pose(1)
    pose.root[0] = 99.0
    pose.rotations_xyzw[0] = 0.0
    assert clip.pose(1).root[0] == pytest.approx(2.0 / 30.0)
    assert np.linalg.norm(clip.pose(1).rotations_xyzw[0]) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("rate_hz", "roots", "rotations", "said"),
    [
        (0.0, (2, 3), (2, 2, 4), "rate 0.0 Hz must be above zero"),
        (float("nan"), (2, 3), (2, 2, 4), "must be above zero"),
        (30.0, (2, 4), (2, 2, 4), r"roots have shape \(2, 4\), expected \(T, 3\)"),
        (30.0, (3, 3), (2, 2, 4), r"shape \(2, 2, 4\), expected \(3, 2, 4\)"),
        (30.0, (2, 3), (2, 3, 4), r"shape \(2, 3, 4\), expected \(2, 2, 4\)"),
    ],
)
def test_wrong_shapes_and_rates_are_refused(
    rate_hz: float, roots: tuple[int, ...], rotations: tuple[int, ...], said: str
) -> None:
    quaternions = np.zeros(rotations)
    quaternions[..., 3] = 1.0
    with pytest.raises(ClipError, match=said):
        Clip("bad", BODY, rate_hz, np.zeros(roots), quaternions)


def test_numbers_that_are_no_rotation_are_refused_with_frame_and_joint() -> None:
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (4, 2, 1))
    rotations[2, 1] *= 1.5
    with pytest.raises(ClipError, match=r"frame 2, joint 'arm': quaternion of length 1.5"):
        Clip("bad", BODY, 30.0, np.zeros((4, 3)), rotations)
    rotations[2, 1] = np.nan
    with pytest.raises(ClipError, match="not finite"):
        Clip("bad", BODY, 30.0, np.zeros((4, 3)), rotations)


@settings(deadline=None)
@given(frames=st.integers(2, 40), rate=st.sampled_from([24.0, 30.0, 59.94, 60.0, 100.0, 120.0]))
def test_a_steady_motion_is_the_same_at_any_rate(frames: int, rate: float) -> None:
    clip = spinning(frames, 30.0)
    resampled = clip.resampled(rate)
    # Steady motion is where linear interpolation and slerp are exact.
    time = np.minimum(np.arange(resampled.frame_count) / rate, clip.duration_s)
    assert np.allclose(resampled.roots[:, 0], 2.0 * time, atol=1e-12)
    expected = exp((2.0 * np.pi * 0.7 * time)[:, None] * np.array([0.0, 1.0, 0.0]))
    assert largest_angle(resampled.rotations_xyzw[:, 0], expected) < 1e-7


@settings(deadline=None)
@given(frames=st.integers(2, 40), rate=st.floats(5.0, 250.0))
def test_resampling_keeps_both_ends_and_the_length(frames: int, rate: float) -> None:
    clip = spinning(frames, 50.0)
    resampled = clip.resampled(rate)
    assert np.array_equal(resampled.roots[0], clip.roots[0])
    assert np.allclose(resampled.roots[-1], clip.roots[-1], atol=1e-12)
    assert largest_angle(resampled.rotations_xyzw[-1], clip.rotations_xyzw[-1]) < 1e-7
    assert 0.0 <= resampled.duration_s - clip.duration_s + 1e-6 < 1.0 / rate + 1e-6


@settings(deadline=None)
@given(frames=st.integers(2, 30), factor=st.integers(1, 5))
def test_resampling_there_and_back_gives_the_first_clip(frames: int, factor: int) -> None:
    clip = spinning(frames, 30.0)
    again = clip.resampled(30.0 * factor).resampled(30.0)
    assert again.frame_count == clip.frame_count
    assert np.allclose(again.roots, clip.roots, atol=1e-12)
    assert largest_angle(again.rotations_xyzw, clip.rotations_xyzw) < 1e-7


def test_clips_of_one_frame_or_none_can_be_resampled() -> None:
    for frames in (0, 1):
        clip = spinning(frames, 30.0).resampled(60.0)
        assert (clip.frame_count, clip.rate_hz, clip.duration_s) == (frames, 60.0, 0.0)


def test_a_rate_of_zero_cannot_be_asked_for() -> None:
    with pytest.raises(ClipError, match=r"rate 0\.0 Hz must be above zero"):
        spinning(5, 30.0).resampled(0.0)


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=2, max_size=30))
def test_signs_are_made_continuous_without_touching_the_rotation(flips: list[bool]) -> None:
    smooth = spinning(len(flips), 30.0).rotations_xyzw
    flipped = smooth * np.where(flips, -1.0, 1.0)[:, None, None]
    mended = continuous(flipped)
    assert np.all(np.sum(mended[1:] * mended[:-1], axis=-1) > 0.0)
    assert largest_angle(mended, smooth) < 1e-7
