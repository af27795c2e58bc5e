"""Measured points on a body: which bone carries each, where on it, and how well that holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.align.motion import MotionSample
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Skeleton

# How far off a joint's angles are thought to be, about each axis.
ANGLE_ERROR_RAD: Final = math.radians(3.0)
# How far off a point is thought to be at least, along each axis: skin moves over bone.
POINT_ERROR_M: Final = 0.02

# A point must have been seen in this share of the frames to be tied to a bone.
_LEAST_SEEN: Final = 0.1
# Frames that tell headings and lags apart, and the longest lag there may be.
_FRAMES: Final = 400
_LONGEST_LAG: Final = 8


class MarkerError(UnderstudyError):
    """Points that fit no bone of the body: one line."""


@dataclass(frozen=True, slots=True, eq=False)
class AttachedPoint:
    """A measured point that a bone carries: `offset` (3,) m in the frame of `joint`.

    `error_m` is how far the point is thought to be from there, along each axis (a standard
    deviation): the error of its measurement, of the skin's motion and of the body's own lengths.
    """

    name: str
    joint: int
    offset: FloatArray
    error_m: float = POINT_ERROR_M


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """How points belong to a clip.

    `quarter_turns` about Y bring the points to the clip's heading; the points' frame k is the
    clip's frame k + `lag`. `left_out` names points that were hardly ever seen.
    """

    quarter_turns: int
    lag: int
    points: tuple[AttachedPoint, ...]
    left_out: tuple[str, ...]

    def turned(self, points: FloatArray) -> FloatArray:
        """Points (..., 3) as the clip's world has them."""
        return quarter_turned(points, self.quarter_turns)


def attach(
    skeleton: Skeleton,
    motion: MotionSample,
    points: FloatArray,
    names: Sequence[str],
    joints: Mapping[str, int] | None = None,
    *,
    angle_error_rad: float = ANGLE_ERROR_RAD,
) -> tuple[AttachedPoint, ...]:
    """Tie points (t, k, 3) m, seen in the frames of `motion`, to the bones that carry them.

    The offset is the median over the frames, so that a swapped label or a slipped frame does not
    count; the bone is that of `joints`, or the one whose offset is the most constant. What errors
    of the angles do not explain of the point's wandering is taken for the point's own error. Points
    that were hardly ever seen are left out.
    """
    attached = []
    for column, name in enumerate(names):
        seen = ~np.isnan(points[:, column, 0])
        if seen.mean() < _LEAST_SEEN:
            continue
        offsets, spreads = _offsets(motion, points[:, column], seen)
        joint = int(spreads.argmin()) if joints is None else joints[name]
        # An error about two axes of every joint above moves the point by that times its distance.
        above = skeleton.ancestors(joint)
        away = points[seen, column, None] - motion.positions[seen][:, above]
        by_angles = 2.0 * angle_error_rad**2 * float(np.mean(np.sum(away**2, axis=(1, 2))))
        own = max(float(spreads[joint]) ** 2 - by_angles, 0.0) / 3.0
        error = max(math.sqrt(own), POINT_ERROR_M)
        attached.append(AttachedPoint(name, joint, offsets[joint], error))
    return tuple(attached)


def place(
    skeleton: Skeleton,
    roots: FloatArray,
    rotations_xyzw: FloatArray,
    points: FloatArray,
    names: Sequence[str],
) -> Placement:
    """Find heading, lag and bones of points (t, k, 3) m measured beside a motion of T frames.

    A clip may open with frames that were not measured (an inserted T-pose); the heading may differ
    by quarter turns. Of all these the placement is taken in which the points stay best in place on
    their bones. MarkerError if the two are not of one length, or hardly a point was seen.
    """
    longer = len(roots) - len(points)
    if not 0 <= longer <= _LONGEST_LAG:
        raise MarkerError(
            f"the points have {len(points)} frames, the motion {len(roots)}; allowed: as many, or"
            f" up to {_LONGEST_LAG} more at the start of the motion"
        )
    chosen = np.unique(np.linspace(0, len(points) - 1, _FRAMES).round().astype(np.int64))
    best: tuple[float, int, int] | None = None
    for lag in range(longer + 1):
        motion = MotionSample.from_frames(
            skeleton, roots[chosen + lag], rotations_xyzw[chosen + lag], 1.0
        )
        for turns in range(4):
            spreads = _least_spreads(motion, quarter_turned(points[chosen], turns))
            if spreads:
                score = float(np.median(spreads))
                best = min(best or (score, lag, turns), (score, lag, turns))
    if best is None:
        raise MarkerError("none of the points was seen in a tenth of the frames")
    _, lag, turns = best
    frames = slice(lag, lag + len(points))
    whole = MotionSample.from_frames(skeleton, roots[frames], rotations_xyzw[frames], 1.0)
    attached = attach(skeleton, whole, quarter_turned(points, turns), names)
    kept = {point.name for point in attached}
    return Placement(turns, lag, attached, tuple(name for name in names if name not in kept))


def quarter_turned(points: FloatArray, turns: int) -> FloatArray:
    """Points (..., 3) turned by `turns` right angles about Y."""
    x, y, z = np.moveaxis(points, -1, 0)
    ways = ((x, y, z), (z, y, -x), (-x, y, -z), (-z, y, x))
    return np.stack(ways[turns % 4], axis=-1)


def _offsets(
    motion: MotionSample, points: FloatArray, seen: NDArray[np.bool_]
) -> tuple[FloatArray, FloatArray]:
    """One point's constant offset (n, 3) to every joint, and how far it strays from it (n,), m."""
    away = points[seen, None] - motion.positions[seen]
    local = np.einsum("tjba,tjb->tja", motion.rotations[seen], away)
    offsets = np.median(local, axis=0)
    return offsets, np.sqrt(np.mean(np.sum((local - offsets) ** 2, axis=-1), axis=0))


def _least_spreads(motion: MotionSample, points: FloatArray) -> list[float]:
    """How far each point strays from its best bone, m."""
    spreads = []
    for column in range(points.shape[1]):
        seen = ~np.isnan(points[:, column, 0])
        if seen.mean() >= _LEAST_SEEN:
            spreads.append(float(_offsets(motion, points[:, column], seen)[1].min()))
    return spreads
