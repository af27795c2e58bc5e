"""The last look at a solver's answer: finite, or the last good pose is held."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.conditioning import _kernels
from understudy.kinematics import HINGE, FloatArray, Pose, Skeleton
from understudy.kinematics.compiled import Call, direct, entry_of
from understudy.kinematics.tables import ArrayTable
from understudy.kinematics.tasks import Targets

_accept: Final = direct(_kernels.accept)
_ENTRY: Final = entry_of(_kernels.accept, "f8(i8)")


class CharacterPose:
    """The last good pose of a character, in buffers of its own, and the same as it is published.

    `root` (3,) m and `rotations_xyzw` (n, 4) are exact; `root_f32`, `rotations_f32` and
    `angles_f32` are float32 in one block: the numbers of the hinges count from the rest pose, in
    the order of the joints. `touching` (c,) has a 1 for each contact point that is more planted
    than free; `views` are these arrays' bytes. Starts at rest.
    """

    def __init__(self, skeleton: Skeleton, effector_count: int, contact_count: int) -> None:
        rest = skeleton.rest_pose()
        n = len(skeleton)
        hinges = np.flatnonzero(skeleton.kinds == HINGE).astype(np.int64)
        self._numbers: NDArray[np.float32] = np.zeros(3 + 4 * n + len(hinges), np.float32)
        self.root: FloatArray = rest.root
        self.rotations_xyzw: FloatArray = rest.rotations_xyzw
        self.root_f32 = self._numbers[:3]
        self.rotations_f32 = self._numbers[3 : 3 + 4 * n]
        self.angles_f32 = self._numbers[3 + 4 * n :]
        self.touching: NDArray[np.uint8] = np.zeros(contact_count, np.uint8)
        self.views = (
            self.root_f32.data,
            self.rotations_f32.data,
            self.touching.data,
            self.angles_f32.data,
        )
        self.root_f32[:] = rest.root
        self.rotations_f32[:] = rest.rotations_xyzw.reshape(-1)
        self._answer: tuple[FloatArray, ...] = (
            rest.root.copy(), rest.rotations_xyzw.copy(),
            np.zeros(effector_count), np.zeros(contact_count),
        )  # fmt: skip
        self._table = ArrayTable(
            *self._answer, hinges, skeleton.axes, skeleton.rest_xyzw,
            self.root, self.rotations_xyzw, self._numbers, self.touching,
        )  # fmt: skip

    @property
    def call(self) -> Call:
        """What `accept` does with the arrays it was given last."""
        return Call(_ENTRY, self._table.address)

    def accept(
        self,
        root: FloatArray,
        rotations_xyzw: FloatArray,
        residuals: FloatArray,
        targets: Targets,
    ) -> float:
        """Take a solved pose as the good one; the largest of its residuals, m.

        If it is not finite the answer is negative, and nothing changes.
        """
        contacts = targets.contacts
        known = self._answer
        if (
            root is not known[0]
            or rotations_xyzw is not known[1]
            or residuals is not known[2]
            or contacts is not known[3]
        ):
            self._answer = (root, rotations_xyzw, residuals, contacts)
            for place, array in enumerate(self._answer):
                self._table.put(place, array)
        return float(_accept(self._table.address))

    def take(self, pose: Pose) -> None:
        """Start from a pose that was good elsewhere."""
        self.root[:] = pose.root
        self.rotations_xyzw[:] = pose.rotations_xyzw
        self.root_f32[:] = pose.root
        self.rotations_f32[:] = pose.rotations_xyzw.reshape(-1)

    def copy(self) -> Pose:
        """The last good pose in arrays of its own."""
        return Pose(self.root.copy(), self.rotations_xyzw.copy())
