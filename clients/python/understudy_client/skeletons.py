"""Building the skeleton a performer announces from plain lists."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy_protocol import BALL, Marker, SkeletonMessage, with_skeleton_id


def make_skeleton(
    joints: Sequence[str],
    parents: Sequence[int],
    offsets: ArrayLike,
    *,
    rest_xyzw: ArrayLike | None = None,
    tips: ArrayLike | None = None,
    markers: Sequence[Marker] = (),
) -> SkeletonMessage:
    """A body of n ball joints, parents first, under the id that belongs to it.

    `parents` (n,) are joint numbers, -1 for the root; `offsets` (n, 3) m lie in the parent's frame;
    `rest_xyzw` (n, 4) are parent_from_joint at rest, no rotation unless given; `tips` (n, 3) m end
    the leaf bones in their joint's frame. A `ProtocolError` names what is wrong with them.
    """
    n = len(joints)
    rest = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1)) if rest_xyzw is None else rest_xyzw
    return with_skeleton_id(
        SkeletonMessage(
            id=0,
            joints=tuple(joints),
            parents=np.asarray(parents, np.int64),
            offsets=np.asarray(offsets, np.float64),
            rest_xyzw=np.asarray(rest, np.float64),
            kinds=np.full(n, BALL, np.int64),
            tips=None if tips is None else np.asarray(tips, np.float64),
            markers=tuple(markers),
        )
    )
