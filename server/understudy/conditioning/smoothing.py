"""A performer's noise taken away, causally: still bodies rest, fast ones are followed at once."""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.conditioning._kernels import smooth
from understudy.kinematics import FloatArray, Skeleton

# At full strength: how slowly a body at rest is followed, and how far a moving one may be ahead.
REST_S: Final = 0.2
BEHIND_RAD: Final = 0.1
BEHIND_M: Final = 0.03
# Velocities are averaged over this long; noise has none on average.
_VELOCITY_S: Final = 0.08
# Frames that come closer together than this have no velocity to measure.
_SHORTEST_S: Final = 1e-5


class Smoother:
    """A one-euro filter (Casiez et al. 2012) on every rotation and on the root of a body.

    The time constant is the longest at rest and falls with the speed of each joint, so that a
    rotation is never farther behind than strength x `BEHIND_RAD`, the root than strength x
    `BEHIND_M`. A new strength is reached gradually, in `ease_s` from off to full: nothing jumps.
    `root` (3,) m and `rotations_xyzw` (n, 4) are the smoothed pose; the one that is given is left
    alone. While it is not `active` it need not be called.
    """

    def __init__(self, skeleton: Skeleton, ease_s: float) -> None:
        rest = skeleton.rest_pose()
        self.root: FloatArray = rest.root.copy()
        self.rotations_xyzw: FloatArray = rest.rotations_xyzw.copy()
        self.active = False
        self._ease_s = ease_s
        self._limits = np.array([REST_S, _VELOCITY_S, BEHIND_RAD, BEHIND_M])
        self._last_root: FloatArray = np.zeros(3)
        self._last_rotations: FloatArray = np.zeros((len(skeleton), 4))
        self._velocities: FloatArray = np.zeros((len(skeleton) + 1, 3))
        self._strength = 0.0
        self._wanted = 0.0
        self._started = False

    def set_strength(self, strength: float) -> None:
        """How much to smooth from here on: 0 not at all, 1 the most."""
        self._wanted = strength
        self._started = self._started and self.active
        self.active = self._wanted > 0.0 or self._strength > 0.0

    def reset(self) -> None:
        """Forget the past: the next pose passes as it is."""
        self._started = False

    def apply(
        self, root: FloatArray, rotations_xyzw: FloatArray, dt: float, jump: bool = False
    ) -> None:
        """Take the pose that comes `dt` seconds after the last; a `jump` does not continue it."""
        step = dt / self._ease_s if self._ease_s > 0.0 else 1.0
        self._strength += min(max(self._wanted - self._strength, -step), step)
        self.active = self._wanted > 0.0 or self._strength > 0.0
        if jump or not self._started or not self.active:
            self._started = True
            self.root[:] = self._last_root[:] = root
            self.rotations_xyzw[:] = self._last_rotations[:] = rotations_xyzw
            self._velocities.fill(0.0)
        elif dt > _SHORTEST_S:
            smooth(
                self._strength,
                dt,
                self._limits,
                root,
                rotations_xyzw,
                self._last_root,
                self._last_rotations,
                self.root,
                self.rotations_xyzw,
                self._velocities,
            )
