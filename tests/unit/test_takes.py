"""Received poses as clips: even time, filled gaps, held poses left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from understudy.characters import ClipError, load_clip
from understudy.ingest import message_from_skeleton
from understudy.takes import clip_from_poses
from understudy_protocol import PoseMessage

WALK = load_clip("walk", 60.0)
MESSAGE = message_from_skeleton(WALK.skeleton)
PERIOD_NS = 1e9 / 60.0


def received(frames: int) -> list[PoseMessage]:
    """The first frames of a walk as a server would publish them, frame by frame."""
    return [
        PoseMessage(
            seq=i,
            skeleton_id=MESSAGE.id,
            source_seq=i,
            root=WALK.roots[i],
            rotations_xyzw=WALK.rotations_xyzw[i],
            angles_rad=None,
            contacts=b"",
            residual_m=0.0,
            status=0,
            capture_ns=1_000_000_000 + round(i * PERIOD_NS),
            arrival_ns=0,
            publish_ns=7_000_000_000 + round(i * PERIOD_NS),
        )
        for i in range(frames)
    ]


def test_a_whole_stream_becomes_the_clip_it_was() -> None:
    clip = clip_from_poses("take", MESSAGE, received(50))
    assert (clip.frame_count, clip.rate_hz) == (50, 60.0)
    np.testing.assert_allclose(clip.roots, WALK.roots[:50], atol=1e-6)
    np.testing.assert_allclose(clip.rotations_xyzw, WALK.rotations_xyzw[:50], atol=1e-6)


def test_lost_poses_are_filled_in_where_they_were() -> None:
    poses = received(50)
    clip = clip_from_poses("take", MESSAGE, poses[:20] + poses[22:])
    assert clip.frame_count == 50
    np.testing.assert_allclose(clip.roots[[19, 22]], WALK.roots[[19, 22]], atol=1e-6)
    np.testing.assert_allclose(clip.roots[20:22], WALK.roots[20:22], atol=2e-3)


def test_poses_that_are_held_take_no_time() -> None:
    poses = received(50)
    held = [replace(poses[30], seq=31 + i) for i in range(10)]
    clip = clip_from_poses("take", MESSAGE, poses[:31] + held + poses[31:])
    assert clip.frame_count == 50


@pytest.mark.parametrize("step_ns", [-900_000_000_000, 86_400_000_000_000])
def test_a_performer_that_begins_anew_on_another_clock_goes_on(step_ns: int) -> None:
    poses = received(50)
    anew = [replace(pose, capture_ns=pose.capture_ns + step_ns) for pose in poses[20:]]
    clip = clip_from_poses("take", MESSAGE, poses[:20] + anew)
    assert (clip.frame_count, clip.rate_hz) == (50, 60.0)
    np.testing.assert_allclose(clip.roots, WALK.roots[:50], atol=1e-6)


def test_under_an_output_clock_time_is_that_of_publication() -> None:
    # The newest frame's capture time stands still between frames; the output goes on.
    poses = [
        replace(pose, delay_ns=20_000_000, capture_ns=1_000_000_000 + 40_000_000 * (i // 3))
        for i, pose in enumerate(received(50))
    ]
    clip = clip_from_poses("take", MESSAGE, poses)
    assert (clip.frame_count, clip.rate_hz) == (50, 60.0)


def test_another_rate_can_be_asked_for() -> None:
    clip = clip_from_poses("take", MESSAGE, received(61), rate_hz=30.0)
    assert (clip.frame_count, clip.rate_hz) == (31, 30.0)
    np.testing.assert_allclose(clip.roots, WALK.roots[:61:2], atol=1e-6)


@pytest.mark.parametrize("frames", [0, 1])
def test_a_clip_takes_two_poses(frames: int) -> None:
    with pytest.raises(ClipError, match=f"{frames} pose.*at least 2 are needed"):
        clip_from_poses("take", MESSAGE, received(frames))
