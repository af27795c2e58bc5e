"""Easing a character's targets over a break in the capture, so that it moves instead of jumping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.conditioning._kernels import ease
from understudy.kinematics import FloatArray, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets


class TargetEase:
    """Leads from the targets given to `start` to the live ones, in `duration_s`.

    The way is smooth in time: zero speed at both ends. While it is not `active` it costs nothing.
    """

    def __init__(
        self, skeleton: Skeleton, effectors: Sequence[Effector], duration_s: float
    ) -> None:
        self._names = [effector.name for effector in effectors]
        self.duration_s = duration_s
        self._elapsed_s = duration_s
        self._from = Targets.allocate(skeleton, effectors)
        self._known: FloatArray = np.ones(len(effectors))
        self._turns: FloatArray = np.zeros((2, 4))

    @property
    def active(self) -> bool:
        """Whether the character is still on its way."""
        return self._elapsed_s < self.duration_s

    @property
    def share(self) -> float:
        """How much of the way is done, 0 to 1, smooth in time."""
        share = self._elapsed_s / self.duration_s
        return share * share * (3.0 - 2.0 * share)

    def start(self, last: Targets) -> None:
        """Begin a way from the last targets of the same effectors."""
        self._from.goals[:] = last.goals
        self._known.fill(1.0)
        self._begin(last)

    def start_from_live(self, last: Targets) -> None:
        """Move the beginning of the way to where it would be by now; the way goes on."""
        self._from.goals[:] = last.goals
        self._place(last)

    def start_elsewhere(self, last: Targets, effectors: Sequence[Effector]) -> None:
        """Begin from targets that another alignment of the same character gave to `effectors`."""
        names = [effector.name for effector in effectors]
        for i, name in enumerate(self._names):
            self._known[i] = name in names
            if name in names:
                self._from.goals[i] = last.goals[names.index(name)]
        self._begin(last)

    def apply(self, targets: Targets, dt: float) -> None:
        """Lead `targets` along the way, in place."""
        self._elapsed_s = min(self._elapsed_s + dt, self.duration_s)
        ease(
            self.share,
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

    def _begin(self, last: Targets) -> None:
        self._place(last)
        self._elapsed_s = 0.0

    def _place(self, last: Targets) -> None:
        start = self._from
        start.head[:] = last.head
        start.rotations_xyzw[:] = last.rotations_xyzw
        root_from_world = rotations.conjugate(start.rotations_xyzw[0])
        start.positions[:] = rotations.rotate(root_from_world, start.positions - start.root)
