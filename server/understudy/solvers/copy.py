"""The simplest solver: the performer's angles as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from understudy.kinematics import Pose, Skeleton
from understudy.kinematics.compiled import Call, direct, entry_of
from understudy.kinematics.tables import ArrayTable
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers._kernels import copying
from understudy.solvers.base import STATUSES, ParameterValue, Solution
from understudy.solvers.parameters import checked
from understudy.solvers.plan import Plan

_step: Final = direct(copying.step)
_ENTRY: Final = entry_of(copying.step, "i8(i8, f8)")


class Copy:
    """Angles as they are and the root where it should be; effectors are measured, not met."""

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        parameters: Mapping[str, ParameterValue] | None = None,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        # Copying meets no orientation: the exact joints stay as the performer has them.
        plan = Plan(skeleton, [replace(e, orientation="free") for e in effectors])
        rest = skeleton.rest_pose()
        self._solution = Solution(rest.root, rest.rotations_xyzw, np.zeros(len(self.effectors)))
        self._last_good = rest.copy()
        self._targets = Targets(len(skeleton), len(self.effectors))
        self._arrays = ArrayTable(
            self._targets.head,
            self._targets.rotations_xyzw,
            self._targets.goals,
            plan.joints_i,
            plan.joints_f,
            plan.effectors_i,
            self._solution.root,
            self._solution.rotations_xyzw,
            self._last_good.root,
            self._last_good.rotations_xyzw,
            np.zeros((len(skeleton), 12)),
            np.zeros((len(skeleton), 9)),
            self._solution.residuals,
        )
        self.set_parameters(parameters or {})

    @property
    def call(self) -> Call:
        """What `step` does with the targets it was given last."""
        return Call(_ENTRY, self._arrays.address)

    def reset(self, pose: Pose | None = None) -> None:
        """Nothing is remembered but the pose that a broken frame would show."""
        start = self.skeleton.rest_pose() if pose is None else pose
        self._last_good.root[:] = start.root
        self._last_good.rotations_xyzw[:] = start.rotations_xyzw

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Copying has no parameters: any name is refused."""
        checked("copy", (), values)

    def parameters(self) -> dict[str, ParameterValue]:
        """None."""
        return {}

    def step(self, targets: Targets, dt: float) -> Solution:
        """The performer's posture on the character's bones."""
        solution = self._solution
        if targets is not self._targets:
            self._targets = targets
            self._arrays.put(copying.HEAD, targets.head)
            self._arrays.put(copying.SOURCE, targets.rotations_xyzw)
            self._arrays.put(copying.GOALS, targets.goals)
        solution.status = STATUSES[_step(self._arrays.address, dt)]
        return solution
