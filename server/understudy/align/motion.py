"""A few frames of a performer's motion, as evidence about the body that made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton


@dataclass(frozen=True, slots=True, eq=False)
class MotionSample:
    """Evenly spaced frames of one body.

    World positions (t, n, 3) m and world_from_joint rotations (t, n, 3, 3) of t frames, `step_s`
    apart.
    """

    positions: FloatArray
    rotations: FloatArray
    step_s: float

    def __len__(self) -> int:
        return len(self.positions)

    @classmethod
    def from_frames(
        cls, skeleton: Skeleton, roots: FloatArray, rotations_xyzw: FloatArray, rate_hz: float
    ) -> MotionSample:
        """A sample of roots (t, 3) m and full parent_from_joint rotations (t, n, 4)."""
        kinematics = ForwardKinematics(skeleton)
        positions = np.empty((len(roots), len(skeleton), 3))
        rotations = np.empty((len(roots), len(skeleton), 3, 3))
        for t in range(len(roots)):
            kinematics.update(
                np.array(roots[t], np.float64), np.array(rotations_xyzw[t], np.float64)
            )
            positions[t] = kinematics.positions
            rotations[t] = kinematics.rotations
        return cls(positions, rotations, 1.0 / rate_hz)

    @classmethod
    def of_rest(cls, skeleton: Skeleton) -> MotionSample:
        """The rest pose as a sample of one frame."""
        rest = skeleton.rest_pose()
        return cls.from_frames(skeleton, rest.root[None], rest.rotations_xyzw[None], 1.0)

    def thinned(self, count: int) -> MotionSample:
        """About `count` frames at least, evenly spread; all of a shorter sample."""
        stride = max(1, len(self) // count)
        return MotionSample(
            self.positions[::stride], self.rotations[::stride], self.step_s * stride
        )
