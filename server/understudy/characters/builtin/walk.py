"""Thirteen unhurried steps along an arc to the left: one step a second, steady throughout.

Time 0 is a step boundary: both feet have their toes on the floor and the left foot takes over.
Within a stride of two seconds, counted from the boundary at which a foot takes over, its heel has
landed at -0.25 s and its sole at -0.11 s; it leaves the floor at 1.11 s. The legs are solved from
the planted toes and the pelvis, so that nothing slides; the pelvis curves and the foot's roll are
chosen such that hip, knee and ankle follow normal gait.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.characters.builtin.bodies import ACTOR, build_body
from understudy.characters.builtin.curves import Cycle, Track
from understudy.characters.builtin.feet import FootTrack, plant
from understudy.characters.builtin.puppet import Puppet, X, Y, Z, chain, turn
from understudy.characters.builtin.upper_body import attitude, bend_torso, look, side_sign
from understudy.characters.clip import Clip
from understudy.kinematics.types import ByteArray, FloatArray

STEPS: Final = 13
STEP_S: Final = 1.0
STEP_M: Final = 0.555
RADIUS_M: Final = 4.5
_TRAIL_M: Final = 0.350  # the pelvis behind the base toe at a step boundary
HALF_TRACK_M: Final = 0.095  # the feet stand this far to either side of the path
TOE_OUT_RAD: Final = np.radians(7.0)

# One foot's stride: seconds since it took over; it stands flat at both ends of the tracks.
TOE_OFF_S: Final = 1.11
HEEL_STRIKE_S: Final = 1.75
FOOT_FLAT_S: Final = 1.89
_MID_STANCE_S: Final = 0.5

_ADVANCE = Track(
    [
        (TOE_OFF_S, 0.0),
        (1.25, 0.083),
        (1.33, 0.321),
        (1.42, 0.633),
        (1.51, 0.781),
        (1.60, 0.890),
        (1.68, 0.979),
        (HEEL_STRIKE_S, 1.0),
    ]
)
_LIFT_M = Track(
    [
        (TOE_OFF_S, 0.0),
        (1.25, 0.0245),
        (1.33, 0.0434),
        (1.42, 0.0427),
        (1.51, 0.0227),
        (1.60, 0.0059),
        (1.68, 0.0022),
        (HEEL_STRIKE_S, 0.0),
    ]
)
_HEEL_PIVOT = Track([(1.15, 0.0), (1.74, 1.0)])
_FOOT_PITCH_DEG = Track(
    [
        (0.50, 0.0),
        (0.72, 5.2),
        (0.86, 13.6),
        (1.00, 32.5),
        (TOE_OFF_S, 54.3),
        (1.20, 62.8),
        (1.32, 39.0),
        (1.46, 7.6),
        (1.60, -6.1),
        (HEEL_STRIKE_S, -12.2),
        (FOOT_FLAT_S, 0.0),
    ]
)
_TOES_PITCH_DEG = Track(
    [
        (0.95, 0.0),
        (TOE_OFF_S, 25.1),
        (1.20, 45.0),
        (1.32, 28.4),
        (1.46, 3.2),
        (1.60, -8.0),
        (HEEL_STRIKE_S, -13.2),
        (FOOT_FLAT_S, 0.0),
    ]
)


def walk(rate_hz: float) -> Clip:
    """The walk sampled at `rate_hz`; 390 frames at 30 Hz."""
    time = np.arange(round(STEPS * STEP_S * rate_hz)) / rate_hz
    return walk_along(Arc(RADIUS_M), time).clip("walk", rate_hz)


def walk_stance(rate_hz: float) -> ByteArray:
    """Which toe is the base of each frame's step: 0 left, 1 right; (T,).

    At each change both toes are at rest on the floor.
    """
    time = np.arange(round(STEPS * STEP_S * rate_hz)) / rate_hz
    return (np.floor(time / STEP_S + 1e-9) % 2).astype(np.int8)


@dataclass(frozen=True, slots=True)
class Arc:
    """A circular path that starts at the origin towards +Z and bends to the left."""

    radius_m: float

    def heading(self, distance: FloatArray) -> FloatArray:
        """Yaw (rad) of the path after a distance (m) along it."""
        return distance / self.radius_m

    def point(self, distance: FloatArray, left: FloatArray, height: FloatArray) -> FloatArray:
        """Points (T, 3) from the way along the path, the way to the left of it, and the height."""
        yaw = self.heading(distance)
        radius = self.radius_m - left
        return np.stack(
            [self.radius_m - radius * np.cos(yaw), height, radius * np.sin(yaw)], axis=-1
        )


def walk_along(arc: Arc, time: FloatArray) -> Puppet:
    """The actor walking along a path at the times (T,) s."""
    stride = time / (2.0 * STEP_S)  # left takes over at whole strides
    step = time / STEP_S
    puppet = Puppet(build_body(ACTOR), arc.point(*_pelvis_place(stride, step)))
    heading = arc.heading(STEP_M * step - _TRAIL_M)
    _pose_trunk(puppet, stride, heading)
    for side, lag in (("left", 0), ("right", 1)):
        foot = _foot(arc, side, time, lag)
        plant(puppet, side, foot, 0.5 * (foot.yaw_rad + heading))
        _pose_arm(puppet, side, stride - 0.5 * lag)
    return puppet


def _wave(phase: FloatArray, amplitude: float, peak: float) -> FloatArray:
    """A cosine with its maximum at phase `peak` of a period of 1."""
    return np.asarray(amplitude * np.cos(2.0 * np.pi * (phase - peak)), dtype=np.float64)


def _pelvis_place(
    stride: FloatArray, step: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    along = STEP_M * step - _TRAIL_M + _wave(step, 0.0045, 0.03)
    left = _wave(stride, 0.025, 0.22)
    height = 0.9648 + _wave(step, 0.0071, 0.24)
    return along, left, height


def _pose_trunk(puppet: Puppet, stride: FloatArray, heading: FloatArray) -> None:
    heading_deg = np.degrees(heading)
    # The left hip leads when the left heel lands, at stride -0.125, and drops as that leg swings.
    pelvis_yaw = _wave(stride, 4.5, 0.375)
    pelvis_bend = -_wave(stride, 3.0, 0.6)
    pelvis_lean = 4.0 + _wave(2.0 * stride, 1.0, 0.9)
    puppet.orient("hips", attitude(heading_deg + pelvis_yaw, pelvis_lean, pelvis_bend))
    chest_yaw = _wave(stride, 4.5, 0.9)
    chest_bend = _wave(stride, 1.2, 0.7)
    bend_torso(puppet, attitude(heading_deg + chest_yaw, np.full_like(stride, 3.0), chest_bend))
    # Walkers look ahead into the curve.
    gaze = np.full_like(stride, 5.0)
    look(puppet, attitude(heading_deg + gaze, 0.6 * gaze, np.zeros_like(stride)))


def _foot(arc: Arc, side: str, time: FloatArray, lag: int) -> FootTrack:
    stride = np.floor((time - lag * STEP_S - _MID_STANCE_S) / (2.0 * STEP_S))
    since = time - lag * STEP_S - 2.0 * STEP_S * stride
    prints = lag + 2.0 * (stride + _ADVANCE(since))
    sign = side_sign(side)
    along = STEP_M * prints
    tip = arc.point(along, np.full_like(along, sign * HALF_TRACK_M), _LIFT_M(since))
    return FootTrack(
        tip=tip,
        yaw_rad=arc.heading(along) + sign * TOE_OUT_RAD,
        foot_pitch_rad=np.radians(_FOOT_PITCH_DEG(since)),
        toes_pitch_rad=np.radians(_TOES_PITCH_DEG(since)),
        heel_pivot=_HEEL_PIVOT(since),
    )


# An arm's cycle, counted like its own leg's: furthest back as the heel of that side lands.
_SHOULDER_FLEX_DEG = Cycle((0.0, -14.0), (0.25, 0.0), (0.4, 13.0), (0.6, 6.0), (0.8, -12.0))
_ELBOW_FLEX_DEG = Cycle((0.0, 15.0), (0.25, 19.0), (0.45, 29.0), (0.7, 22.0), (0.85, 14.0))
_ARM_DROP_RAD: Final = np.radians(80.0)
_ARM_INWARD_RAD: Final = np.radians(10.0)


def _pose_arm(puppet: Puppet, side: str, stride: FloatArray) -> None:
    sign = side_sign(side)
    puppet.rotate(
        f"{side}UpperArm",
        chain(
            turn(X, np.radians(-_SHOULDER_FLEX_DEG(stride))),
            turn(Z, -sign * _ARM_DROP_RAD),
            turn(X, _ARM_INWARD_RAD),
        ),
    )
    puppet.rotate(f"{side}LowerArm", turn(Y, np.radians(-sign * _ELBOW_FLEX_DEG(stride))))
    puppet.rotate(f"{side}Hand", turn(Z, np.full_like(stride, np.radians(-sign * 8.0))))
