"""What a character is asked to do in one frame: the seam between alignment and the solvers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from understudy.kinematics.rotations import IDENTITY_XYZW
from understudy.kinematics.skeleton import Skeleton
from understudy.kinematics.types import FloatArray, IntArray

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
    world_from_axes_xyzw: FloatArray = IDENTITY_XYZW
    orientation: Orientation = "free"
    softness_m2: float = 1e-6


@dataclass(slots=True, eq=False)
class Targets:
    """One frame's goals for a character; allocated once and overwritten in every frame.

    For n joints, k effectors and c contact points: `root` (3,) m, where the root joint should be;
    `rotations_xyzw` (n, 4), the performer's posture in the character's axes; `points` (k, 3) m,
    the effectors' points in their joints' frames; `positions` (k, 3) m and `orientations_xyzw`
    (k, 4), their goals in the world; `strengths` (k,) from 0 (ignored) to 1; `contacts` (c,) from 0
    (free) to 1 (planted); `base` (1,), the effector that is held to its goal exactly by moving the
    whole body, or NO_BASE; `base_hold` (1,), how much of that is done, 0 to 1; `jump` (1,), 1 when
    this frame does not continue the last one, so that no velocity may be read from the difference.
    """

    root: FloatArray
    rotations_xyzw: FloatArray
    points: FloatArray
    positions: FloatArray
    orientations_xyzw: FloatArray
    strengths: FloatArray
    contacts: FloatArray
    base: IntArray
    base_hold: FloatArray
    jump: IntArray

    @classmethod
    def allocate(
        cls, skeleton: Skeleton, effectors: Sequence[Effector], contact_count: int = 0
    ) -> Targets:
        """Targets at the rest pose: goals at the world's origin, every effector at full strength."""
        count = len(effectors)
        rest = skeleton.rest_pose()
        return cls(
            root=rest.root,
            rotations_xyzw=rest.rotations_xyzw,
            points=np.zeros((count, 3)),
            positions=np.zeros((count, 3)),
            orientations_xyzw=np.tile(IDENTITY_XYZW, (count, 1)),
            strengths=np.ones(count),
            contacts=np.zeros(contact_count),
            base=np.full(1, NO_BASE, np.int64),
            base_hold=np.zeros(1),
            jump=np.ones(1, np.int64),
        )
