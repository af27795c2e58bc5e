"""Solvers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from understudy.kinematics import Skeleton
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector
from understudy.solvers.base import ParameterValue, Solver, SolverError
from understudy.solvers.clik import Clik
from understudy.solvers.copy import Copy

SOLVERS: Final = ("copy", "clik")


def create_solver(
    name: str,
    skeleton: Skeleton,
    effectors: Sequence[Effector],
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    limits: JointLimits | None = None,
) -> Solver:
    """A solver for a character; SolverError names an unknown solver or parameter."""
    if name == "copy":
        return Copy(skeleton, effectors, parameters)
    if name == "clik":
        return Clik(skeleton, effectors, parameters, limits=limits)
    raise SolverError(f"no solver {name!r}; there are: {', '.join(SOLVERS)}")
