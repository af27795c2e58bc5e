"""Lengths, heights and contact points of a body: what makes two bodies of one posture differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.align.evidence import planted_height
from understudy.align.humanoid import FINGERS, SIDES
from understudy.align.motion import MotionSample
from understudy.align.posture import Y, bone_end, toe_point
from understudy.align.rest_pose import CanonicalPose
from understudy.align.roles import RoleMap
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, IntArray, Skeleton

# A rest pose whose lowest joint is within these parts of a leg above or below y = 0 stands there.
_STANDS_WITHIN = 0.15
_SUNK = 0.02
# Parts of a leg: how high a toe's joint lies above the sole, and the highest ankle that is one.
_TOE_JOINT_HEIGHT = 0.04
_HIGHEST_ANKLE = 0.25
# Parts of a leg: how far ahead of the ankle the toes of a foot begin that has no joint there.
_TOES_AHEAD = 0.16


@dataclass(frozen=True, slots=True, eq=False)
class Proportions:
    """Limbs of one body; arrays have a row for the left and one for the right, -1 = no such joint.

    Joints: `upper_arms`, `lower_arms`, `hands`, `upper_legs`, `lower_legs`, `feet`, `toes` (2,),
    and `hips`. Points in m: `palms` (2, 3) in the hands' frames (in the forearms' without hands);
    `toe_points` and `heel_points` (2, 3) in the feet's frames, the heel below the ankle at floor
    height; `leg_offsets` (2, 3), the upper-leg joints in the frame of the hips.
    Lengths in m: `arm_bones` (2, 2), upper arm and forearm of each side; `leg_bones` (2, 2), thigh
    and shin, and `leg_length`, the mean of their sums; `ankle_height`, how high an
    ankle is above the floor while its foot stands, and `floor`, the height of that floor in the
    world the body moves in.
    """

    hips: int
    upper_arms: IntArray
    lower_arms: IntArray
    hands: IntArray
    upper_legs: IntArray
    lower_legs: IntArray
    feet: IntArray
    toes: IntArray
    palms: FloatArray
    toe_points: FloatArray
    heel_points: FloatArray
    leg_offsets: FloatArray
    arm_bones: FloatArray
    leg_bones: FloatArray
    leg_length: float
    ankle_height: float
    floor: float

    @property
    def arm_lengths(self) -> FloatArray:
        """Both arms' lengths (2,) m."""
        return np.asarray(self.arm_bones.sum(axis=1))

    @property
    def legs(self) -> IntArray:
        """Upper leg, lower leg and foot of both sides (2, 3)."""
        return np.stack([self.upper_legs, self.lower_legs, self.feet], axis=1)


def measure(
    skeleton: Skeleton,
    body: RoleMap,
    canonical: CanonicalPose,
    *,
    motion: MotionSample | None = None,
    rest_floor: float | None = None,
) -> Proportions:
    """Measure a body.

    `motion` shows how high its ankles are while its feet stand. Without any, `rest_floor` (m) is
    the height of what it stands on in its rest pose; unsaid, that is y = 0 for a body that rests
    about there. Of any other body only the toes tell how high its ankles are.
    """
    return _Tape(skeleton, body, canonical).measure(motion, rest_floor)


