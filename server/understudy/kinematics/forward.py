"""Forward kinematics and Jacobians of one body, in buffers that are allocated once."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import forward, orientation_jacobian, point_jacobian
from understudy.kinematics.skeleton import Skeleton
from understudy.kinematics.types import FloatArray


class ForwardKinematics:
    """Where every joint of a body is.

    Each `update` overwrites `positions` (n, 3) m and `rotations` (n, 3, 3) world_from_joint.
    `parents` (n,) and `offsets` (n, 3) m are the body's, for compiled code.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        n = len(skeleton)
        self.skeleton = skeleton
        self.positions: FloatArray = np.zeros((n, 3))
        self.rotations: FloatArray = np.zeros((n, 3, 3))
        # The kernels' signatures want writable arrays; these copies are never written.
        self.parents = skeleton.parents.copy()
        self.offsets = skeleton.offsets.copy()
        self._kinds = skeleton.kinds.copy()
        self._axes = skeleton.axes.copy()

    def update(self, root: FloatArray, rotations_xyzw: FloatArray) -> None:
        """Compute all joints from a root position (3,) m and full local rotations (n, 4).

        Both must be writable, C-contiguous float64 arrays (the kernel is compiled for just that).
        """
        forward(self.parents, self.offsets, root, rotations_xyzw, self.positions, self.rotations)

    def point(self, joint: int, offset: FloatArray) -> FloatArray:
        """World position (3,) m of the point `offset` (3,) m in the frame of `joint`."""
        return np.asarray(self.positions[joint] + self.rotations[joint] @ offset, np.float64)

    def point_jacobian(self, joint: int, offset: FloatArray) -> FloatArray:
        """d(world point)/d(increments), shape (3, 3 + 3n): root translation, then body increments.

        Columns of a hinge carry only what lies along its axis, columns of a fixed joint are zero.
        """
        J = np.empty((3, 3 + 3 * len(self.skeleton)))
        point = self.point(joint, offset)
        point_jacobian(
            self.parents, self._kinds, self._axes, self.positions, self.rotations, joint, point, J
        )
        return J

    def orientation_jacobian(self, joint: int) -> FloatArray:
        """d(world rotation vector of `joint`)/d(increments), shape (3, 3 + 3n)."""
        J = np.empty((3, 3 + 3 * len(self.skeleton)))
        orientation_jacobian(self.parents, self._kinds, self._axes, self.rotations, joint, J)
        return J
