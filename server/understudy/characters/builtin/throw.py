"""An overarm throw by a right-hander towards +Z: wind-up, stride, arm cocking, release, recovery.

The left foot strides; the right foot stands until the ball is gone, heel rising about a toe tip
that stays where it is, and then steps up beside the left one.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.characters.builtin.bodies import ACTOR, build_body
from understudy.characters.builtin.curves import Track
from understudy.characters.builtin.feet import FootTrack, plant
from understudy.characters.builtin.puppet import Puppet
from understudy.characters.builtin.upper_body import (
    ArmAngles,
    attitude,
    bend_torso,
    look,
    pose_arm,
)
from understudy.characters.clip import Clip
from understudy.kinematics.types import FloatArray

DURATION_S: Final = 2.6

LIFT_S: Final = 0.30  # the left foot leaves the floor
LAND_S: Final = 1.20
RELEASE_S: Final = 1.46
STEP_UP_S: Final = 1.72  # the right foot leaves the floor
STEP_DOWN_S: Final = 2.22

_PELVIS_M = Track(
    [
        (0.0, (0.0, 0.955, 0.0)),
        (0.35, (-0.055, 0.953, -0.03)),
        (0.72, (-0.085, 0.955, -0.045)),
        (0.98, (-0.06, 0.91, 0.08)),
        (LAND_S, (-0.03, 0.845, 0.33)),
        (RELEASE_S, (0.0, 0.835, 0.48)),
        (1.75, (0.02, 0.86, 0.60)),
        (2.2, (-0.02, 0.945, 0.70)),
        (2.55, (-0.02, 0.963, 0.72)),
    ]
)
# Yaw (to the left), lean (forward), bend (to the right) of pelvis, chest and head, degrees.
_PELVIS_DEG = Track(
    [
        (0.0, (-35.0, 3.0, 0.0)),
        (0.35, (-58.0, 3.0, 0.0)),
        (0.74, (-92.0, 0.0, -3.0)),
        (1.0, (-82.0, 2.0, -4.0)),
        (LAND_S, (-48.0, 6.0, -2.0)),
        (1.34, (-10.0, 10.0, 0.0)),
        (RELEASE_S, (6.0, 16.0, 2.0)),
        (1.72, (16.0, 22.0, 2.0)),
        (2.2, (4.0, 8.0, 0.0)),
        (2.55, (0.0, 4.0, 0.0)),
    ]
)
_CHEST_DEG = Track(
    [
        (0.0, (-32.0, 4.0, 0.0)),
        (0.35, (-58.0, 6.0, 0.0)),
        (0.74, (-102.0, 6.0, -2.0)),
        (1.0, (-98.0, 2.0, 6.0)),
        (LAND_S, (-82.0, -4.0, 6.0)),
        (1.34, (-26.0, -8.0, -4.0)),
        (RELEASE_S, (10.0, 16.0, -18.0)),
        (1.70, (44.0, 44.0, -8.0)),
        (2.15, (20.0, 16.0, 0.0)),
        (2.55, (6.0, 5.0, 0.0)),
    ]
)
_HEAD_DEG = Track(
    [
        (0.0, (-6.0, 4.0, 0.0)),
        (0.75, (-22.0, 4.0, 0.0)),
        (LAND_S, (-8.0, 2.0, 0.0)),
        (RELEASE_S, (0.0, 6.0, -8.0)),
        (1.72, (4.0, 16.0, -2.0)),
        (2.5, (0.0, 2.0, 0.0)),
    ]
)
# Columns as in ArmAngles: elevation, forward, outward, elbow, pronation, wrist, deviation.
_RIGHT_ARM_DEG = Track(
    [
        (0.0, (-62.0, 36.0, 0.0, 104.0, 0.0, 0.0, 0.0)),
        (0.4, (-56.0, 38.0, 4.0, 110.0, 0.0, 0.0, 0.0)),
        (0.60, (-55.0, 38.0, 4.0, 112.0, 0.0, 0.0, 0.0)),
        (0.78, (-56.0, 32.0, 2.0, 102.0, 0.0, 0.0, 0.0)),
        (0.95, (-58.0, 2.0, -16.0, 52.0, 10.0, 0.0, 0.0)),
        (1.08, (-32.0, -22.0, -10.0, 52.0, 20.0, -5.0, 0.0)),
        (LAND_S, (-2.0, -24.0, 32.0, 84.0, 20.0, -12.0, 0.0)),
        (1.34, (6.0, -10.0, 118.0, 100.0, 10.0, -28.0, 0.0)),
        (RELEASE_S, (10.0, 14.0, 78.0, 30.0, 10.0, 4.0, 0.0)),
        (1.56, (-2.0, 60.0, 32.0, 16.0, 40.0, 28.0, 0.0)),
        (1.74, (-30.0, 92.0, 0.0, 30.0, 40.0, 16.0, 0.0)),
        (2.1, (-56.0, 62.0, -8.0, 46.0, 15.0, 4.0, 0.0)),
        (2.55, (-74.0, 24.0, 0.0, 26.0, 0.0, 0.0, 0.0)),
    ]
)
_LEFT_ARM_DEG = Track(
    [
        (0.0, (-62.0, 36.0, 0.0, 104.0, 0.0, 0.0, 0.0)),
        (0.4, (-56.0, 38.0, 4.0, 110.0, 0.0, 0.0, 0.0)),
        (0.75, (-54.0, 34.0, 2.0, 106.0, 0.0, 0.0, 0.0)),
        (1.0, (-18.0, 26.0, -10.0, 46.0, 25.0, 0.0, 0.0)),
        (LAND_S, (2.0, 22.0, -12.0, 26.0, 30.0, 0.0, 0.0)),
        (1.36, (-30.0, 18.0, -4.0, 84.0, 10.0, 0.0, 0.0)),
        (1.52, (-54.0, 2.0, 0.0, 112.0, 0.0, 0.0, 0.0)),
        (1.78, (-56.0, -12.0, -4.0, 92.0, 0.0, 0.0, 0.0)),
        (2.55, (-74.0, 20.0, 0.0, 30.0, 0.0, 0.0, 0.0)),
    ]
)

_LEFT_TIP_M = Track(
    [
        (LIFT_S, (0.08, 0.0, 0.237)),
        (0.52, (-0.14, 0.26, 0.24)),
        (0.76, (-0.38, 0.36, 0.24)),
        (0.97, (-0.18, 0.17, 0.62)),
        (1.10, (-0.02, 0.055, 0.88)),
        (LAND_S, (0.02, 0.0, 0.97)),
    ]
)
_LEFT_YAW_DEG = Track([(LIFT_S, -15.0), (0.76, -62.0), (0.98, -44.0), (LAND_S, -10.0)])
_LEFT_PITCH_DEG = Track(
    [(0.14, 0.0), (LIFT_S, 28.0), (0.55, 42.0), (0.78, 30.0), (1.02, 8.0), (LAND_S, 0.0)]
)
_LEFT_TOES_DEG = Track([(0.22, 0.0), (0.42, 28.0), (0.60, 38.0), (0.80, 26.0), (LAND_S, 0.0)])

_RIGHT_TIP_M = Track(
    [
        (STEP_UP_S, (-0.32, 0.0, 0.045)),
        (1.95, (-0.27, 0.10, 0.40)),
        (2.10, (-0.22, 0.05, 0.75)),
        (STEP_DOWN_S, (-0.21, 0.0, 0.86)),
    ]
)
_RIGHT_YAW_DEG = Track([(1.08, -65.0), (RELEASE_S, -30.0), (1.72, -8.0), (STEP_DOWN_S, -12.0)])
_RIGHT_PITCH_DEG = Track(
    [(1.0, 0.0), (LAND_S, 22.0), (RELEASE_S, 56.0), (1.76, 74.0), (2.0, 40.0), (STEP_DOWN_S, 0.0)]
)
_RIGHT_TOES_DEG = Track(
    [(1.22, 0.0), (RELEASE_S, 24.0), (1.76, 52.0), (2.0, 32.0), (STEP_DOWN_S, 0.0)]
)


def throw(rate_hz: float) -> Clip:
    """The throw sampled at `rate_hz`; 78 frames at 30 Hz."""
    time = np.arange(round(DURATION_S * rate_hz)) / rate_hz
    puppet = Puppet(build_body(ACTOR), _PELVIS_M(time))
    puppet.orient("hips", attitude(*_PELVIS_DEG(time).T))
    bend_torso(puppet, attitude(*_CHEST_DEG(time).T))
    look(puppet, attitude(*_HEAD_DEG(time).T))
    pose_arm(puppet, "left", ArmAngles(*_LEFT_ARM_DEG(time).T))
    pose_arm(puppet, "right", ArmAngles(*_RIGHT_ARM_DEG(time).T))
    pelvis_yaw = np.radians(_PELVIS_DEG(time)[:, 0])
    for side, foot in (("left", _left_foot(time)), ("right", _right_foot(time))):
        plant(puppet, side, foot, 0.5 * (foot.yaw_rad + pelvis_yaw))
    return puppet.clip("throw", rate_hz)


def _left_foot(time: FloatArray) -> FootTrack:
    return FootTrack(
        tip=_LEFT_TIP_M(time),
        yaw_rad=np.radians(_LEFT_YAW_DEG(time)),
        foot_pitch_rad=np.radians(_LEFT_PITCH_DEG(time)),
        toes_pitch_rad=np.radians(_LEFT_TOES_DEG(time)),
        heel_pivot=np.zeros_like(time),
    )


def _right_foot(time: FloatArray) -> FootTrack:
    return FootTrack(
        tip=_RIGHT_TIP_M(time),
        yaw_rad=np.radians(_RIGHT_YAW_DEG(time)),
        foot_pitch_rad=np.radians(_RIGHT_PITCH_DEG(time)),
        toes_pitch_rad=np.radians(_RIGHT_TOES_DEG(time)),
        heel_pivot=np.zeros_like(time),
    )