class _Tape:
    def __init__(self, skeleton: Skeleton, body: RoleMap, canonical: CanonicalPose) -> None:
        rest = MotionSample.of_rest(skeleton)
        self.rest = rest
        self.skeleton = skeleton
        self.body = body
        self.canonical = canonical
        self.tree = Tree(skeleton.parents)
        self.points = rest.positions[0]
        self.frames = rest.rotations[0]

    def measure(self, motion: MotionSample | None, rest_floor: float | None) -> Proportions:
        hips = self.body.roles["hips"]
        upper_arms, lower_arms, hands = map(self._pair, ("UpperArm", "LowerArm", "Hand"))
        upper_legs, lower_legs, feet = map(self._pair, ("UpperLeg", "LowerLeg", "Foot"))
        toes = self._pair("Toes")
        wrists = np.array([self._wrist(side) for side in SIDES])
        bones = [self._length(upper_legs, lower_legs), self._length(lower_legs, feet)]
        leg_bones = np.ascontiguousarray(np.stack(bones, axis=1))
        upper = np.linalg.norm(self.points[lower_arms] - self.points[upper_arms], axis=1)
        lower = np.linalg.norm(wrists - self.points[lower_arms], axis=1)
        leg_length = float(leg_bones.sum(axis=1).mean())
        toe_points = np.array([self._toe_point(side, leg_length) for side in SIDES])
        height = self._ankle_height(feet, toe_points, leg_length, rest_floor)
        soles = np.einsum("fji,j->fi", self.canonical.turns[feet], Y)
        planted = None if motion is None else planted_height(motion, feet, leg_length, soles)
        floor = 0.0
        if planted is not None and 0.0 < planted < _HIGHEST_ANKLE * leg_length:
            height = planted
        elif planted is not None:
            floor = planted - height  # the performer's floor is not where the world has its own
        heel_points = -height * soles
        assumed = [self._toe(side) is None for side in SIDES]
        toe_points[assumed] += heel_points[assumed]
        return Proportions(
            hips=hips,
            upper_arms=upper_arms,
            lower_arms=lower_arms,
            hands=hands,
            upper_legs=upper_legs,
            lower_legs=lower_legs,
            feet=feet,
            toes=toes,
            palms=np.array([self._palm(side) for side in SIDES]),
            toe_points=toe_points,
            heel_points=heel_points,
            leg_offsets=(self.points[upper_legs] - self.points[hips]) @ self.frames[hips],
            arm_bones=np.ascontiguousarray(np.stack([upper, lower], axis=1)),
            leg_bones=leg_bones,
            leg_length=leg_length,
            ankle_height=height,
            floor=floor,
        )

    def _pair(self, part: str) -> IntArray:
        return np.array([self.body.joint(side + part) for side in SIDES], np.int64)

    def _length(self, upper: IntArray, lower: IntArray) -> FloatArray:
        return np.asarray(np.linalg.norm(self.points[lower] - self.points[upper], axis=1))

    def _wrist(self, side: str) -> FloatArray:
        hand = self.body.joint(side + "Hand")
        if hand >= 0:
            return np.asarray(self.points[hand])
        lower = self.body.joint(side + "LowerArm")
        end = bone_end(self.skeleton, lower)
        reach = np.zeros(3) if end is None else end
        return np.asarray(self.points[lower] + self.frames[lower] @ reach)

    def _palm(self, side: str) -> FloatArray:
        """Half way to the knuckles, or to whatever ends the hand; the wrist where nothing does."""
        hand = self.body.joint(side + "Hand")
        if hand < 0:
            lower = self.body.joint(side + "LowerArm")
            return np.asarray(self.frames[lower].T @ (self._wrist(side) - self.points[lower]))
        knuckles = [
            self.points[joint]
            for finger in FINGERS[1:]
            if (joint := self.body.joint(side + finger + "Proximal")) >= 0
        ]
        if knuckles:
            end = self.frames[hand].T @ (np.mean(knuckles, axis=0) - self.points[hand])
        else:
            found = bone_end(self.skeleton, hand)
            end = np.zeros(3) if found is None else found
        return np.asarray(0.5 * end)

    def _toe_point(self, side: str, leg_length: float) -> FloatArray:
        """The toe in the foot's frame; where a human has it if nothing is ahead of the ankle."""
        toe = self._toe(side)
        if toe is not None:
            return toe
        return np.asarray(_TOES_AHEAD * leg_length * self.canonical.turns[self._foot(side), 2])

    def _foot(self, side: str) -> int:
        return self.body.joint(side + "Foot")

    def _toe(self, side: str) -> FloatArray | None:
        foot = self._foot(side)
        normal = self.canonical.turns[foot, 1]
        return toe_point(self.skeleton, self.rest, foot, self.body.joint(side + "Toes"), normal)

    def _ankle_height(
        self, feet: IntArray, toe_points: FloatArray, leg_length: float, floor: float | None
    ) -> float:
        ankle = float(self.points[feet, 1].mean())
        lowest = min(float(self.points[joint, 1]) for joint in self._below(feet))
        if floor is None and -_SUNK * leg_length <= lowest <= _STANDS_WITHIN * leg_length:
            floor = 0.0
        if floor is not None and ankle > floor:
            return ankle - floor
        drops = [
            -float(self.canonical.turns[foot, 1] @ point)
            for foot, toe in zip(feet, toe_points, strict=True)
            for point in (toe, self._sole_end(int(foot)))
        ]
        return max(0.0, *drops) + _TOE_JOINT_HEIGHT * leg_length

    def _below(self, feet: IntArray) -> list[int]:
        return [joint for foot in feet for joint in (int(foot), *self.tree.below(int(foot)))]

    def _sole_end(self, foot: int) -> FloatArray:
        """The far end of the last bone of a foot, in the foot's frame (3,) m."""
        last = foot
        while self.tree.children[last]:
            last = self.tree.children[last][0]
        tip = self.points[last] + self.frames[last] @ self.skeleton.tips[last]
        return np.asarray(self.frames[foot].T @ (tip - self.points[foot]))
