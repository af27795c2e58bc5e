"""The seam that every solver fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntFlag
from typing import Final, Protocol

from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.compiled import Call
from understudy.kinematics.tasks import Effector, Targets

ParameterValue = float | int | bool | str


class SolverError(UnderstudyError):
    """A solver that does not exist, or a parameter it does not take."""


class Status(IntFlag):
    """What a solver has to say about a frame."""

    OK = 0
    LIMITED = 4  # a joint limit holds a joint back
    OUT_OF_REACH = 8  # a goal lies farther than the limb reaches; it is approached
    HELD = 16  # the result was not finite; the last good pose is shown


# Every status by its bits: to put flags together takes a microsecond.
STATUSES: Final = tuple(Status(bits) for bits in range(2 * Status.HELD))


@dataclass(slots=True, eq=False)
class Solution:
    """A solver's answer, in buffers of its own that the next step overwrites.

    `root` (3,) m; `rotations_xyzw` (n, 4) full local rotations; `residuals` (k,) m, the distance of
    each effector from its goal.
    """

    root: FloatArray
    rotations_xyzw: FloatArray
    residuals: FloatArray
    status: Status = Status.OK


class Solver(Protocol):
    """Targets in, a pose out; causal, constant memory, no clock, no exception in `step`."""

    skeleton: Skeleton
    effectors: tuple[Effector, ...]

    @property
    def call(self) -> Call | None:
        """What `step` does with the targets it was given last; None if that takes more."""

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past and start from `pose` (the rest pose if none is given)."""

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve one frame that comes `dt` seconds after the last."""

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Change parameters while running; SolverError names the one that is wrong."""

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters in force."""
