"""Standing at ease: weight shifts, breath, and a wave of the right hand. An eight-second loop.

Both feet stay flat on the floor throughout.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.characters.builtin.bodies import ACTOR, build_body
from understudy.characters.builtin.curves import Cycle, Track
from understudy.characters.builtin.feet import FootTrack, plant
from understudy.characters.builtin.puppet import Puppet, Z, turn
from understudy.characters.builtin.upper_body import (
    ArmAngles,
    attitude,
    bend_torso,
    look,
    pose_arm,
    side_sign,
)
from understudy.characters.clip import Clip
from understudy.kinematics.types import FloatArray

DURATION_S: Final = 8.0
BREATHS: Final = 2
_SWING_S: Final = 0.62  # one wave of the hand to and fro

# The weight goes from the left leg to the right one and back, never twice the same way.
_PELVIS_M = Cycle(
    (0.0, (0.030, 0.9745, 0.004)),
    (0.16, (0.036, 0.9735, 0.000)),
    (0.34, (-0.012, 0.980, 0.006)),
    (0.52, (-0.030, 0.975, 0.002)),
    (0.70, (-0.022, 0.977, 0.008)),
    (0.86, (0.014, 0.980, 0.004)),
)
# The hip over the free leg drops; yaw, lean and bend as in `attitude`, degrees.
_PELVIS_DEG = Cycle(
    (0.0, (3.0, 3.0, 2.8)),
    (0.16, (3.6, 3.2, 3.2)),
    (0.34, (-0.5, 2.8, -0.4)),
    (0.52, (-3.0, 3.0, -2.8)),
    (0.70, (-2.0, 3.2, -2.2)),
    (0.86, (1.4, 3.0, 0.8)),
)
_CHEST_DEG = Cycle(
    (0.0, (1.5, 2.0, -0.8)),
    (0.16, (1.0, 2.2, -1.0)),
    (0.34, (-3.0, 1.0, 1.6)),
    (0.52, (-4.0, 0.8, 2.2)),
    (0.70, (-1.8, 1.6, 1.2)),
    (0.86, (0.6, 2.0, 0.0)),
)
_HEAD_DEG = Cycle(
    (0.0, (5.0, 4.0, 0.0)),
    (0.14, (3.0, 4.0, -1.0)),
    (0.30, (-5.0, -1.0, 2.5)),
    (0.48, (-6.0, 0.0, 4.0)),
    (0.66, (-4.0, 1.0, 2.0)),
    (0.84, (3.0, 4.0, 0.0)),
)
_AT_EASE_DEG: Final = (-76.0, 14.0, -6.0, 20.0, 8.0, 6.0, 0.0)
_RAISED_DEG: Final = (-20.0, 26.0, 84.0, 98.0, 0.0, -6.0, 0.0)
# Columns as in ArmAngles. The elbow leads on the way up, the hand trails on the way down.
_RIGHT_ARM_DEG = Track(
    [
        (1.30, _AT_EASE_DEG),
        (1.78, (-52.0, 30.0, 24.0, 92.0, 4.0, 12.0, 0.0)),
        (2.30, _RAISED_DEG),
    ],
    [
        (4.95, _RAISED_DEG),
        (5.45, (-46.0, 28.0, 40.0, 84.0, 4.0, 10.0, 0.0)),
        (6.30, _AT_EASE_DEG),
    ],
)
_SHOULDER_UP = Track([(1.5, 0.0), (2.35, 1.0)], [(4.9, 1.0), (5.9, 0.0)])
_WAVING = Track([(2.05, 0.0), (2.55, 1.0)], [(4.55, 1.0), (5.15, 0.0)])

_FOOT_OUT_RAD: Final = np.radians(11.0)
_TOE_TIP_M: Final = (0.155, 0.0, 0.205)


def wave(rate_hz: float) -> Clip:
    """The wave sampled at `rate_hz`; 240 frames at 30 Hz, and the first follows the last."""
    time = np.arange(round(DURATION_S * rate_hz)) / rate_hz
    phase = time / DURATION_S
    breath = 0.5 - 0.5 * np.cos(2.0 * np.pi * BREATHS * phase)  # 0 out, 1 in
    pelvis = _PELVIS_M(phase) + breath[:, None] * np.array([0.0, 0.0015, 0.0])
    puppet = Puppet(build_body(ACTOR), pelvis)
    puppet.orient("hips", attitude(*_PELVIS_DEG(phase).T))
    # A breath lifts the ribs and the shoulders.
    bend_torso(puppet, attitude(*(_CHEST_DEG(phase) - breath[:, None] * (0.0, 1.6, 0.0)).T))
    look(puppet, attitude(*_HEAD_DEG(phase).T))
    for side in ("left", "right"):
        lift = 2.2 * breath - 3.0 + (9.0 * _SHOULDER_UP(time) if side == "right" else 0.0)
        puppet.rotate(f"{side}Shoulder", turn(Z, side_sign(side) * np.radians(lift)))
        foot = _foot(side, len(time))
        plant(puppet, side, foot, foot.yaw_rad)
    pose_arm(puppet, "left", _left_arm(phase, breath))
    pose_arm(puppet, "right", _right_arm(time, breath))
    return puppet.clip("wave", rate_hz)


def _left_arm(phase: FloatArray, breath: FloatArray) -> ArmAngles:
    angles = np.tile(np.array(_AT_EASE_DEG), (len(phase), 1))
    angles[:, 0] += 1.2 * breath
    angles[:, 1] += 4.0 * np.sin(2.0 * np.pi * phase + 0.6)
    angles[:, 3] += 3.0 * np.sin(2.0 * np.pi * phase - 0.4)
    return ArmAngles(*angles.T)


def _right_arm(time: FloatArray, breath: FloatArray) -> ArmAngles:
    angles = _RIGHT_ARM_DEG(time)
    angles[:, 0] += 1.2 * breath
    # The forearm swings to and fro and the hand follows a little later.
    turns = 2.0 * np.pi * (time - 2.05) / _SWING_S
    waving = _WAVING(time)
    angles[:, 2] += 5.0 * waving * np.sin(turns - 0.3)
    angles[:, 3] += 20.0 * waving * np.sin(turns)
    angles[:, 6] += 13.0 * waving * np.sin(turns - 0.9)
    return ArmAngles(*angles.T)


def _foot(side: str, count: int) -> FootTrack:
    sign = side_sign(side)
    flat = np.zeros(count)
    return FootTrack(
        tip=np.tile(np.array(_TOE_TIP_M) * (sign, 1.0, 1.0), (count, 1)),
        yaw_rad=flat + sign * _FOOT_OUT_RAD,
        foot_pitch_rad=flat,
        toes_pitch_rad=flat,
        heel_pivot=flat,
    )
