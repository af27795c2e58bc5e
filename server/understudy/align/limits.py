"""Ranges known in anatomical axes, brought into the axes of a character's own joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from understudy.align.rest_pose import canonical_pose
from understudy.align.roles import RoleMap
from understudy.kinematics import BALL, FloatArray, Skeleton
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.rotations import from_matrix


class AnatomicalRange(Protocol):
    """How far a joint may turn from the canonical T-pose.

    The rows of `axes` (3, 3) are two swing axes and the twist axis in the canonical T-pose,
    `low_rad` and `high_rad` (3,) the ranges about them.
    """

    @property
    def axes(self) -> FloatArray:
        """Rows: swing, swing, twist."""

    @property
    def low_rad(self) -> FloatArray:
        """Lower bounds."""

    @property
    def high_rad(self) -> FloatArray:
        """Upper bounds."""


def anatomical_limits(
    skeleton: Skeleton, body: RoleMap, ranges: Callable[[str], AnatomicalRange | None]
) -> JointLimits:
    """Limits of every ball joint that plays a role with a range; hinges keep their own."""
    limits = JointLimits.none(skeleton)
    pose = canonical_pose(skeleton, body)
    for role, joint in body.roles.items():
        found = ranges(role)
        parent = int(skeleton.parents[joint])
        if found is None or parent < 0 or skeleton.kinds[joint] != BALL or not pose.known[joint]:
            continue
        limits.set(
            joint,
            centre_xyzw=from_matrix(pose.turns[parent].T @ pose.turns[joint]),
            twist_axis=pose.turns[joint].T @ found.axes[2],
            swing_axis=pose.turns[joint].T @ found.axes[0],
            low_rad=found.low_rad,
            high_rad=found.high_rad,
        )
    return limits
