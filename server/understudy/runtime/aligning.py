"""What a session asks of its aligner, and how one aligner takes the place of another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from understudy.align import Aligner
from understudy.conditioning import TargetEase
from understudy.kinematics import FloatArray
from understudy.kinematics.compiled import Call
from understudy.kinematics.tasks import NO_BASE, Effector, Targets


class AlignsPoses(Protocol):
    """What a session asks of the aligner."""

    @property
    def effectors(self) -> Sequence[Effector]:
        """Body points of the character that are given goals."""

    @property
    def contact_names(self) -> Sequence[str]:
        """Names of the contact points, in the order of the targets' `contacts`."""

    @property
    def targets(self) -> Targets:
        """What the last call of `align` gave."""

    @property
    def call(self) -> Call | None:
        """What `align` does to a pose in the arrays it was given last; None if that takes more."""

    def reset(self) -> None:
        """Forget the past."""

    def align(self, root: FloatArray, rotations_xyzw: FloatArray, dt: float, jump: bool) -> Targets:
        """The character's targets for a source pose; overwritten by the next call."""


class AlignerFade:
    """Both aligners answer every frame, and the targets go over from the old one's to the new.

    The performer goes on in both, so that the character goes on as well. The old one may be a fade
    that is still under way. After `duration_s` only `new` is asked.
    """

    def __init__(self, old: Aligner | AlignerFade, new: Aligner, duration_s: float) -> None:
        self.new = new
        self.effectors = new.effectors
        self.contact_names = new.contact_names
        self.targets = new.targets
        self._old: Aligner | AlignerFade | None = old
        self._ease = TargetEase(new.alignment.target, new.effectors, duration_s)
        self._ease.start(old.targets)
        self._started = False

    @property
    def layers(self) -> int:
        """How many fades are under way, one in the other; 0 when this one is over."""
        if self._old is None:
            return 0
        return 1 + (self._old.layers if isinstance(self._old, AlignerFade) else 0)

    @property
    def call(self) -> Call | None:
        """The new aligner's, once it is the only one."""
        return None if self._old is not None else self.new.call

    def reset(self) -> None:
        """Forget the past, and the old aligner."""
        self.new.reset()
        self._old = None

    def align(
        self, root: FloatArray, rotations_xyzw: FloatArray, dt: float, jump: bool = False
    ) -> Targets:
        """The targets on the way from one aligner's to the other's."""
        old = self._old
        if old is None:
            return self.new.align(root, rotations_xyzw, dt, jump)
        before = old.align(root, rotations_xyzw, dt, jump)
        after = self.new.align(root, rotations_xyzw, dt, jump or not self._started)
        if not self._started:
            self._started = True
            self.new.learn_from(old.new if isinstance(old, AlignerFade) else old)
        if self._ease.active:
            self._ease.start_from_live(before)
            self._ease.apply(after, dt)
            _blend_holds(self._ease.share, before, after)
        after.jump = jump
        if not self._ease.active:
            self._old = None
        return after


def _blend_holds(share: float, before: Targets, after: Targets) -> None:
    """Let what stands be held by as much as both say: `share` of the way to `after`, in place."""
    after.planted[:] = before.planted + share * (after.planted - before.planted)
    base = before.base if after.base == NO_BASE else after.base
    held_before = before.base_hold if before.base == base else 0.0
    held_after = after.base_hold if after.base == base else 0.0
    after.base = base
    after.base_hold = held_before + share * (held_after - held_before)
