"""Solvers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from understudy.kinematics import Skeleton
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector
from understudy.solvers.base import ParameterValue, Solver, SolverError
from understudy.solvers.clik import PARAMETERS as CLIK_PARAMETERS
from understudy.solvers.clik import Clik
from understudy.solvers.copy import Copy
from understudy.solvers.egik import PARAMETERS as EGIK_PARAMETERS
from understudy.solvers.egik import Egik
from understudy.solvers.parameters import Parameter
from understudy.solvers.ukf import PARAMETERS as UKF_PARAMETERS
from understudy.solvers.ukf import Ukf

SOLVERS: Final = ("copy", "clik", "ukf", "egik")

SOLVER_PARAMETERS: Final[dict[str, tuple[Parameter, ...]]] = {
    "copy": (),
    "clik": CLIK_PARAMETERS,
    "ukf": UKF_PARAMETERS,
    "egik": EGIK_PARAMETERS,
}
"""What can be changed about each solver while it runs."""


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
    if name == "ukf":
        return Ukf(skeleton, effectors, parameters, limits=limits)
    if name == "egik":
        return Egik(skeleton, effectors, parameters, limits=limits)
    raise SolverError(f"no solver {name!r}; there are: {', '.join(SOLVERS)}")
