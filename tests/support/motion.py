"""A clip's body in the world, by forward kinematics."""

from __future__ import annotations

import numpy as np

from understudy.characters.clip import Clip
from understudy.kinematics import ForwardKinematics, rotations
from understudy.kinematics.types import FloatArray


class World:
    """Positions and rotations of every joint of a clip, all frames."""

    def __init__(self, clip: Clip) -> None:
        self.clip = clip
        self.skeleton = clip.skeleton
        body = ForwardKinematics(clip.skeleton)
        places, turns = [], []
        for root, rotations_xyzw in zip(clip.roots, clip.rotations_xyzw, strict=True):
            body.update(root.copy(), rotations_xyzw.copy())
            places.append(body.positions.copy())
            turns.append(body.rotations.copy())
        self.positions = np.array(places)  # (T, n, 3) m
        self.rotations = np.array(turns)  # (T, n, 3, 3) world_from_joint

    def joint(self, name: str) -> FloatArray:
        """Positions (T, 3) of a joint."""
        return self.positions[:, self.skeleton.index(name)]

    def point(self, name: str, offset: FloatArray) -> FloatArray:
        """Positions (T, 3) of a point fixed in a joint's frame."""
        i = self.skeleton.index(name)
        return np.asarray(self.positions[:, i] + self.rotations[:, i] @ offset, dtype=np.float64)

    def tip(self, name: str) -> FloatArray:
        """Positions (T, 3) of the end of a leaf bone."""
        return self.point(name, self.skeleton.tips[self.skeleton.index(name)])


def local_vectors(clip: Clip, joint: str) -> FloatArray:
    """A joint's rotation vectors (T, 3) rad in its parent's frame."""
    return rotations.log(clip.rotations_xyzw[:, clip.skeleton.index(joint)])


def angular_velocities(clip: Clip) -> FloatArray:
    """Angular velocities (T - 1, n, 3) rad/s of all joints, each in its own frame."""
    q = clip.rotations_xyzw
    return np.asarray(
        rotations.log(rotations.multiply(rotations.conjugate(q[:-1]), q[1:])) * clip.rate_hz,
        dtype=np.float64,
    )
