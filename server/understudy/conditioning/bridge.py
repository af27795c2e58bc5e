"""Tears in a capture: single frames in which the body flies apart are bridged, real jumps told."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import Enum
from typing import Final

import numpy as np

from understudy.conditioning._kernels import (
    NEW_ROOT,
    NEW_ROTATIONS,
    TEAR_RAD_PER_S,
    keep_untorn,
    largest_step,
)
from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.compiled import Call, direct, entry_of
from understudy.kinematics.tables import ArrayTable

LONGEST_HOLD_S: Final = 0.025

# What stays torn is passed on: a limb that snapped is shown as captured rather than late. A body
# that was turned or moved as a whole by this much is a new beginning.
JUMP_RAD: Final = math.radians(60.0)
JUMP_M: Final = 0.5

_keep_untorn: Final = direct(keep_untorn)
_ENTRY: Final = entry_of(keep_untorn, "f8(i8, f8)")


class Bridged(Enum):
    """What became of a frame."""

    PASSED = 0
    HELD = 1  # a tear: the last good pose is shown instead
    JUMPED = 2  # the whole body is elsewhere, and stays there: this does not continue the old way


# Looked up once: to ask an enumeration for a member takes as long as half the check.
_PASSED: Final = Bridged.PASSED


class TearBridge:
    """Holds the last good pose over a tear, 25 ms at the most, in constant memory.

    `loose` joints (toes, fingers) may turn as fast as they like.
    """

    def __init__(self, skeleton: Skeleton, loose: Collection[int] = ()) -> None:
        judged = np.array([j for j in range(len(skeleton)) if j not in loose], np.int64)
        self._root_only = np.zeros(1, np.int64)
        self._root: FloatArray = np.zeros(3)
        self._rotations: FloatArray = np.zeros((len(skeleton), 4))
        self._new = np.zeros(3), np.zeros((len(skeleton), 4))
        self._table = ArrayTable(*self._new, self._root, self._rotations, judged)
        self._held_s = 0.0
        self._started = False

    @property
    def call(self) -> Call | None:
        """What `apply` does to a frame that is not torn; None while something is not as usual."""
        if not self._started or self._held_s > 0.0:
            return None
        return Call(_ENTRY, self._table.address)

    def reset(self) -> None:
        """Forget the past: the next frame passes."""
        self._started = False
        self._held_s = 0.0

    def apply(self, root: FloatArray, rotations_xyzw: FloatArray, dt: float) -> Bridged:
        """Overwrite a torn pose (root (3,), rotations (n, 4)) with the last good one."""
        if root is not self._new[0] or rotations_xyzw is not self._new[1]:
            self._new = root, rotations_xyzw
            self._table.put(NEW_ROOT, root)
            self._table.put(NEW_ROTATIONS, rotations_xyzw)
        # Over the time since the last good frame, not only since the last frame.
        allowed = TEAR_RAD_PER_S * (self._held_s + dt) if self._started else math.inf
        self._started = True
        if _keep_untorn(self._table.address, allowed) <= allowed:
            self._held_s = 0.0
            return _PASSED
        if self._held_s + dt <= LONGEST_HOLD_S + 1e-9:
            self._held_s += dt
            root[:] = self._root
            rotations_xyzw[:] = self._rotations
            return Bridged.HELD
        outcome = self._jumped(root, rotations_xyzw)
        self._held_s = 0.0
        self._root[:] = root
        self._rotations[:] = rotations_xyzw
        return outcome

    def _jumped(self, root: FloatArray, rotations_xyzw: FloatArray) -> Bridged:
        turned = largest_step(self._rotations, rotations_xyzw, self._root_only) > JUMP_RAD
        moved = float(np.linalg.norm(root - self._root)) > JUMP_M
        return Bridged.JUMPED if turned or moved else Bridged.PASSED
