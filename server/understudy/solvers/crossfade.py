"""From one solver to another while a session runs, without a jump."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.kinematics import Pose, rotations
from understudy.kinematics.compiled import Call
from understudy.kinematics.tasks import Targets
from understudy.solvers.base import ParameterValue, Solution, Solver


class Crossfade:
    """Both solvers answer every frame, and the pose goes over from the old one's to the new one's.

    Each follows the goals all the way, so that planted feet stand while it lasts. After
    `duration_s` only the new one is asked; parameters are the new one's throughout.
    """

    def __init__(self, old: Solver, new: Solver, duration_s: float) -> None:
        self.new = new
        self.skeleton = new.skeleton
        self.effectors = new.effectors
        self._old: Solver | None = old
        self._duration_s = duration_s
        self._elapsed_s = 0.0
        rest = new.skeleton.rest_pose()
        self._solution = Solution(rest.root, rest.rotations_xyzw, np.zeros(len(new.effectors)))

    @property
    def active(self) -> bool:
        """Whether the old solver still has a part in the pose."""
        return self._old is not None

    @property
    def call(self) -> Call | None:
        """The new solver's, once it is the only one."""
        return None if self.active else self.new.call

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past in both and start from `pose`."""
        self.new.reset(pose)
        if self._old is not None:
            self._old.reset(pose)

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Change the new solver's."""
        self.new.set_parameters(values)

    def parameters(self) -> dict[str, ParameterValue]:
        """The new solver's."""
        return self.new.parameters()

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve one frame; `residuals` are the larger of both solvers' while it lasts."""
        after = self.new.step(targets, dt)
        self._elapsed_s += dt
        if self._old is None or self._elapsed_s >= self._duration_s:
            self._old = None
            return after
        before = self._old.step(targets, dt)
        share = self._elapsed_s / self._duration_s
        share *= share * (3.0 - 2.0 * share)
        solution = self._solution
        solution.root[:] = before.root + share * (after.root - before.root)
        solution.rotations_xyzw[:] = rotations.normalise(
            rotations.slerp(before.rotations_xyzw, after.rotations_xyzw, share)
        )
        np.maximum(before.residuals, after.residuals, out=solution.residuals)
        solution.status = before.status | after.status
        return solution
