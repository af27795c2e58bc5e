"""The canonical T-pose of a body: how every joint is turned when the body stands in it.

In the canonical pose a body faces +Z with its left at +X and its head at +Y, arms stretched out
sideways, legs straight down, soles flat. `K` (3, 3) is a joint's world rotation in that pose.
Because K takes a limb's own bone, as its frame sees it, to the canonical direction, limbs of two
bodies that turn by the same amount from K point the same way exactly, whatever their rest poses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.align.humanoid import FINGERS, finger_segments
from understudy.align.motion import MotionSample
from understudy.align.roles import RoleMap
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.rotations import between, matrix

X = np.array([1.0, 0.0, 0.0])
Y = np.array([0.0, 1.0, 0.0])
Z = np.array([0.0, 0.0, 1.0])

# Above this the thighs spread so far at rest that the soles follow the shins, not the floor.
_SPLAYED_RAD = np.radians(20.0)
_SHORTEST_BONE_M = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalPose:
    """`turns` (n, 3, 3): K of each joint; `known` (n,): whether the joint has one."""

    turns: FloatArray
    known: np.ndarray[tuple[int], np.dtype[np.bool_]]


def canonical_pose(
    skeleton: Skeleton, body: RoleMap, motion: MotionSample | None = None
) -> CanonicalPose:
    """The canonical pose of a body, from its rest pose."""
    return _Builder(skeleton, body).build()


class _Builder:
    """Works down the body from the trunk; each limb is carried along by what it hangs on."""

    def __init__(self, skeleton: Skeleton, body: RoleMap) -> None:
        self.skeleton = skeleton
        self.body = body
        self.tree = Tree(skeleton.parents)
        rest = MotionSample.of_rest(skeleton)
        self.points = rest.positions[0]
        self.frames = rest.rotations[0]
        n = len(skeleton)
        self.deltas = np.tile(np.eye(3), (n, 1, 1))  # canonical_from_rest in the world
        self.known = np.zeros(n, np.bool_)

    def build(self) -> CanonicalPose:
        upright = body_axes(self.points, self.body)
        for joint in (self.body.roles["hips"], *self.body.spine, *self.body.neck):
            self._set(joint, upright)
        self._set(self.body.roles["head"], upright)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            self._arm(side, sign * X, upright)
            self._leg(side, upright)
        return CanonicalPose(self.deltas @ self.frames, self.known)

    def _set(self, joint: int, delta: FloatArray) -> None:
        self.deltas[joint] = delta
        self.known[joint] = True

    def _joint(self, role: str) -> int:
        return self.body.joint(role)

    def _arm(self, side: str, outward: FloatArray, upright: FloatArray) -> None:
        delta = upright
        clavicle = self._joint(side + "Shoulder")
        if clavicle >= 0:
            self._set(clavicle, delta)
        upper, lower, hand = (self._joint(side + part) for part in ("UpperArm", "LowerArm", "Hand"))
        delta = self._straighten(upper, lower, outward, delta)
        wrist = self.points[hand] if hand >= 0 else self._end(lower)
        delta = self._aim(lower, wrist, outward, delta)
        if hand < 0:
            return
        delta = self._aim(hand, self._hand_end(side), outward, delta)
        for finger in FINGERS:
            self._finger(side, finger, outward, delta)

    def _finger(self, side: str, finger: str, outward: FloatArray, hand: FloatArray) -> None:
        joints = [self._joint(side + finger + segment) for segment in finger_segments(finger)]
        joints = [joint for joint in joints if joint >= 0]
        delta = hand
        for i, joint in enumerate(joints):
            if finger == "Thumb":  # thumbs rest at any angle to the palm: nothing to straighten
                self._set(joint, delta)
                continue
            end = self.points[joints[i + 1]] if i + 1 < len(joints) else self._end(joint)
            delta = self._aim(joint, end, outward, delta)

    def _leg(self, side: str, upright: FloatArray) -> None:
        upper, lower, foot = (self._joint(side + part) for part in ("UpperLeg", "LowerLeg", "Foot"))
        thigh = upright @ (self.points[lower] - self.points[upper])
        delta = self._straighten(upper, lower, -Y, upright)
        delta = self._straighten(lower, foot, -Y, delta)
        splay = np.arctan2(np.hypot(thigh[0], thigh[2]), -thigh[1])
        sole = delta if splay > _SPLAYED_RAD else upright
        heading = sole @ (self._toe_point(side) - self.points[foot])
        yaw = np.arctan2(heading[0], heading[2]) if np.hypot(heading[0], heading[2]) > 1e-3 else 0.0
        sole = about_y(-yaw) @ sole
        self._set(foot, sole)
        if self._joint(side + "Toes") >= 0:
            self._set(self._joint(side + "Toes"), sole)

    def _straighten(
        self, joint: int, end: int, direction: FloatArray, carried: FloatArray
    ) -> FloatArray:
        return self._aim(joint, self.points[end], direction, carried)

    def _aim(
        self, joint: int, end: FloatArray | None, direction: FloatArray, carried: FloatArray
    ) -> FloatArray:
        """Turn a carried bone by the least angle that lays it in `direction`."""
        delta = carried
        if end is not None:
            bone = carried @ (end - self.points[joint])
            if np.linalg.norm(bone) > _SHORTEST_BONE_M:
                delta = matrix(between(bone, direction)) @ carried
        self._set(joint, delta)
        return delta

    def _end(self, joint: int) -> FloatArray | None:
        """The far end of a bone without a role below it: its tip, or its only child."""
        if self.skeleton.has_tip[joint]:
            return np.asarray(self.points[joint] + self.frames[joint] @ self.skeleton.tips[joint])
        children = self.tree.children[joint]
        return self.points[children[0]] if len(children) == 1 else None

    def _hand_end(self, side: str) -> FloatArray | None:
        knuckles = [
            self.points[joint]
            for finger in FINGERS[1:]
            if (joint := self._joint(side + finger + "Proximal")) >= 0
        ]
        if knuckles:
            return np.asarray(np.mean(knuckles, axis=0))
        return self._end(self._joint(side + "Hand"))

    def _toe_point(self, side: str) -> FloatArray:
        toes = self._joint(side + "Toes")
        foot = self._joint(side + "Foot")
        end = self.points[toes] if toes >= 0 else self._end(foot)
        return self.points[foot] if end is None else end


def body_axes(points: FloatArray, body: RoleMap) -> FloatArray:
    """Rotation (3, 3) that turns a body at `points` (n, 3) upright and to face +Z.

    Up is the world axis nearest to the way from the feet to the arms.
    """
    roles = body.roles
    hips = 0.5 * (points[roles["leftUpperLeg"]] + points[roles["rightUpperLeg"]])
    arms = 0.5 * (points[roles["leftUpperArm"]] + points[roles["rightUpperArm"]])
    feet = 0.5 * (points[roles["leftFoot"]] + points[roles["rightFoot"]])
    rise = unit(arms - hips) + unit(hips - feet)
    axis = int(np.argmax(np.abs(rise)))
    up = np.zeros(3)
    up[axis] = np.sign(rise[axis])
    left = unit(points[roles["leftUpperLeg"]] - points[roles["rightUpperLeg"]]) + unit(
        points[roles["leftUpperArm"]] - points[roles["rightUpperArm"]]
    )
    left = unit(left - up * (left @ up))
    return np.stack([left, up, np.cross(left, up)])


def unit(v: FloatArray) -> FloatArray:
    """`v` (3,) at length 1, or zeros."""
    length = float(np.linalg.norm(v))
    return np.asarray(v / length if length > 0.0 else v, np.float64)


def about_y(angle_rad: float) -> FloatArray:
    """Rotation (3, 3) about +Y."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
