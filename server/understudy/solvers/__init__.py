"""Solvers: one frame's goals in, the character's pose out."""

from understudy.solvers.base import ParameterValue, Solution, Solver, SolverError, Status
from understudy.solvers.clik import Clik
from understudy.solvers.copy import Copy
from understudy.solvers.egik import Egik
from understudy.solvers.registry import SOLVERS, create_solver
from understudy.solvers.ukf import Ukf

__all__ = [
    "SOLVERS",
    "Clik",
    "Copy",
    "Egik",
    "ParameterValue",
    "Solution",
    "Solver",
    "SolverError",
    "Status",
    "Ukf",
    "create_solver",
]
