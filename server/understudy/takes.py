"""A take: received poses made into a clip of even rate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from understudy.characters import Clip
from understudy.characters.clip import ClipError, continuous
from understudy.ingest import skeleton_from_message
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import normalise, slerp
from understudy_protocol import FrameMessage, PoseMessage, SkeletonMessage

_USUAL_RATES_HZ: Final = (24.0, 25.0, 30.0, 50.0, 60.0, 72.0, 90.0, 100.0, 120.0, 144.0, 240.0)

# A clock that steps further than this, back or ahead, is another one: its owner began anew.
_STEP_BACK_S: Final = 1.0
_STEP_AHEAD_S: Final = 60.0


def moment_ns(pose: PoseMessage | FrameMessage) -> int:
    """When a pose was: its frame's capture; under an output clock, its publication."""
    if isinstance(pose, PoseMessage) and pose.delay_ns:
        return pose.publish_ns
    return pose.capture_ns


def clip_from_poses(
    name: str,
    message: SkeletonMessage,
    poses: Sequence[PoseMessage | FrameMessage],
    rate_hz: float | None = None,
) -> Clip:
    """A clip of the poses of one skeleton, in order, at `rate_hz` or at the rate they came with.

    The time of a pose is its `moment_ns`. Poses that were lost are filled in between their
    neighbours; held ones take no time. A new run of the performer, on whatever clock, goes on where
    the last one ended.
    """
    times = _seconds([moment_ns(pose) for pose in poses])
    forward = np.ones(len(times), np.bool_)
    forward[1:] = times[1:] > np.maximum.accumulate(times)[:-1]
    seconds = times[forward]
    if len(seconds) < 2:
        raise ClipError(f"take of {name!r}: {len(seconds)} pose(s) received, at least 2 are needed")
    if rate_hz is None:
        rate_hz = _usual(1.0 / float(np.median(np.diff(seconds))))
    kept = [pose for pose, used in zip(poses, forward, strict=True) if used]
    roots = np.array([pose.root for pose in kept], np.float64)
    rotations = normalise(np.array([pose.rotations_xyzw for pose in kept], np.float64))
    # The small number keeps rounding from dropping the last pose.
    wanted = np.arange(int(seconds[-1] * rate_hz + 1e-3) + 1) / rate_hz
    before = np.clip(np.searchsorted(seconds, wanted, side="right") - 1, 0, len(seconds) - 2)
    step = np.diff(seconds)[before]
    fraction = np.clip((wanted - seconds[before]) / step, 0.0, 1.0)
    return Clip(
        name=name,
        skeleton=skeleton_from_message(message),
        rate_hz=rate_hz,
        roots=roots[before] + fraction[:, None] * (roots[before + 1] - roots[before]),
        rotations_xyzw=continuous(
            slerp(rotations[before], rotations[before + 1], fraction[:, None])
        ),
    )


def _seconds(moments_ns: Sequence[int]) -> FloatArray:
    """When each pose was after the first one, with other clocks brought together."""
    moments = np.array(moments_ns, np.int64)
    steps = (moments[1:] - moments[:-1]) * 1e-9
    other_clock = (steps < -_STEP_BACK_S) | (steps > _STEP_AHEAD_S)
    onward = steps[~other_clock & (steps > 0.0)]
    steps[other_clock] = np.median(onward) if len(onward) else 0.0
    return np.append(0.0, np.cumsum(steps))[: len(moments_ns)]


def _usual(rate_hz: float) -> float:
    """The usual rate that a measured one means, if it is near one."""
    nearest = min(_USUAL_RATES_HZ, key=lambda usual: abs(usual - rate_hz))
    return nearest if abs(rate_hz - nearest) < 0.03 * nearest else rate_hz
