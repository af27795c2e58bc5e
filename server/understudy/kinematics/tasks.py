"""What a character is asked to do in one frame: the seam between alignment and the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from understudy.kinematics.rotations import IDENTITY_XYZW
from understudy.kinematics.skeleton import Skeleton
from understudy.kinematics.types import FloatArray

NO_BASE: Final = -1

Orientation = Literal["free", "rows", "exact"]


@dataclass(frozen=True, slots=True, eq=False)
class Effector:
    """A body point of the character that is given a goal in every frame.

    `joint` carries the point. `axes` says which coordinates of the goal count, in axes turned by
    `world_from_axes_xyzw` (the pelvis of a walk is held in x and z only). `orientation` is `free`,
    `rows` (three more equations, solved with the others) or `exact` (the joint's own rotation is
    set so that its orientation in the world is the goal's, which costs no equation; it needs a
    ball joint). `softness_m2` is the squared length by which a conflict may pull the point away
    from its goal for one radian of joint motion: 1e-6 is firm, 1e-2 yields.
    """

    name: str
    joint: int
    axes: tuple[bool, bool, bool] = (True, True, True)
    world_from_axes_xyzw: FloatArray = field(default_factory=lambda: IDENTITY_XYZW)
    orientation: Orientation = "free"
    softness_m2: float = 1e-6


class Targets:
    """One frame's goals for a character; allocated once and overwritten in every frame.

    For n joints, k effectors and c contact points: `root` (3,) m, where the root joint should be;
    `rotations_xyzw` (n, 4), the performer's posture in the character's axes; `points` (k, 3) m,
    the effectors' points in their joints' frames; `positions` (k, 3) m and `orientations_xyzw`
    (k, 4), their goals in the world; `strengths` (k,) from 0 (ignored) to 1; `planted` (k,) from 0
    (in the air) to 1 (at rest against the world, where a point must not slide however soft the
    solver is to goals); `contacts` (c,) from 0 (free) to 1 (planted).

    The named arrays are views of `head` and `goals`, which the compiled code takes whole: a call
    pays for each array it is given.
    """

    __slots__ = (
        "contacts",
        "goals",
        "head",
        "orientations_xyzw",
        "planted",
        "points",
        "positions",
        "root",
        "rotations_xyzw",
        "strengths",
    )

    def __init__(self, joint_count: int, effector_count: int, contact_count: int = 0) -> None:
        self.head: FloatArray = np.zeros(6)
        self.goals: FloatArray = np.zeros((effector_count, 12))
        self.rotations_xyzw: FloatArray = np.tile(IDENTITY_XYZW, (joint_count, 1))
        self.contacts: FloatArray = np.zeros(contact_count)
        self.root: FloatArray = self.head[0:3]
        self.points: FloatArray = self.goals[:, 0:3]
        self.positions: FloatArray = self.goals[:, 3:6]
        self.orientations_xyzw: FloatArray = self.goals[:, 6:10]
        self.strengths: FloatArray = self.goals[:, 10]
        self.planted: FloatArray = self.goals[:, 11]
        self.orientations_xyzw[:] = IDENTITY_XYZW
        self.strengths[:] = 1.0
        self.base = NO_BASE
        self.jump = True

    @classmethod
    def allocate(
        cls, skeleton: Skeleton, effectors: Sequence[Effector], contact_count: int = 0
    ) -> Targets:
        """Targets at the rest pose, goals at the world's origin, effectors at full strength."""
        targets = cls(len(skeleton), len(effectors), contact_count)
        rest = skeleton.rest_pose()
        targets.root[:] = rest.root
        targets.rotations_xyzw[:] = rest.rotations_xyzw
        return targets

    def copy(self) -> Targets:
        """The same goals in arrays of their own."""
        other = Targets(len(self.rotations_xyzw), len(self.goals), len(self.contacts))
        other.head[:] = self.head
        other.goals[:] = self.goals
        other.rotations_xyzw[:] = self.rotations_xyzw
        other.contacts[:] = self.contacts
        return other

    @property
    def base(self) -> int:
        """The effector held to its goal by moving the whole body, or NO_BASE."""
        return int(self.head[3])

    @base.setter
    def base(self, effector: int) -> None:
        self.head[3] = effector

    @property
    def base_hold(self) -> float:
        """How much of the base's error is taken away by moving the body, 0 to 1."""
        return float(self.head[4])

    @base_hold.setter
    def base_hold(self, hold: float) -> None:
        self.head[4] = hold

    @property
    def jump(self) -> bool:
        """Whether this frame does not continue the last: no velocity may be read from the two."""
        return bool(self.head[5])

    @jump.setter
    def jump(self, jump: bool) -> None:
        self.head[5] = jump
