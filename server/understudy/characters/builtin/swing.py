"""A right-handed batter's two-handed swing: stance, load, stride, swing, follow-through.

The batter faces +Z across the plate; the ball comes from +X. The feet stand on the floor but for
the stride of the front (left) foot; the back foot pivots on its toe tip. Both fists stay on the
handle, a constant way apart.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.characters.builtin.bodies import ACTOR, build_body
from understudy.characters.builtin.curves import Track
from understudy.characters.builtin.feet import FootTrack, plant
from understudy.characters.builtin.puppet import Puppet, Y, turn
from understudy.characters.builtin.upper_body import attitude, bend_torso, hold, look
from understudy.characters.clip import Clip
from understudy.kinematics import rotations
from understudy.kinematics.types import FloatArray

DURATION_S: Final = 136 / 30
GRIP_SPACING_M: Final = 0.10  # between the fists, along the bat

# Seconds: the front foot leaves the floor, lands, is flat; the bat meets the ball.
LIFT_S: Final = 1.25
LAND_S: Final = 2.00
FLAT_S: Final = 2.12
CONTACT_S: Final = 2.42

_PELVIS_M = Track(
    [
        (0.0, (0.0, 0.885, -0.03)),
        (0.55, (-0.015, 0.880, -0.03)),
        (1.0, (0.0, 0.885, -0.03)),
        (1.55, (-0.085, 0.880, -0.03)),
        (2.05, (0.03, 0.855, -0.03)),
        (CONTACT_S, (0.105, 0.890, -0.02)),
        (2.75, (0.135, 0.902, 0.0)),
        (3.4, (0.130, 0.903, 0.0)),
        (4.4, (0.125, 0.900, 0.0)),
    ]
)
# Yaw (to the left), lean (forward), bend (to the right) of pelvis and chest, degrees.
_PELVIS_DEG = Track(
    [
        (0.0, (-4.0, 16.0, 0.0)),
        (1.0, (-4.0, 16.0, 0.0)),
        (1.6, (-20.0, 15.0, -2.0)),
        (2.02, (2.0, 14.0, -4.0)),
        (2.22, (42.0, 10.0, 0.0)),
        (CONTACT_S, (76.0, 5.0, 5.0)),
        (2.65, (92.0, 3.0, 4.0)),
        (3.0, (96.0, 3.0, 2.0)),
        (4.2, (90.0, 4.0, 0.0)),
    ]
)
_CHEST_DEG = Track(
    [
        (0.0, (-8.0, 26.0, 2.0)),
        (0.5, (-10.0, 26.0, 2.0)),
        (1.0, (-8.0, 26.0, 2.0)),
        (1.6, (-32.0, 26.0, -2.0)),
        (2.04, (-28.0, 24.0, -4.0)),
        (2.24, (20.0, 18.0, 8.0)),
        (CONTACT_S, (68.0, 8.0, 22.0)),
        (2.58, (100.0, -2.0, 18.0)),
        (2.85, (120.0, -4.0, 8.0)),
        (3.4, (114.0, 2.0, 4.0)),
        (4.3, (108.0, 6.0, 2.0)),
    ]
)
_HEAD_DEG = Track(
    [
        (0.0, (52.0, 8.0, 0.0)),
        (0.7, (51.0, 8.0, 0.0)),
        (1.3, (42.0, 9.0, 0.0)),
        (1.7, (38.0, 12.0, 0.0)),
        (2.1, (40.0, 16.0, 0.0)),
        (CONTACT_S, (44.0, 30.0, 2.0)),
        (2.6, (58.0, 22.0, 2.0)),
        (3.1, (84.0, 2.0, 0.0)),
        (4.2, (88.0, -2.0, 0.0)),
    ]
)
# The middle of the two fists, metres from the middle of the shoulders in the chest's axes.
_GRIP_M = Track(
    [
        (0.0, (-0.20, -0.06, 0.25)),
        (0.45, (-0.215, -0.035, 0.24)),
        (0.95, (-0.20, -0.06, 0.25)),
        (1.6, (-0.31, 0.00, 0.16)),
        (2.05, (-0.33, 0.00, 0.16)),
        (2.20, (-0.26, -0.12, 0.24)),
        (2.31, (-0.18, -0.28, 0.36)),
        (CONTACT_S, (-0.10, -0.365, 0.445)),
        (2.52, (0.00, -0.31, 0.48)),
        (2.66, (0.14, -0.12, 0.40)),
        (2.85, (0.18, 0.05, 0.27)),
        (3.3, (0.17, 0.02, 0.28)),
        (4.3, (0.12, -0.06, 0.31)),
    ]
)
# Where the bat points: azimuth (0 is +Z, 90 is +X) and elevation, degrees.
_BAT_DEG = Track(
    [
        (0.0, (-128.0, 52.0)),
        (0.3, (-112.0, 58.0)),
        (0.65, (-138.0, 50.0)),
        (1.0, (-128.0, 52.0)),
        (1.6, (-150.0, 46.0)),
        (2.06, (-152.0, 42.0)),
        (2.20, (-126.0, 24.0)),
        (2.31, (-80.0, 0.0)),
        (CONTACT_S, (0.0, -12.0)),
        (2.52, (80.0, 8.0)),
        (2.66, (154.0, 30.0)),
        (2.88, (232.0, 18.0)),
        (3.3, (240.0, 10.0)),
        (4.3, (226.0, 16.0)),
    ]
)
# How far the collarbones reach forward, degrees.
_LEFT_REACH_DEG = Track([(0.9, 10.0), (1.6, 24.0), (2.1, 24.0), (2.5, 8.0), (2.8, 0.0)])
_RIGHT_REACH_DEG = Track([(1.0, 0.0), (1.7, -12.0), (2.1, -12.0), (2.54, 24.0), (3.4, 16.0)])
# Where the elbows point, in the chest's axes.
_LEFT_ELBOW = Track(
    [
        (1.0, (0.25, -1.0, 0.10)),
        (1.7, (0.15, -1.0, 0.25)),
        (2.1, (0.15, -1.0, 0.25)),
        (CONTACT_S, (0.65, -0.75, -0.35)),
        (2.75, (0.60, -0.90, -0.55)),
        (3.6, (0.50, -1.0, -0.40)),
    ]
)
_RIGHT_ELBOW = Track(
    [
        (0.9, (-0.85, -0.55, -0.45)),
        (1.6, (-0.80, -0.40, -0.60)),
        (2.05, (-0.70, -0.55, -0.60)),
        (2.28, (-0.45, -1.0, -0.30)),
        (2.5, (-0.50, -1.0, -0.20)),
        (2.8, (-0.55, -0.90, 0.15)),
        (3.6, (-0.50, -1.0, 0.05)),
    ]
)

_FRONT_TIP_M = Track(
    [
        (LIFT_S, (0.24, 0.0, 0.19)),
        (1.55, (0.20, 0.075, 0.24)),
        (1.80, (0.37, 0.06, 0.23)),
        (LAND_S, (0.52, 0.0, 0.19)),
    ]
)
_FRONT_YAW_DEG = Track([(LIFT_S, 14.0), (1.55, 4.0), (LAND_S, 38.0)])
# The heel leaves the floor first and comes down last.
_FRONT_PITCH_DEG = Track(
    [
        (1.05, 0.0),
        (1.25, 20.0),
        (1.45, 30.0),
        (1.65, 32.0),
        (1.85, 26.0),
        (LAND_S, 14.0),
        (FLAT_S, 0.0),
    ]
)
_FRONT_TOES_DEG = Track(
    [(1.16, 0.0), (1.30, 12.0), (1.50, 24.0), (1.70, 24.0), (1.88, 9.0), (LAND_S, 0.0)]
)

_BACK_TIP_M: Final = (-0.30, 0.0, 0.19)
_BACK_YAW_DEG = Track([(2.0, -4.0), (CONTACT_S, 56.0), (2.70, 72.0)])
_BACK_PITCH_DEG = Track([(2.0, 0.0), (CONTACT_S, 42.0), (2.72, 58.0), (3.3, 54.0)])
_BACK_TOES_DEG = Track([(2.2, 0.0), (2.72, 22.0), (3.3, 18.0)])


def bat_swing(rate_hz: float) -> Clip:
    """The swing sampled at `rate_hz`; 136 frames at 30 Hz."""
    time = np.arange(round(DURATION_S * rate_hz)) / rate_hz
    puppet = Puppet(build_body(ACTOR), _PELVIS_M(time))
    puppet.orient("hips", attitude(*_PELVIS_DEG(time).T))
    chest = attitude(*_CHEST_DEG(time).T)
    bend_torso(puppet, chest)
    look(puppet, attitude(*_HEAD_DEG(time).T))
    for side, foot in (("left", _front_foot(time)), ("right", _back_foot(time))):
        # Knees follow their feet and the pelvis in equal parts.
        knee_yaw = 0.5 * (foot.yaw_rad + np.radians(_PELVIS_DEG(time)[:, 0]))
        plant(puppet, side, foot, knee_yaw)

    bat = bat_direction(time)
    middle = 0.5 * (puppet.position("leftUpperArm") + puppet.position("rightUpperArm"))
    grip = middle + rotations.rotate(chest, _GRIP_M(time))
    puppet.rotate("leftShoulder", turn(Y, -np.radians(_LEFT_REACH_DEG(time))))
    puppet.rotate("rightShoulder", turn(Y, np.radians(_RIGHT_REACH_DEG(time))))
    half = 0.5 * GRIP_SPACING_M * bat
    # A right-hander has the left fist at the knob.
    hold(puppet, "left", grip - half, bat, rotations.rotate(chest, _LEFT_ELBOW(time)))
    hold(puppet, "right", grip + half, bat, rotations.rotate(chest, _RIGHT_ELBOW(time)))
    return puppet.clip("bat-swing", rate_hz)


def bat_direction(time: FloatArray) -> FloatArray:
    """Unit vectors (T, 3) from the knob to the barrel at the times (T,) s."""
    azimuth, elevation = np.radians(_BAT_DEG(time)).T
    level = np.cos(elevation)
    return np.stack([level * np.sin(azimuth), np.sin(elevation), level * np.cos(azimuth)], axis=-1)


def _front_foot(time: FloatArray) -> FootTrack:
    return FootTrack(
        tip=_FRONT_TIP_M(time),
        yaw_rad=np.radians(_FRONT_YAW_DEG(time)),
        foot_pitch_rad=np.radians(_FRONT_PITCH_DEG(time)),
        toes_pitch_rad=np.radians(_FRONT_TOES_DEG(time)),
        heel_pivot=np.zeros_like(time),
    )


def _back_foot(time: FloatArray) -> FootTrack:
    return FootTrack(
        tip=np.broadcast_to(np.array(_BACK_TIP_M), (len(time), 3)),
        yaw_rad=np.radians(_BACK_YAW_DEG(time)),
        foot_pitch_rad=np.radians(_BACK_PITCH_DEG(time)),
        toes_pitch_rad=np.radians(_BACK_TOES_DEG(time)),
        heel_pivot=np.zeros_like(time),
    )
