"""The geometry of a body: how it stands, where its joints are and where its bones end."""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.align.motion import MotionSample
from understudy.align.roles import RoleMap
from understudy.kinematics import FloatArray, Skeleton

X: Final = np.array([1.0, 0.0, 0.0])
Y: Final = np.array([0.0, 1.0, 0.0])
Z: Final = np.array([0.0, 0.0, 1.0])

# A rest pose is a posture if its legs go down (within this of the trunk's line), stay together and
# straight, and its spine is stretched.
_LEGS_OFF_TRUNK_RAD = np.radians(40.0)
_LEGS_APART_RAD = np.radians(60.0)
_KNEES_BENT_RAD = np.radians(45.0)
_SPINE_EXTENSION = 0.85
_SHORTEST_BONE_M = 1e-6
# A foot's end must lie this part of its distance ahead of the ankle to say where the foot points.
_AHEAD = 0.2


def places_of(skeleton: Skeleton, turns: FloatArray) -> FloatArray:
    """Where joints are (n, 3) m, from the root, if the world rotations are `turns` (n, 3, 3)."""
    places = np.zeros((len(skeleton), 3))
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            places[joint] = places[parent] + turns[parent] @ skeleton.offsets[joint]
    return places


def is_posture(points: FloatArray, body: RoleMap) -> bool:
    """Whether joints at `points` (n, 3) look like somebody standing, arms anywhere."""
    roles = body.roles
    trunk_joints = [roles["hips"], *body.spine, *body.neck, roles["head"]]
    chain = points[trunk_joints]
    path = float(np.linalg.norm(np.diff(chain, axis=0), axis=1).sum())
    down = chain[0] - chain[-1]
    if path < _SHORTEST_BONE_M or np.linalg.norm(down) / path < _SPINE_EXTENSION:
        return False
    legs = []
    for side in ("left", "right"):
        hip, knee, ankle = (points[roles[side + p]] for p in ("UpperLeg", "LowerLeg", "Foot"))
        legs.append(ankle - hip)
        if angle_between(ankle - hip, down) > _LEGS_OFF_TRUNK_RAD:
            return False
        if angle_between(knee - hip, ankle - knee) > _KNEES_BENT_RAD:
            return False
    return bool(angle_between(legs[0], legs[1]) < _LEGS_APART_RAD)


def body_axes(points: FloatArray, body: RoleMap) -> FloatArray:
    """Rotation (3, 3) that turns a body at `points` (n, 3) upright and to face +Z.

    Up is the world axis nearest to the way from the feet to the arms.
    """
    roles = body.roles
    hips = 0.5 * (points[roles["leftUpperLeg"]] + points[roles["rightUpperLeg"]])
    arms = 0.5 * (points[roles["leftUpperArm"]] + points[roles["rightUpperArm"]])
    feet = 0.5 * (points[roles["leftFoot"]] + points[roles["rightFoot"]])
    rise = unit(arms - hips) + unit(hips - feet)
    axis = int(np.argmax(np.abs(rise)))
    up = np.zeros(3)
    up[axis] = np.sign(rise[axis])
    left = unit(points[roles["leftUpperLeg"]] - points[roles["rightUpperLeg"]]) + unit(
        points[roles["leftUpperArm"]] - points[roles["rightUpperArm"]]
    )
    return axes_from(left, up, first="y")


def axes_from(
    x: FloatArray | None,
    y: FloatArray | None,
    *,
    first: str,
    forward: FloatArray | None = None,
) -> FloatArray:
    """Rotation (3, 3) that takes two directions to two of the axes X, Y, Z (`forward`).

    The one named by `first` (`x` or `y`) is met exactly, the other one as nearly as possible.
    """
    if first == "x":
        a = unit(np.asarray(x))
        if y is None:
            b = unit(np.cross(np.asarray(forward), a))
        else:
            b = unit(y - a * (y @ a))
    else:
        b = unit(np.asarray(y))
        if x is None:
            a = unit(np.cross(b, np.asarray(forward)))
        else:
            a = unit(x - b * (x @ b))
    return np.stack([a, b, np.cross(a, b)])


def unit(v: FloatArray) -> FloatArray:
    """`v` (3,) at length 1, or zeros."""
    length = float(np.linalg.norm(v))
    return np.asarray(v / length if length > 0.0 else v, np.float64)


def angle_between(a: FloatArray, b: FloatArray) -> float:
    """The angle between two directions (3,), rad."""
    return float(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b))


def bone_end(skeleton: Skeleton, joint: int) -> FloatArray | None:
    """The far end (3,) m of a bone in its own frame: its tip, or the middle of its children."""
    if skeleton.has_tip[joint]:
        return np.asarray(skeleton.tips[joint])
    children = list(skeleton.children(joint))
    return np.asarray(skeleton.offsets[children].mean(axis=0)) if children else None


def toe_point(
    skeleton: Skeleton, rest: MotionSample, foot: int, toes: int, normal: FloatArray
) -> FloatArray | None:
    """The toe (3,) m in the foot's frame; `normal` points up there, `toes` is -1 for none.

    That is the toe joint, or the end of the foot, or the end of toes whose joint lies straight
    below the ankle; None if nothing lies ahead of the ankle.
    """
    points, frames = rest.positions[0], rest.rotations[0]
    last = toes if toes >= 0 else foot
    end = bone_end(skeleton, last)
    candidates = [points[last]]
    if end is not None:
        candidates.append(points[last] + frames[last] @ end)
    for candidate in candidates:
        toe = frames[foot].T @ (candidate - points[foot])
        ahead = toe - normal * (toe @ normal)
        if np.linalg.norm(ahead) > max(1e-3, _AHEAD * float(np.linalg.norm(toe))):
            return np.asarray(toe)
    return None
