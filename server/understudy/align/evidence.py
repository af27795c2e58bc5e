"""What a body's motion tells about it: how its hinges bend, how its feet stand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.align.motion import MotionSample
from understudy.kinematics import FloatArray, IntArray

_BENT_RAD = np.radians(20.0)
_FEWEST_FRAMES = 3
# A foot stands while its ankle is this near to its lowest (parts of a leg) and this slow.
_LOW = 0.06
_SLOW_M_S = 0.12
# A sole that is tilted by more than this (cosine) is not stood on: a dancer kneels or is on tiptoe.
_SOLE_DOWN = 0.7


@dataclass(frozen=True, slots=True, eq=False)
class Flexion:
    """The axis a hinge bends about, `upper` and `lower` (3,) as its two bones' frames see it.

    The length of each is 1 if the axis never changed, and less the more it wandered.
    """

    upper: FloatArray
    lower: FloatArray


def flexion(motion: MotionSample, upper: int, lower: int, end: int) -> Flexion | None:
    """The mean flexion axis of the joint `lower` over the frames that bend it clearly."""
    near = motion.positions[:, lower] - motion.positions[:, upper]
    far = motion.positions[:, end] - motion.positions[:, lower]
    axis = np.cross(near, far)
    sine = np.linalg.norm(axis, axis=1)
    bend = np.arctan2(sine, np.sum(near * far, axis=1))
    # A limb folded flat has no axis either.
    bent = (bend > _BENT_RAD) & (bend < np.pi - _BENT_RAD)
    if np.count_nonzero(bent) < min(_FEWEST_FRAMES, len(motion)):
        return None
    axis = axis[bent] / sine[bent, None]
    return Flexion(
        np.einsum("tji,tj->i", motion.rotations[bent, upper], axis) / len(axis),
        np.einsum("tji,tj->i", motion.rotations[bent, lower], axis) / len(axis),
    )


def standing_frames(
    motion: MotionSample, foot: int, leg_length: float, sole: FloatArray
) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """The frames in which a foot stands: its ankle is low and slow, and its sole faces down.

    `sole` (3,) is the direction in the foot's frame that points up while it stands flat.
    """
    if len(motion) < 2:
        return np.zeros(0, np.intp)
    height = motion.positions[:, foot, 1]
    down = motion.rotations[:, foot, 1] @ sole > _SOLE_DOWN
    if not np.any(down):
        return np.zeros(0, np.intp)
    speed = np.linalg.norm(np.gradient(motion.positions[:, foot], motion.step_s, axis=0), axis=1)
    low = height < np.quantile(height[down], 0.02) + _LOW * leg_length
    return np.flatnonzero(down & low & (speed < _SLOW_M_S))


def planted_height(
    motion: MotionSample, feet: IntArray, leg_length: float, soles: FloatArray
) -> float | None:
    """The height (m) of an ankle in the world while its foot stands; None if feet hardly do.

    `soles` (2, 3): what points up in each foot's frame while it stands flat.
    """
    heights = [
        motion.positions[frame, foot, 1]
        for foot, sole in zip(feet, soles, strict=True)
        for frame in standing_frames(motion, int(foot), leg_length, sole)
    ]
    return float(np.median(heights)) if len(heights) >= _FEWEST_FRAMES else None


def sole_normal(
    motion: MotionSample, foot: int, leg_length: float, guess: FloatArray
) -> FloatArray | None:
    """The world's up (3,) as a standing foot's frame sees it; None if it hardly ever stands.

    `guess` (3,) is what the foot's rest pose says, good enough to tell a sole from an instep.
    """
    frames = standing_frames(motion, foot, leg_length, guess)
    if len(frames) < _FEWEST_FRAMES:
        return None
    # The median leaves out a heel that is lifted while the ankle is still low.
    up = np.median(motion.rotations[frames, foot, 1, :], axis=0)
    length = float(np.linalg.norm(up))
    return None if length < 0.5 else np.asarray(up / length)


def mean_rotation(rotations: FloatArray) -> FloatArray:
    """The rotation (3, 3) nearest to all of `rotations` (t, 3, 3) in the least-squares sense."""
    u, _, vt = np.linalg.svd(rotations.mean(axis=0))
    return np.asarray(u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt)
