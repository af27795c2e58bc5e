"""The simple approaches that the solvers are measured against: inverse kinematics frame by frame.

Both correct the copied posture only while a foot is planted and know nothing of the frame before,
so the correction comes and goes at once; one of them smooths the motion afterwards. They are for
comparison only: no server offers them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from understudy.align.aligner import CONTACT_NAMES
from understudy.kinematics import FloatArray, Pose, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import NO_BASE, Effector, Targets
from understudy.solvers import Copy, ParameterValue, Solution, Solver, Ukf, create_solver
from understudy.solvers.parameters import checked

BASELINES: Final = ("ik", "ik-lowpass")

# Enough for the posture nearest to the performer's that meets the goals, from a standing start.
_PASSES: Final = 8
# A swinging leg lies below, a correction that comes at once far above.
CUTOFF_HZ: Final = 6.0
_PLANTED: Final = 0.5


def create_contestant(
    name: str,
    skeleton: Skeleton,
    effectors: Sequence[Effector],
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    limits: JointLimits | None = None,
) -> Solver:
    """A solver of the server or one of `BASELINES`."""
    if name not in BASELINES:
        return create_solver(name, skeleton, effectors, parameters, limits=limits)
    checked(name, (), parameters or {})
    if name == "ik":
        return PerFrameIk(skeleton, effectors, limits=limits)
    return LowPassedIk(skeleton, effectors, limits=limits)


class PerFrameIk:
    """The copied posture, corrected until planted feet are where they belong; no memory.

    Hands and feet in the air are copied. Residuals are distances from all goals, as in `copy`.
    """

    call: Final[None] = None

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        *,
        limits: JointLimits | None = None,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        self._solver = Ukf(skeleton, effectors, {"passes": _PASSES}, limits=limits)
        self._shown = Copy(skeleton, effectors)
        self._touching = np.array(
            [[_same_foot(effector, name) for name in CONTACT_NAMES] for effector in effectors]
        )

    def reset(self, pose: Pose | None = None) -> None:
        """There is nothing to forget."""

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """There are no parameters: any name is refused."""
        checked("ik", (), values)

    def parameters(self) -> dict[str, ParameterValue]:
        """None."""
        return {}

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve a frame as if there were no other."""
        asked = targets.copy()
        asked.base = NO_BASE
        asked.strengths[:] = (self._touching * targets.contacts).max(axis=1) > _PLANTED
        self._solver.reset()
        solved = self._solver.step(asked, dt)
        return self.show(targets, solved.root, solved.rotations_xyzw, solved)

    def show(
        self, targets: Targets, root: FloatArray, rotations_xyzw: FloatArray, solved: Solution
    ) -> Solution:
        """A pose made of `solved`, with its distances from all goals of `targets`."""
        posed = targets.copy()
        posed.root[:] = root
        posed.rotations_xyzw[:] = rotations_xyzw
        shown = self._shown.step(posed, 0.0)
        shown.status |= solved.status
        return shown


class LowPassedIk(PerFrameIk):
    """The same with root and joints smoothed by a causal low-pass of the first order."""

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        *,
        limits: JointLimits | None = None,
    ) -> None:
        super().__init__(skeleton, effectors, limits=limits)
        self._smooth: Pose | None = None

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past and start from `pose`, or from the next frame if there is none."""
        self._smooth = None if pose is None else pose.copy()

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve a frame by itself and go part of the way to it."""
        solved = super().step(targets, dt)
        if self._smooth is None or targets.jump:
            self._smooth = Pose(solved.root.copy(), solved.rotations_xyzw.copy())
        root, turned = self._smooth.root, self._smooth.rotations_xyzw
        share = 1.0 - float(np.exp(-2.0 * np.pi * CUTOFF_HZ * dt))
        root += share * (solved.root - root)
        turned[:] = rotations.normalise(rotations.slerp(turned, solved.rotations_xyzw, share))
        return self.show(targets, root, turned, solved)


def _same_foot(effector: Effector, contact: str) -> bool:
    """Whether a contact point belongs to the effector: leftToe to leftFoot."""
    return effector.name.endswith("Foot") and contact.startswith(effector.name[: -len("Foot")])
