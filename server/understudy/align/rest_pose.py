"""The canonical T-pose of a body: how every joint is turned when the body stands in it.

In the canonical pose a body faces +Z with its left at +X and its head at +Y, arms stretched out
sideways, legs straight down, soles flat. `K` (3, 3) is a joint's world rotation in that pose.
Because K takes a limb's own bone, as its frame sees it, to the canonical direction, limbs of two
bodies that turn by the same amount from K point the same way exactly, whatever their rest poses.

What is left open is how a bone is rolled about itself. That comes from motion where there is some
(knees and elbows show their axes when they bend), and otherwise from the rest pose. Some rest
poses are no posture at all, only bones laid end to end; then the mean of the motion stands in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.align.evidence import flexion, mean_rotation, sole_normal
from understudy.align.humanoid import FINGERS, SIDES, finger_segments
from understudy.align.motion import MotionSample
from understudy.align.posture import (
    X,
    Y,
    Z,
    angle_between,
    axes_from,
    body_axes,
    bone_end,
    is_posture,
    places_of,
    toe_point,
)
from understudy.align.roles import RoleMap
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.rotations import between, exp, matrix

# Above this the thighs spread so far at rest that the soles follow the shins, not the floor.
_SPLAYED_RAD = np.radians(15.0)
# A sole seen standing is believed if it is this near to the rest pose's: a dancer's heels lift.
_SOLE_REFINED_RAD = np.radians(20.0)
# Below these the axis wandered too much to say how the bone is rolled.
_STEADY = 0.8
_STEADY_FOREARM = 0.97
_SHORTEST_BONE_M = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class CanonicalPose:
    """`turns` (n, 3, 3): K of each joint; `places` (n, 3) m: where it is then, from the root.

    `known` (n,): whether K was found; if not, the joint keeps its rest rotation to its parent.
    `from_motion`: the rest pose was no posture, and the mean of the motion was taken instead.
    `guessed`: there was no motion either; limbs point right, but may be rolled about themselves.
    """

    turns: FloatArray
    places: FloatArray
    known: np.ndarray[tuple[int], np.dtype[np.bool_]]
    from_motion: bool
    guessed: bool


def canonical_pose(
    skeleton: Skeleton, body: RoleMap, motion: MotionSample | None = None
) -> CanonicalPose:
    """The canonical pose of a body, from its rest pose and, if there is some, its motion."""
    return _Builder(skeleton, body, motion).build()


class _Builder:
    """Works down the body from the trunk; each joint is carried along by what it hangs on."""

    def __init__(self, skeleton: Skeleton, body: RoleMap, motion: MotionSample | None) -> None:
        self.skeleton = skeleton
        self.body = body
        self.motion = motion
        self.tree = Tree(skeleton.parents)
        self.rest = MotionSample.of_rest(skeleton)
        self.points = self.rest.positions[0]
        self.frames = self.rest.rotations[0]
        posture = is_posture(self.points, body)
        self.from_motion = motion is not None and not posture
        self.guessed = motion is None and not posture
        # How joints are turned to each other where nothing better is known.
        self.reference = motion if motion is not None and self.from_motion else self.rest
        n = len(skeleton)
        self.turns = np.tile(np.eye(3), (n, 1, 1))
        self.plain = self.turns.copy()  # the same before hinges had their say
        self.known = np.zeros(n, np.bool_)
        self.stood: set[int] = set()  # the feet whose soles were seen on the floor

    def build(self) -> CanonicalPose:
        if self.from_motion:
            self._trunk_from_bones()
        else:
            self._trunk_from_rest()
        for side, outward in (("left", X), ("right", -X)):
            self._arm(side, outward)
            self._leg(side)
        if self.from_motion:
            self._match_feet()
        for joint, parent in enumerate(self.skeleton.parents):
            if not self.known[joint]:
                local = matrix(self.skeleton.rest_xyzw[joint])
                self.turns[joint] = local if parent < 0 else self.turns[parent] @ local
        places = places_of(self.skeleton, self.turns)
        return CanonicalPose(self.turns, places, self.known, self.from_motion, self.guessed)

    # -- trunk ---------------------------------------------------------------------------------

    def _trunk_from_rest(self) -> None:
        upright = body_axes(self.points, self.body)
        hips = self.body.roles["hips"]
        for joint in (hips, *self.body.spine, *self.body.neck, self.body.roles["head"]):
            self._set(joint, upright @ self.frames[joint])
        across = self._leg_line(hips)
        self._set(hips, axes_from(across, self.frames[hips].T @ upright[1], first="x"))

    def _trunk_from_bones(self) -> None:
        """Hips and chest by the rigid triangles of their bones, the rest by its mean turn."""
        hips, chest, head = self.body.roles["hips"], self.body.spine[-1], self.body.roles["head"]
        first = self.body.spine[0]
        self._set(hips, axes_from(self._leg_line(hips), self._offset(hips, first), first="x"))
        shoulders = "Shoulder" if self._apart("Shoulder") else "UpperArm"
        above = self.body.neck[0] if self.body.neck else head
        self._set(
            chest,
            axes_from(
                self._local(chest, self._across(shoulders)), self._offset(chest, above), first="x"
            ),
        )
        lateral = self.reference.rotations[:, hips] @ self.turns[hips].T @ X
        for joint, after in zip(self.body.spine[:-1], self.body.spine[1:], strict=True):
            across = np.einsum("tji,tj->i", self.reference.rotations[:, joint], lateral)
            self._set(joint, axes_from(across, self._offset(joint, after), first="y"))
        parent = chest
        for joint in (*self.body.neck, head):
            self._set(joint, self._carried(joint, parent))
            parent = joint

    def _leg_line(self, hips: int) -> FloatArray:
        """From the right to the left upper leg in the hips' frame (3,), its mean if it moves."""
        seen = self.rest if self.motion is None else self.motion
        left, right = self._joint("leftUpperLeg"), self._joint("rightUpperLeg")
        across = seen.positions[:, left] - seen.positions[:, right]
        return np.asarray(np.einsum("tji,tj->i", seen.rotations[:, hips], across) / len(seen))

    def _across(self, part: str) -> FloatArray:
        left, right = self._joint("left" + part), self._joint("right" + part)
        return np.asarray(self.points[left] - self.points[right])

    def _apart(self, part: str) -> bool:
        """Whether both joints exist, at some distance from each other."""
        left, right = self._joint("left" + part), self._joint("right" + part)
        return left >= 0 and right >= 0 and bool(np.linalg.norm(self._across(part)) > 1e-3)

    # -- limbs ---------------------------------------------------------------------------------

    def _arm(self, side: str, outward: FloatArray) -> None:
        chest = self.body.spine[-1]
        parent = chest
        clavicle = self._joint(side + "Shoulder")
        if clavicle >= 0:
            self._set(clavicle, self._carried(clavicle, chest))
            parent = clavicle
        upper, lower, hand = (self._joint(side + part) for part in ("UpperArm", "LowerArm", "Hand"))
        wrist = self._offset(lower, hand) if hand >= 0 else self._end(lower)
        self._aim(upper, parent, self._offset(upper, lower), outward)
        self._aim(lower, upper, wrist, outward)
        if hand < 0:
            return
        # Elbows bend the left arm about -Y, the right one about +Y: both forward.
        self._roll(upper, lower, hand, outward, np.cross(outward, Z), _STEADY_FOREARM)
        self._hand(side, lower, hand, outward)
        for finger in FINGERS:
            self._finger(side, finger, hand, outward)

    def _hand(self, side: str, lower: int, hand: int, outward: FloatArray) -> None:
        """Fingers show how a hand is rolled: with the palm down the index is the foremost."""
        knuckles = {
            finger: self._offset(hand, joint)
            for finger in FINGERS[1:]
            if (joint := self._joint(side + finger + "Proximal")) >= 0
        }
        if len(knuckles) >= 2:
            order = [finger for finger in FINGERS[1:] if finger in knuckles]
            forward = knuckles[order[0]] - knuckles[order[-1]]
            tip = np.mean(list(knuckles.values()), axis=0)
            if np.linalg.norm(np.cross(tip, forward)) > _SHORTEST_BONE_M**2:
                sign = outward[0]
                self._set(hand, axes_from(sign * tip, None, first="x", forward=forward))
                return
        tip = next(iter(knuckles.values())) if knuckles else self._end(hand)
        self._aim(hand, lower, tip, outward, plain=not self.from_motion)

    def _finger(self, side: str, finger: str, hand: int, outward: FloatArray) -> None:
        joints = [self._joint(side + finger + segment) for segment in finger_segments(finger)]
        parent = hand
        for joint, after in zip(joints, [*joints[1:], -1], strict=True):
            if joint < 0:
                continue
            if finger == "Thumb":  # thumbs rest at any angle to the palm: nothing to straighten
                self._set(joint, self._carried(joint, parent))
            else:
                end = self._offset(joint, after) if after >= 0 else self._end(joint)
                self._aim(joint, parent, end, outward)
            parent = joint

    def _leg(self, side: str) -> None:
        hips = self.body.roles["hips"]
        upper, lower, foot = (self._joint(side + part) for part in ("UpperLeg", "LowerLeg", "Foot"))
        self._aim(upper, hips, self._offset(upper, lower), -Y)
        self._aim(lower, upper, self._offset(lower, foot), -Y)
        self._roll(upper, lower, foot, -Y, X, _STEADY)
        carried = self._carried(foot, lower, plain=not self.from_motion)
        normal = self._sole(upper, lower, foot, carried)
        toe = self._toe(side, normal)
        forward = carried.T @ Z if toe is None else toe
        self._set_foot(side, axes_from(None, normal, first="y", forward=forward))

    def _match_feet(self) -> None:
        """Pitch a foot that was not seen to stand until its toe is as low as the other one's.

        How a foot is turned to its shin on the mean says little about its sole; feet are alike.
        """
        slopes = {}
        for side in SIDES:
            turn = self.turns[self._joint(side + "Foot")]
            toe = self._toe(side, turn[1])
            if toe is None:
                return
            _, rise, ahead = turn @ toe
            slopes[side] = np.arctan2(-rise, ahead)
        for side, other in (SIDES, SIDES[::-1]):
            foot = self._joint(side + "Foot")
            if foot not in self.stood and self._joint(other + "Foot") in self.stood:
                pitch = matrix(exp((slopes[other] - slopes[side]) * X))
                self._set_foot(side, pitch @ self.turns[foot])

    def _set_foot(self, side: str, turn: FloatArray) -> None:
        foot, toes = self._joint(side + "Foot"), self._joint(side + "Toes")
        self._set(foot, turn)
        if toes >= 0:
            self._set(toes, self._carried(toes, foot))

    def _toe(self, side: str, normal: FloatArray) -> FloatArray | None:
        foot, toes = self._joint(side + "Foot"), self._joint(side + "Toes")
        return toe_point(self.skeleton, self.rest, foot, toes, normal)

    def _sole(self, upper: int, lower: int, foot: int, carried: FloatArray) -> FloatArray:
        """The direction (3,) in the foot's frame that points up while the foot stands flat."""
        shin_carried = np.asarray(carried.T @ Y)
        length = float(
            np.linalg.norm(self.points[lower] - self.points[upper])
            + np.linalg.norm(self.points[foot] - self.points[lower])
        )
        normal = shin_carried
        if not self.from_motion:
            up = body_axes(self.points, self.body)[1]
            thigh = self.points[lower] - self.points[upper]
            if angle_between(thigh, -up) <= _SPLAYED_RAD:
                normal = np.asarray(self.frames[foot].T @ up)
        seen = None if self.motion is None else sole_normal(self.motion, foot, length, normal)
        if seen is None:
            return normal
        self.stood.add(foot)
        if self.from_motion or angle_between(seen, normal) < _SOLE_REFINED_RAD:
            return seen
        return normal

    def _roll(
        self,
        upper: int,
        lower: int,
        end: int,
        bone: FloatArray,
        axis: FloatArray,
        steady_lower: float,
    ) -> None:
        """Roll both bones of a limb so that its hinge bends about the canonical `axis`."""
        seen = None if self.motion is None else flexion(self.motion, upper, lower, end)
        if seen is None:
            return
        for joint, local, steady in (
            (upper, seen.upper, _STEADY),
            (lower, seen.lower, steady_lower),
        ):
            if np.linalg.norm(local) > steady:
                now = self.turns[joint] @ local
                now -= bone * (now @ bone)
                self.turns[joint] = matrix(between(now, axis)) @ self.turns[joint]

    # -- single joints -------------------------------------------------------------------------

    def _joint(self, role: str) -> int:
        return self.body.joint(role)

    def _set(self, joint: int, turn: FloatArray) -> None:
        self.turns[joint] = turn
        self.plain[joint] = turn
        self.known[joint] = True

    def _carried(self, joint: int, parent: int, plain: bool = False) -> FloatArray:
        """K of a joint that is turned to its parent as the reference has it."""
        above = self.plain[parent] if plain else self.turns[parent]
        relative = (
            np.swapaxes(self.reference.rotations[:, parent], 1, 2)
            @ self.reference.rotations[:, joint]
        )
        return np.asarray(above @ mean_rotation(relative))

    def _aim(
        self,
        joint: int,
        parent: int,
        end: FloatArray | None,
        direction: FloatArray,
        plain: bool = True,
    ) -> None:
        """Carry a joint, then turn it by the least angle that lays its bone in `direction`."""
        turn = self._carried(joint, parent, plain)
        if end is not None and np.linalg.norm(end) > _SHORTEST_BONE_M:
            turn = matrix(between(turn @ end, direction)) @ turn
        self._set(joint, turn)

    def _local(self, joint: int, vector: FloatArray) -> FloatArray:
        return np.asarray(self.frames[joint].T @ vector)

    def _offset(self, joint: int, other: int) -> FloatArray:
        """The way from one joint to another in the frame of the first, at rest (3,) m."""
        return self._local(joint, self.points[other] - self.points[joint])

    def _end(self, joint: int) -> FloatArray | None:
        return bone_end(self.skeleton, joint)
