"""Easing a character's targets over a break in the capture, so that it moves instead of jumping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.conditioning._kernels import ease
from understudy.kinematics import FloatArray, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets


class TargetEase:
    """Remembers the last targets and, once `start` is called, leads from them to the live ones.

    The way is smooth in time (zero speed at both ends) and takes `duration_s`.
    """

    def __init__(
        self, skeleton: Skeleton, effectors: Sequence[Effector], duration_s: float
    ) -> None:
        self._names = [effector.name for effector in effectors]
        self._duration_s = duration_s
        self._elapsed_s = duration_s
        self._last = Targets.allocate(skeleton, effectors)
        self._from = Targets.allocate(skeleton, effectors)
        self._known: FloatArray = np.ones(len(effectors))
        self._turns: FloatArray = np.zeros((2, 4))
        self._has_last = False

    @property
    def active(self) -> bool:
        """Whether the character is still on its way."""
        return self._elapsed_s < self._duration_s

    def start(self) -> None:
        """Begin a way from the last targets; does nothing before there are any."""
        if self._has_last and self._duration_s > 0.0:
            self._known.fill(1.0)
            self._begin()

    def carry_over(self, other: TargetEase) -> None:
        """Begin from the last targets of another alignment of the same character."""
        if not other._has_last or self._duration_s <= 0.0:
            return
        self._last.head[:] = other._last.head
        self._last.rotations_xyzw[:] = other._last.rotations_xyzw
        self._known.fill(0.0)
        for i, name in enumerate(self._names):
            if name in other._names:
                self._last.goals[i] = other._last.goals[other._names.index(name)]
                self._known[i] = 1.0
        self._has_last = True
        self._begin()

    def apply(self, targets: Targets, dt: float) -> bool:
        """Lead `targets` along the way, in place; whether they were changed."""
        active = self.active
        if active:
            self._elapsed_s = min(self._elapsed_s + dt, self._duration_s)
            share = self._elapsed_s / self._duration_s
            ease(
                share * share * (3.0 - 2.0 * share),
                self._from.head,
                self._from.rotations_xyzw,
                self._from.goals,
                self._known,
                targets.head,
                targets.rotations_xyzw,
                targets.goals,
                self._turns,
            )
            targets.jump = False
        _copy(targets, self._last)
        self._has_last = True
        return active

    def _begin(self) -> None:
        start = self._from
        _copy(self._last, start)
        root_from_world = rotations.conjugate(start.rotations_xyzw[0])
        start.positions[:] = rotations.rotate(root_from_world, start.positions - start.root)
        self._elapsed_s = 0.0


def _copy(source: Targets, to: Targets) -> None:
    to.head[:] = source.head
    to.rotations_xyzw[:] = source.rotations_xyzw
    to.goals[:] = source.goals
