"""Posing a body at many instants at once, from the root outwards, with exact limbs."""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.characters.clip import Clip, continuous
from understudy.kinematics import Skeleton, rotations
from understudy.kinematics.types import FloatArray

X: Final = np.array([1.0, 0.0, 0.0])
Y: Final = np.array([0.0, 1.0, 0.0])
Z: Final = np.array([0.0, 0.0, 1.0])


def turn(axis: FloatArray, angle_rad: FloatArray | float) -> FloatArray:
    """Quaternions (T, 4), or one (4,), about a unit axis."""
    return rotations.exp(np.asarray(angle_rad, np.float64)[..., None] * axis)


def chain(first: FloatArray, *others: FloatArray) -> FloatArray:
    """The product of rotations, the last one applied first."""
    for other in others:
        first = rotations.multiply(*np.broadcast_arrays(first, other))
    return first


def unit(v: FloatArray) -> FloatArray:
    """Vectors (..., 3) brought to length one."""
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True), dtype=np.float64)


class Puppet:
    """One body at T instants. Pose parents before children: `orient` and the limbs read them."""

    def __init__(self, skeleton: Skeleton, roots: FloatArray) -> None:
        self.skeleton = skeleton
        self.roots = roots
        self.rotations_xyzw = np.tile(skeleton.rest_xyzw, (len(roots), 1, 1))

    def rotate(self, joint: str, rotation_xyzw: FloatArray) -> None:
        """Set a joint's rotation in its parent's frame, (T, 4) or (4,)."""
        self.rotations_xyzw[:, self.skeleton.index(joint)] = rotation_xyzw

    def orient(self, joint: str, world_xyzw: FloatArray) -> None:
        """Set a joint's rotation in the world, (T, 4)."""
        i = self.skeleton.index(joint)
        parent = int(self.skeleton.parents[i])
        local = world_xyzw
        if parent >= 0:
            local = chain(rotations.conjugate(self._world(parent)[1]), world_xyzw)
        self.rotations_xyzw[:, i] = local

    def orientation(self, joint: str) -> FloatArray:
        """World rotations (T, 4) of a joint."""
        return self._world(self.skeleton.index(joint))[1]

    def position(self, joint: str) -> FloatArray:
        """World positions (T, 3) of a joint."""
        return self._world(self.skeleton.index(joint))[0]

    def _world(self, joint: int) -> tuple[FloatArray, FloatArray]:
        place, orientation = self.roots, self.rotations_xyzw[:, 0]
        for i in self.skeleton.ancestors(joint)[1:]:
            place = place + rotations.rotate(orientation, self.skeleton.offsets[i])
            orientation = chain(orientation, self.rotations_xyzw[:, i])
        return place, orientation

    def reach(self, upper: str, target: FloatArray, pole: FloatArray) -> None:
        """Bend a two-bone limb so that its end lies exactly at `target` (T, 3).

        `upper` is the limb's first joint, `pole` (T, 3) the direction its middle joint points to.
        A target out of reach is a mistake in the motion and raises ValueError.
        """
        skeleton = self.skeleton
        first = skeleton.index(upper)
        (middle,) = skeleton.children(first)
        (end,) = skeleton.children(middle)
        start = self._world(first)[0]
        a = float(np.linalg.norm(skeleton.offsets[middle]))
        b = float(np.linalg.norm(skeleton.offsets[end]))
        span = np.linalg.norm(target - start, axis=1)
        cosine = (a * a + span * span - b * b) / (2.0 * a * span)
        if not np.all(np.abs(cosine) <= 1.0):
            worst = int(np.argmax(np.abs(np.nan_to_num(cosine, nan=np.inf))))
            raise ValueError(f"{upper} cannot reach {span[worst]:.4f} m (instant {worst})")
        along = unit(target - start)
        side = unit(pole - np.sum(pole * along, axis=1, keepdims=True) * along)
        sine = np.sqrt(1.0 - cosine * cosine)
        bone = cosine[:, None] * along + sine[:, None] * side
        hinge = np.cross(side, along)
        flexion = np.pi - np.arccos((a * a + b * b - span * span) / (2.0 * a * b))

        rest_bone = skeleton.offsets[middle] / a
        rest_hinge = rest_hinge_of(rest_bone)
        world = np.stack([bone, hinge, np.cross(bone, hinge)], axis=-1)
        rest = np.stack([rest_bone, rest_hinge, np.cross(rest_bone, rest_hinge)], axis=-1)
        self.orient(upper, rotations.from_matrix(world @ rest.T))
        self.rotate(skeleton.names[middle], turn(rest_hinge, flexion))

    def clip(self, name: str, rate_hz: float) -> Clip:
        """The motion as a clip, quaternion signs continuous in time."""
        return Clip(name, self.skeleton, rate_hz, self.roots, continuous(self.rotations_xyzw))


def rest_hinge_of(bone: FloatArray) -> FloatArray:
    """The axis a knee (bone down) or an elbow (bone sideways) flexes about in the T-pose.

    Knees flex backwards, elbows forwards.
    """
    return X if abs(float(bone[1])) > abs(float(bone[0])) else np.cross(-Z, bone)
