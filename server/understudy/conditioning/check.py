"""The last look at a solver's answer: finite, or the last good pose is held."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.conditioning._kernels import accept
from understudy.kinematics import HINGE, FloatArray, Pose, Skeleton


@dataclass(slots=True, eq=False)
class CharacterPose:
    """What is published: `root` (3,) m, `rotations_xyzw` (n, 4), `angles_rad` (h,) of the hinges.

    `angles_rad` count from the rest pose, in the order of the joints; None without hinges.
    `residual_m` is the largest distance of an effector from its goal.
    """

    root: FloatArray
    rotations_xyzw: FloatArray
    angles_rad: FloatArray | None
    residual_m: float = 0.0


class PoseCheck:
    """Keeps the last good pose of a character, in buffers of its own; starts at rest."""

    def __init__(self, skeleton: Skeleton) -> None:
        rest = skeleton.rest_pose()
        self._hinges = np.flatnonzero(skeleton.kinds == HINGE).astype(np.int64)
        self._angles: FloatArray = np.zeros(len(self._hinges))
        # The kernel's signature wants writable arrays; these copies are never written.
        self._axes = skeleton.axes.copy()
        self._rest = skeleton.rest_xyzw.copy()
        self.pose = CharacterPose(
            rest.root, rest.rotations_xyzw, self._angles if len(self._hinges) else None
        )

    def accept(self, root: FloatArray, rotations_xyzw: FloatArray, residuals: FloatArray) -> bool:
        """Take a solved pose as the good one; False, and nothing changes, if it is not finite."""
        worst = accept(
            root,
            rotations_xyzw,
            residuals,
            self._hinges,
            self._axes,
            self._rest,
            self.pose.root,
            self.pose.rotations_xyzw,
            self._angles,
        )
        if worst < 0.0:
            return False
        self.pose.residual_m = worst
        return True

    def good_pose(self) -> Pose:
        """A copy of the last good pose."""
        return Pose(self.pose.root.copy(), self.pose.rotations_xyzw.copy())
