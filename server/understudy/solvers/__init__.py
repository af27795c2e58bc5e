"""Solvers: one frame's goals in, the character's pose out."""

from understudy.solvers.base import ParameterValue, Solution, Solver, SolverError, Status
from understudy.solvers.clik import Clik
from understudy.solvers.copy import Copy
from understudy.solvers.registry import SOLVERS, create_solver

__all__ = [
    "SOLVERS",
    "Clik",
    "Copy",
    "ParameterValue",
    "Solution",
    "Solver",
    "SolverError",
    "Status",
    "create_solver",
]
