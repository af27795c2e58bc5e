"""The kinematic sweep: the performer's posture, corrected to the goals as a Kalman filter would."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import ClassVar, Final

import numpy as np

from understudy.kinematics import FloatArray
from understudy.kinematics.compiled import direct, entry_of
from understudy.solvers._kernels import layout, ukf_layout
from understudy.solvers._kernels.following import TRACK_FLOATS
from understudy.solvers._kernels.ukf import coordinates, step
from understudy.solvers.base import ParameterValue, SolverError
from understudy.solvers.filter import COMMON_PARAMETERS, Filter
from understudy.solvers.parameters import Parameter, checked

PARAMETERS: Final = (
    Parameter("passes", 2, 1, 16, "corrections a frame", True),
    Parameter.choice(
        "form",
        ("iterated", "paper"),
        "iterated: to the most probable pose; paper: Algorithm 1 as published",
    ),
    Parameter(
        "sigma_rad",
        0.05,
        1e-4,
        1.0,
        "the sigma points' step, rad; in the paper form the deviation of a joint of mobility 1",
    ),
    Parameter("kappa", 0.0, -1e4, 1e4, "spread of the paper form's sigma points, above -n"),
    Parameter("carry", 0, 0, 1, "1: track the performer, carrying covariance", True),
    Parameter(
        "agility", 5.0, 1e-3, 1e3, "how fast a tracked performer changes speed, rad/s per root s"
    ),
    Parameter("noise_rad", 0.01, 1e-6, 1.0, "noise of a tracked performer's angles, rad"),
    Parameter("noise_m", 0.005, 1e-6, 1.0, "noise of a tracked performer's place, m"),
    *COMMON_PARAMETERS,
)


class Ukf(Filter):
    """Prediction from the performer's posture, correction to the goals as measurements.

    Besides `PARAMETERS` there is one `mobility.JOINT` for every joint (rad^2, relative to the
    others; 0 freezes it to the performer's angle) and one `softness.EFFECTOR` for every effector
    (m^2; 0 is hard). A soft goal yields to a hard one.
    """

    name = "ukf"
    kernel = staticmethod(direct(step))
    entry = entry_of(step, "i8(i8, f8)")
    knows = PARAMETERS
    own: ClassVar[ModuleType] = ukf_layout
    jacobians = 2

    def _blank_memory(self) -> FloatArray:
        return np.zeros((1 + len(self.skeleton), TRACK_FLOATS))

    def _add_own(self) -> None:
        for j, joint in enumerate(self.skeleton.names):
            self._add_slot(
                f"mobility.{joint}",
                100.0,
                "mobility, rad^2",
                (self.plan.joints_f, (j, layout.MOBILITY)),
            )
        for f, effector in enumerate(self.effectors):
            self._add_slot(
                f"softness.{effector.name}",
                1e3,
                "softness, m^2",
                (self.plan.effectors_f, (f, layout.SOFTNESS)),
            )

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Change parameters between two frames; the pose goes over smoothly."""
        kappa = checked(self.name, self._known, values).get("kappa", 0.0)
        size = coordinates(self.plan.joints_i)
        if size + kappa <= 0.0:
            raise SolverError(
                f"solver 'ukf': parameter 'kappa' = {kappa:g}; allowed: above {-size:g},"
                " the number of coordinates with a minus"
            )
        super().set_parameters(values)
