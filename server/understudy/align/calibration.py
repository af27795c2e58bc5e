"""Live calibration: what a performer who stands still in a T- or A-pose tells about the body.

Pure functions over frames that were already received; who counts down is none of their business.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from understudy.align.motion import MotionSample
from understudy.align.posture import body_axes, is_posture
from understudy.align.roles import RoleMap
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.rotations import conjugate, exp, log, multiply, normalise

FEWEST_FRAMES: Final = 10

_ROUNDS: Final = 3
# Frames this many times further off than the middle one are no part of the pose.
_OUTLIER: Final = 3.0
_STILL_RAD: Final = np.radians(1.0)
# A joint that wandered more than this was not held still.
_UNSTEADY_RAD: Final = np.radians(8.0)


class CalibrationError(UnderstudyError):
    """A calibration that cannot be used; the text says what the performer should do."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The pose a performer held.

    `pose` is its robust mean; `spread_rad` (n,) the rms angle of the frames used from it, joint by
    joint; `used` (t,) which of the frames those are.
    """

    pose: Pose
    spread_rad: FloatArray
    used: np.ndarray[tuple[int], np.dtype[np.bool_]]


def average_pose(roots: FloatArray, rotations_xyzw: FloatArray) -> Calibration:
    """The pose held over t frames: roots (t, 3) m, full rotations (t, n, 4).

    Frames that are clearly off the others (a late start, a torn frame) are left out.
    """
    if len(roots) < FEWEST_FRAMES:
        raise CalibrationError(
            f"calibration needs at least {FEWEST_FRAMES} frames, got {len(roots)}: "
            "hold the pose longer, or check that frames arrive"
        )
    used = np.ones(len(roots), np.bool_)
    for _ in range(_ROUNDS):
        mean = _mean_rotations(rotations_xyzw[used])
        off = _angles(mean, rotations_xyzw)
        # One number for a frame: how far the whole body is off, not its worst finger.
        frame_off = np.sqrt(np.mean(off**2, axis=1))
        used = frame_off <= max(_OUTLIER * float(np.median(frame_off)), _STILL_RAD)
    spread = np.sqrt(np.mean(off[used] ** 2, axis=0))
    return Calibration(Pose(np.median(roots[used], axis=0), mean), spread, used)


def check_calibration(skeleton: Skeleton, body: RoleMap, calibration: Calibration) -> None:
    """Refuse a pose that nobody stood still in, or that is no standing pose."""
    joints = {role: body.roles[role] for role in body.roles if calibration_matters(role)}
    moved = [
        role for role, joint in joints.items() if calibration.spread_rad[joint] > _UNSTEADY_RAD
    ]
    if moved:
        raise CalibrationError(
            f"{', '.join(moved)} moved during the calibration: stand still until it is over"
        )
    pose = calibration.pose
    points = MotionSample.from_frames(
        skeleton, pose.root[None], pose.rotations_xyzw[None], 1.0
    ).positions[0]
    if not is_posture(points, body):
        raise CalibrationError(
            "this is no T- or A-pose: stand upright with straight legs, feet below the hips"
        )


def calibration_matters(role: str) -> bool:
    """Whether a role must be held still: fingers and toes need not."""
    return not any(
        part in role for part in ("Thumb", "Index", "Middle", "Ring", "Little", "Toes", "Hand")
    )


def calibrated(skeleton: Skeleton, calibration: Calibration) -> Skeleton:
    """The same body, at rest in the pose that was held: the one to align from then on."""
    return at_rest_in(skeleton, calibration.pose)


def at_rest_in(skeleton: Skeleton, pose: Pose) -> Skeleton:
    """The same body, at rest in `pose`."""
    return Skeleton.build(
        replace(
            joint,
            rest_xyzw=pose.rotations_xyzw[i],
            offset=pose.root if joint.parent is None else joint.offset,
        )
        for i, joint in enumerate(skeleton.joints())
    )


def facing_turn(points: FloatArray, body: RoleMap) -> FloatArray:
    """Rotation (4,) about +Y that makes a body with joints at `points` (n, 3) m face +Z."""
    forward = body_axes(points, body)[2]
    return exp(np.array([0.0, -np.arctan2(forward[0], forward[2]), 0.0]))


def _mean_rotations(rotations_xyzw: FloatArray) -> FloatArray:
    """Mean rotations (n, 4) over t frames (t, n, 4), each the largest eigenvector of q q^T."""
    scatter = np.einsum("tni,tnj->nij", rotations_xyzw, rotations_xyzw)
    _, vectors = np.linalg.eigh(scatter)
    mean = vectors[:, :, -1]
    return np.ascontiguousarray(normalise(np.where(mean[:, 3:] < 0.0, -mean, mean)))


def _angles(mean: FloatArray, rotations_xyzw: FloatArray) -> FloatArray:
    """Angles (t, n) rad of every rotation from the mean (n, 4)."""
    difference = multiply(conjugate(mean)[None], rotations_xyzw)
    return np.asarray(np.linalg.norm(log(difference), axis=-1))
