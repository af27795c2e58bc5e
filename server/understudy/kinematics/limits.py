"""How far the joints of a body may turn: swing about two axes across the bone, twist along it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.kinematics import rotations
from understudy.kinematics.skeleton import HINGE, Skeleton
from understudy.kinematics.types import FloatArray

# A wider twist is no limit: its half-angle tangent runs away near a half turn.
FREE_RANGE_RAD: Final = math.radians(260.0)

# A hinge swings nowhere; the slack keeps rounding from counting as a limit.
_HINGE_SLACK_RAD: Final = np.array([0.01, 0.01])


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Ranges of the joints of one skeleton.

    For n joints: `limited` (n,) says where there is a limit; `centre_xyzw` (n, 4) is the
    parent_from_joint rotation the ranges count from; `basis` (n, 3, 3) has the rows e1, e2 (swing
    axes) and a (twist axis) in the joint's frame; `low_rad` and `high_rad` (n, 3) are the ranges
    about e1, e2 and a.
    """

    limited: np.ndarray[tuple[int], np.dtype[np.bool_]]
    centre_xyzw: FloatArray
    basis: FloatArray
    low_rad: FloatArray
    high_rad: FloatArray

    @classmethod
    def none(cls, skeleton: Skeleton) -> JointLimits:
        """No limit but those of the hinges."""
        n = len(skeleton)
        limits = cls(
            limited=np.zeros(n, np.bool_),
            centre_xyzw=skeleton.rest_xyzw.copy(),
            basis=np.tile(np.eye(3), (n, 1, 1)),
            low_rad=np.full((n, 3), -math.pi),
            high_rad=np.full((n, 3), math.pi),
        )
        for j in np.flatnonzero(skeleton.kinds == HINGE):
            low, high = skeleton.limits_rad[j]
            if high - low < FREE_RANGE_RAD:
                limits.set(
                    int(j),
                    centre_xyzw=rotations.multiply(
                        skeleton.rest_xyzw[j],
                        rotations.exp(0.5 * (low + high) * skeleton.axes[j]),
                    ),
                    twist_axis=skeleton.axes[j],
                    low_rad=np.array([*-_HINGE_SLACK_RAD, 0.5 * (low - high)]),
                    high_rad=np.array([*_HINGE_SLACK_RAD, 0.5 * (high - low)]),
                )
        return limits

    @classmethod
    def around_motion(
        cls, skeleton: Skeleton, rotations_xyzw: FloatArray, margin_rad: float
    ) -> JointLimits:
        """The range each joint goes through in a motion (T, n, 4), widened by a margin.

        The centre of a range is the joint's mean rotation, the twist axis its bone (the offset of
        its farthest child, or its tip). A hinge stays on its axis and inside its own limits.
        """
        limits = cls.none(skeleton)
        for j in range(1, len(skeleton)):
            track = rotations_xyzw[:, j]
            mean = rotations.normalise(np.sum(rotations.align_sign(track, track[:1]), axis=0))
            hinge = skeleton.kinds[j] == HINGE
            limits.set(
                j,
                centre_xyzw=mean,
                twist_axis=skeleton.axes[j] if hinge else bone_axis(skeleton, j),
                low_rad=np.zeros(3),
                high_rad=np.zeros(3),
            )
            angles = limits.angles(j, track)
            low, high = angles.min(axis=0) - margin_rad, angles.max(axis=0) + margin_rad
            if hinge:
                from_rest = rotations.log(
                    rotations.multiply(rotations.conjugate(skeleton.rest_xyzw[j]), mean)
                )
                own = skeleton.limits_rad[j] - from_rest @ skeleton.axes[j]
                low = np.array([*-_HINGE_SLACK_RAD, max(low[2], own[0])])
                high = np.array([*_HINGE_SLACK_RAD, min(high[2], own[1])])
            limits.low_rad[j] = low
            limits.high_rad[j] = high
        return limits

    def set(
        self,
        joint: int,
        *,
        centre_xyzw: FloatArray,
        twist_axis: FloatArray,
        low_rad: FloatArray,
        high_rad: FloatArray,
        swing_axis: FloatArray | None = None,
    ) -> None:
        """Limit one joint; e1 is the swing axis, or some axis across the twist axis."""
        a = twist_axis / np.linalg.norm(twist_axis)
        if swing_axis is None:
            e1 = np.cross(np.eye(3)[int(np.argmin(np.abs(a)))], a)
        else:
            e1 = swing_axis - a * (a @ swing_axis)
        e1 /= np.linalg.norm(e1)
        self.limited[joint] = True
        self.centre_xyzw[joint] = centre_xyzw
        self.basis[joint] = np.stack([e1, np.cross(a, e1), a])
        self.low_rad[joint] = low_rad
        self.high_rad[joint] = high_rad

    def angles(self, joint: int, rotations_xyzw: FloatArray) -> FloatArray:
        """Swing about e1 and e2 and twist about a, rad, of local rotations (..., 4)."""
        r = rotations.multiply(rotations.conjugate(self.centre_xyzw[joint]), rotations_xyzw)
        r = np.where(r[..., 3:] < 0.0, -r, r)
        v = r[..., :3] @ self.basis[joint].T
        w = r[..., 3]
        n = np.maximum(np.hypot(w, v[..., 2]), 1e-12)
        s1 = (v[..., 0] * w - v[..., 1] * v[..., 2]) / n
        s2 = (v[..., 1] * w + v[..., 0] * v[..., 2]) / n
        return np.stack(
            [
                2.0 * np.arcsin(np.clip(s1, -1.0, 1.0)),
                2.0 * np.arcsin(np.clip(s2, -1.0, 1.0)),
                2.0 * np.arctan2(v[..., 2], w),
            ],
            axis=-1,
        )

    def excess_rad(self, rotations_xyzw: FloatArray) -> FloatArray:
        """How far each joint of poses (..., n, 4) is beyond its range, rad; 0 inside."""
        out = np.zeros(rotations_xyzw.shape[:-1])
        for j in np.flatnonzero(self.limited):
            angles = self.angles(int(j), rotations_xyzw[..., j, :])
            beyond = np.maximum(angles - self.high_rad[j], self.low_rad[j] - angles)
            out[..., j] = np.max(np.maximum(beyond, 0.0), axis=-1)
        return out


def bone_axis(skeleton: Skeleton, joint: int) -> FloatArray:
    """The direction of a joint's bone in its own frame: to its farthest child, or to its tip."""
    ends = [skeleton.offsets[c] for c in skeleton.children(joint)]
    if skeleton.has_tip[joint]:
        ends.append(skeleton.tips[joint])
    lengths = [float(np.linalg.norm(end)) for end in ends]
    if not lengths or max(lengths) < 1e-6:
        return np.array([0.0, 1.0, 0.0])
    best = int(np.argmax(lengths))
    return np.asarray(ends[best] / lengths[best], np.float64)
