"""The built-in bodies: one builder, and the measures of an actor and six characters.

Every body stands in a T-pose with identity rotations, faces +Z with its left at +X, and has its
soles on the floor (y = 0) when the root is at its own offset. Joint names are those of the VRM 1
humanoid; bodies with a finer torso have further joints between them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from understudy.kinematics import Joint, Skeleton

TORSO_OF_THREE: Final = ("spine", "chest", "upperChest")
TORSO_OF_FIVE: Final = ("spine", "spine2", "chest", "chest2", "upperChest")


@dataclass(frozen=True, slots=True)
class Build:
    """Measures of a body in metres; lengths run from joint to joint, or from joint to tip."""

    pelvis_width: float = 0.30  # between the hip joints
    upper_leg: float = 0.46
    lower_leg: float = 0.46
    ankle_height: float = 0.07
    foot: float = 0.16  # ankle to the ball of the foot
    toes: float = 0.08
    waist: float = 0.09  # hip joints to the first torso joint
    torso: float = 0.37  # first torso joint to the neck
    neck: float = 0.08
    head: float = 0.21
    shoulder_width: float = 0.36  # between the shoulder joints
    shoulder_drop: float = 0.04  # shoulder joints below the neck joint
    upper_arm: float = 0.285
    lower_arm: float = 0.25
    hand: float = 0.18
    torso_joints: tuple[str, ...] = TORSO_OF_THREE

    def scaled(self, *, torso: float = 1.0, limbs: float = 1.0) -> Build:
        """This build with torso and limbs (hands and feet apart) longer by the factors."""
        return replace(
            self,
            waist=self.waist * torso,
            torso=self.torso * torso,
            upper_leg=self.upper_leg * limbs,
            lower_leg=self.lower_leg * limbs,
            upper_arm=self.upper_arm * limbs,
            lower_arm=self.lower_arm * limbs,
        )


ACTOR: Final = Build()
_BAT: Final = replace(ACTOR, torso_joints=TORSO_OF_FIVE)

BUILDS: Final[dict[str, Build]] = {
    "actor": ACTOR,
    "short-legs": replace(ACTOR, upper_leg=0.26, lower_leg=0.34),
    "bat-a": _BAT.scaled(torso=1.25, limbs=0.8),
    "bat-b": _BAT,
    "bat-c": _BAT.scaled(torso=0.8, limbs=1.2),
    "child": Build(
        pelvis_width=0.17,
        upper_leg=0.255,
        lower_leg=0.25,
        ankle_height=0.05,
        foot=0.10,
        toes=0.05,
        waist=0.06,
        torso=0.26,
        neck=0.05,
        head=0.20,
        shoulder_width=0.23,
        shoulder_drop=0.03,
        upper_arm=0.18,
        lower_arm=0.16,
        hand=0.12,
    ),
    "giant": Build(
        pelvis_width=0.40,
        upper_leg=0.72,
        lower_leg=0.70,
        ankle_height=0.11,
        foot=0.25,
        toes=0.12,
        waist=0.13,
        torso=0.58,
        neck=0.11,
        head=0.26,
        shoulder_width=0.62,
        shoulder_drop=0.05,
        upper_arm=0.47,
        lower_arm=0.41,
        hand=0.28,
    ),
}


def build_body(build: Build) -> Skeleton:
    """The skeleton with these measures."""
    joints = [Joint("hips", None, (0.0, build.ankle_height + build.lower_leg + build.upper_leg, 0))]
    parent, rise = "hips", build.waist
    for name in build.torso_joints:
        joints.append(Joint(name, parent, (0.0, rise, 0.0)))
        parent, rise = name, build.torso / len(build.torso_joints)
    joints.append(Joint("neck", parent, (0.0, rise, 0.0)))
    joints.append(Joint("head", "neck", (0.0, build.neck, 0.0), tip=(0.0, build.head, 0.0)))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        joints += _arm(build, side, sign, parent, rise)
        joints += _leg(build, side, sign)
    return Skeleton.build(joints)


def _arm(build: Build, side: str, sign: float, chest: str, rise: float) -> list[Joint]:
    # The collarbone starts beside the breastbone and runs level to the shoulder joint.
    inner = 0.2 * build.shoulder_width / 2.0
    outer = build.shoulder_width / 2.0 - inner
    height = rise - build.shoulder_drop
    return [
        Joint(f"{side}Shoulder", chest, (sign * inner, height, 0.0)),
        Joint(f"{side}UpperArm", f"{side}Shoulder", (sign * outer, 0.0, 0.0)),
        Joint(f"{side}LowerArm", f"{side}UpperArm", (sign * build.upper_arm, 0.0, 0.0)),
        Joint(
            f"{side}Hand",
            f"{side}LowerArm",
            (sign * build.lower_arm, 0.0, 0.0),
            tip=(sign * build.hand, 0.0, 0.0),
        ),
    ]


def _leg(build: Build, side: str, sign: float) -> list[Joint]:
    # The ball joint and the toe tip lie on the sole, so that flat toes touch the floor at y = 0.
    reach = math.sqrt(build.foot**2 - build.ankle_height**2)
    return [
        Joint(f"{side}UpperLeg", "hips", (sign * build.pelvis_width / 2.0, 0.0, 0.0)),
        Joint(f"{side}LowerLeg", f"{side}UpperLeg", (0.0, -build.upper_leg, 0.0)),
        Joint(f"{side}Foot", f"{side}LowerLeg", (0.0, -build.lower_leg, 0.0)),
        Joint(
            f"{side}Toes",
            f"{side}Foot",
            (0.0, -build.ankle_height, reach),
            tip=(0.0, 0.0, build.toes),
        ),
    ]
