"""Example-guided inverse kinematics: one slider from copying the performer to meeting the goals."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar, Final

import numpy as np

from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.compiled import direct, entry_of
from understudy.solvers._kernels import egik_layout
from understudy.solvers._kernels.egik import step
from understudy.solvers.filter import COMMON_PARAMETERS, Filter
from understudy.solvers.parameters import Parameter

PARAMETERS: Final = (
    Parameter("alpha", 0.999, 0.0, 1.0, "0: copy the performer's angles; 1: meet the goals only"),
    Parameter("c", 0.0, 0.0, 1e4, "radians that weigh as much as 1 m; 0: 5 a body's link length"),
    Parameter("velocity", 1.0, 0.0, 1e3, "weight of the angles' velocities, in frames of 1/30 s"),
    Parameter("acceleration", 1.0, 0.0, 1e3, "weight of their accelerations, likewise"),
    Parameter("passes", 3, 1, 16, "iterations a frame", True),
    *COMMON_PARAMETERS,
)


class Egik(Filter):
    """The weighted objective of goals and imitation, causal: two past frames are remembered."""

    name = "egik"
    kernel = staticmethod(direct(step))
    entry = entry_of(step, "i8(i8, f8)")
    knows = PARAMETERS
    own: ClassVar[ModuleType] = egik_layout

    def _blank_memory(self) -> FloatArray:
        return np.zeros((2, 1 + len(self.skeleton), 3))

    def _add_own(self) -> None:
        self._params[egik_layout.LINKS_M] = total_link_length(self.skeleton)


def total_link_length(skeleton: Skeleton) -> float:
    """The length (m) of all bones: from every joint to its parent, and to the tip where it ends."""
    bones = np.linalg.norm(skeleton.offsets[1:], axis=1).sum()
    tips = np.linalg.norm(skeleton.tips[skeleton.has_tip], axis=1).sum()
    return max(float(bones + tips), 1e-6)
