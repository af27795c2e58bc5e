"""Feet that stand exactly where they are put, and the legs that follow them.

Pitch is the rotation about the body's left-pointing axis: positive lifts the heel, negative the
toes. A foot flat on the floor has no pitch. The sole is the line heel, ball, toe tip.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.characters.builtin.puppet import Puppet, X, Y, Z, chain, turn
from understudy.kinematics import Skeleton, rotations
from understudy.kinematics.types import FloatArray

HEEL_BEHIND_ANKLE_M = 0.05


def heel_point(skeleton: Skeleton, side: str) -> FloatArray:
    """The hindmost point of the sole (3,) m in the frame of the foot joint."""
    ball = skeleton.offsets[skeleton.index(f"{side}Toes")]
    return np.array([0.0, ball[1], -HEEL_BEHIND_ANKLE_M])


@dataclass(frozen=True, slots=True, eq=False)
class FootTrack:
    """One foot at T instants.

    `tip` (T, 3) m is where the toe tip would be with the sole parallel to the floor, `yaw_rad`
    where the foot points (0 is +Z, a quarter turn is +X); the pitches are of foot and toes in the
    world. The foot rolls about its toe tip, and about its heel where `heel_pivot` is 1; values
    """

    tip: FloatArray
    yaw_rad: FloatArray
    foot_pitch_rad: FloatArray
    toes_pitch_rad: FloatArray
    heel_pivot: FloatArray


def plant(puppet: Puppet, side: str, foot: FootTrack, knee_yaw_rad: FloatArray) -> None:
    """Pose one leg so that its foot follows the track; the knee points along `knee_yaw_rad`."""
    skeleton = puppet.skeleton
    toes = skeleton.index(f"{side}Toes")
    heading = turn(Y, foot.yaw_rad)
    foot_world = chain(heading, turn(X, foot.foot_pitch_rad))
    toes_world = chain(heading, turn(X, foot.toes_pitch_rad))
    heel_from_ball = heel_point(skeleton, side) - skeleton.offsets[toes]
    ball_from_tip = -skeleton.tips[toes]

    bent = rotations.rotate(toes_world, ball_from_tip) + rotations.rotate(
        foot_world, heel_from_ball
    )
    flat = rotations.rotate(heading, ball_from_tip + heel_from_ball)
    tip = foot.tip + foot.heel_pivot[:, None] * (flat - bent)
    ball = tip + rotations.rotate(toes_world, ball_from_tip)
    ankle = ball - rotations.rotate(foot_world, skeleton.offsets[toes])

    puppet.reach(f"{side}UpperLeg", ankle, rotations.rotate(turn(Y, knee_yaw_rad), Z))
    puppet.orient(f"{side}Foot", foot_world)
    puppet.orient(f"{side}Toes", toes_world)
