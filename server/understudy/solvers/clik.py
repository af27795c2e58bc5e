"""Closed-loop inverse kinematics with imitation of the performer: the live filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import ClassVar, Final

import numpy as np

from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.compiled import direct, entry_of
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector
from understudy.solvers._kernels import clik_layout
from understudy.solvers._kernels.base import BASE_AGE, BASE_FLOATS
from understudy.solvers._kernels.clik import PROBE, step
from understudy.solvers.base import ParameterValue
from understudy.solvers.filter import COMMON_PARAMETERS, Filter, SecondaryTask
from understudy.solvers.parameters import Parameter

PARAMETERS: Final = (
    Parameter("k2", 1.0, 0.0, 1.0, "gain of the imitation of the performer's angles, per 1/30 s"),
    Parameter("corrections", 1, 0, 8, "corrections of the goals alone after the main step", True),
    Parameter("damping", 1e-2, 0.0, 1.0, "largest damping near a singular pose, m^2"),
    Parameter("singular", 1e-4, 0.0, 1.0, "squared singular value where damping sets in, m^2"),
    Parameter(
        "max_goal_step", 0.25, 1e-3, 100.0, "a longer way of a goal is walked in substeps, m"
    ),
    Parameter("dexterity", 0.0, 0.0, 1.0, "s_min/s_max below which gains are reduced; 0 = never"),
    Parameter("paper", 0, 0, 1, "1: predict by the goals' own increment, as published", True),
    Parameter("eliminate", 0, 0, 1, "1: the base's place is eliminated, not moved to", True),
    *COMMON_PARAMETERS,
)


class Clik(Filter):
    """Effectors reach their goals; what freedom is left imitates the performer's angles.

    `secondary`, if given, is called with the last root (3,) and rotations (n, 4) and returns an
    error (m,) and its Jacobian (m, 3 + 3n); J^T error is added to the imitation in the null space.
    """

    name = "clik"
    kernel = staticmethod(direct(step))
    entry = entry_of(step, "i8(i8, f8)")
    knows = PARAMETERS
    own: ClassVar[ModuleType] = clik_layout

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
        orientation_arm_m: float = 0.2,
        secondary: SecondaryTask | None = None,
    ) -> None:
        super().__init__(
            skeleton,
            effectors,
            parameters,
            limits=limits,
            mobilities=mobilities,
            orientation_arm_m=orientation_arm_m,
        )
        self.secondary = secondary

    def _blank_memory(self) -> FloatArray:
        return np.zeros(BASE_FLOATS)

    def _add_own(self) -> None:
        """Nothing: every character has the same."""

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past: start at the next frame's own posture, or ease in from `pose`."""
        super().reset(pose)
        self._rows[PROBE] = 1.0

    def _ease_in(self) -> None:
        """Make up with rising gains what other gains have left; goals are followed meanwhile."""
        self._let_gains_rise()
        self._memory[BASE_AGE] = 0.0
