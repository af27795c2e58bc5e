"""Recorded motion of one body: a pose for every frame at a fixed rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.rotations import slerp

_UNIT_TOLERANCE = 1e-6


class ClipError(UnderstudyError):
    """A clip that cannot be read or built: one line that says where and what was expected."""


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """T poses of one skeleton of n joints at `rate_hz`; the arrays are read-only copies.

    `roots` (T, 3) m is where the root is in the world, `rotations_xyzw` (T, n, 4) are full
    parent_from_joint rotations, rest rotation included; a joint's quaternions keep their sign from
    frame to frame wherever this module or the readers made them. T may be 0: a body without motion.
    """

    name: str
    skeleton: Skeleton
    rate_hz: float
    roots: FloatArray
    rotations_xyzw: FloatArray

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate_hz) and self.rate_hz > 0.0):
            raise ClipError(f"clip {self.name!r}: rate {self.rate_hz} Hz must be above zero")
        roots = np.array(self.roots, np.float64, order="C")
        rotations = np.array(self.rotations_xyzw, np.float64, order="C")
        if roots.ndim != 2 or roots.shape[1] != 3:
            raise ClipError(f"clip {self.name!r}: roots have shape {roots.shape}, expected (T, 3)")
        expected = (len(roots), len(self.skeleton), 4)
        if rotations.shape != expected:
            raise ClipError(
                f"clip {self.name!r}: rotations have shape {rotations.shape}, expected {expected}"
            )
        if not (np.all(np.isfinite(roots)) and np.all(np.isfinite(rotations))):
            raise ClipError(f"clip {self.name!r}: a number in it is not finite")
        lengths = np.linalg.norm(rotations, axis=-1)
        if np.any(np.abs(lengths - 1.0) > _UNIT_TOLERANCE):
            frame, joint = np.argwhere(np.abs(lengths - 1.0) > _UNIT_TOLERANCE)[0]
            raise ClipError(
                f"clip {self.name!r}: frame {frame}, joint {self.skeleton.names[joint]!r}: "
                f"quaternion of length {lengths[frame, joint]:g}, expected 1"
            )
        for field, array in (("roots", roots), ("rotations_xyzw", rotations)):
            array.setflags(write=False)
            object.__setattr__(self, field, array)

    @property
    def frame_count(self) -> int:
        """How many poses the clip has."""
        return len(self.roots)

    @property
    def duration_s(self) -> float:
        """Seconds from the first pose to the last."""
        return max(0, self.frame_count - 1) / self.rate_hz

    def pose(self, frame: int) -> Pose:
        """The pose of a frame, with arrays of its own: compiled code takes no read-only ones."""
        return Pose(self.roots[frame].copy(), self.rotations_xyzw[frame].copy())

    def resampled(self, rate_hz: float) -> Clip:
        """The same motion at another rate: rotations by slerp, root positions linearly.

        Frame k is the motion at exactly k / rate_hz seconds. Both end poses are kept: where the
        clip's length is no multiple of the new step, the last frame holds the final pose.
        """
        if not (math.isfinite(rate_hz) and rate_hz > 0.0):
            raise ClipError(f"clip {self.name!r}: rate {rate_hz} Hz must be above zero")
        if self.frame_count < 2 or rate_hz == self.rate_hz:
            return Clip(self.name, self.skeleton, rate_hz, self.roots, self.rotations_xyzw)
        last = self.frame_count - 1
        # The small number keeps rounding from adding a frame to a clip that fits the new step.
        count = math.ceil(self.duration_s * rate_hz - 1e-6) + 1
        at = np.minimum(np.arange(count) * (self.rate_hz / rate_hz), last)
        at[-1] = last
        before = np.minimum(at.astype(np.int64), last - 1)
        fraction = at - before
        roots = self.roots[before] + fraction[:, None] * (
            self.roots[before + 1] - self.roots[before]
        )
        rotations = slerp(
            self.rotations_xyzw[before], self.rotations_xyzw[before + 1], fraction[:, None]
        )
        return Clip(self.name, self.skeleton, rate_hz, roots, continuous(rotations))


def continuous(rotations_xyzw: FloatArray) -> FloatArray:
    """The same rotations (T, ..., 4) with signs chosen so that neighbours in time are nearest."""
    if len(rotations_xyzw) < 2:
        return rotations_xyzw
    dots = np.sum(rotations_xyzw[1:] * rotations_xyzw[:-1], axis=-1, keepdims=True)
    signs = np.cumprod(np.where(dots < 0.0, -1.0, 1.0), axis=0)
    return np.concatenate([rotations_xyzw[:1], rotations_xyzw[1:] * signs])
