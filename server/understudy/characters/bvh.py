"""BVH files as clips: metres, Y up, root position and full rotations.

The world above the root is turned so that the axis that is up in the motion becomes +Y. A rest pose
that stands upright along another axis is turned as well, by a rest rotation of the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.characters.bvh_motion import (
    BvhBody,
    fold_translations,
    local_transforms,
    world_positions,
)
from understudy.characters.bvh_parse import BvhText, parse_bvh
from understudy.characters.clip import Clip, ClipError, continuous
from understudy.characters.units import (
    AXES,
    UNITS_M,
    Axis,
    Limbs,
    UnitDecision,
    UpDecision,
    decide_unit,
    decide_up,
    y_up_from,
)
from understudy.kinematics import FloatArray, Joint, Skeleton
from understudy.kinematics.rotations import IDENTITY_XYZW, multiply, normalise, rotate

# A file without MOTION has no rate of its own.
_RATE_WITHOUT_MOTION_HZ = 30.0
_UP_FRAMES = 60


@dataclass(frozen=True, slots=True)
class BvhReport:
    """What the reader decided and what it could not keep.

    `rest_up` is the axis of the file along which the rest pose stands. `merged` names joints above
    the body that were merged into it. `residual_m` is the largest distance of a joint from where
    the file has it (at `residual_joint`), above zero only where bones change their length.
    """

    unit: UnitDecision
    up: UpDecision
    rest_up: UpDecision
    frame_time_s: float | None
    merged: tuple[str, ...]
    residual_m: float
    residual_joint: str | None


@dataclass(frozen=True, slots=True, eq=False)
class BvhFile:
    """A clip and how it was read."""

    clip: Clip
    report: BvhReport


def read_bvh(path: str | Path, *, unit_m: float | None = None, up: Axis | None = None) -> BvhFile:
    """Read a BVH file; `unit_m` (metres per unit) and `up` override what the body suggests.

    A file without MOTION gives a clip without frames. ClipError names file and line.
    """
    path = Path(path)
    if unit_m is not None and not 0.0 < unit_m < 1e6:
        raise ClipError(f"unit of {unit_m} m: must be above zero")
    if up is not None and up not in AXES:
        raise ClipError(f"up axis {up!r} is unknown; allowed: {', '.join(AXES)}")
    text = parse_bvh(path)
    body = local_transforms(text)
    folding = fold_translations(body)
    limbs = body.limbs()
    unit = _unit(body, limbs, unit_m)
    motion_up, rest_up = _ups(body, limbs, up)
    world_turn, rest_turn = y_up_from(motion_up.axis), y_up_from(rest_up.axis)
    skeleton = _skeleton(body, unit.unit_m, world_turn, rest_turn)
    body.rotations[:, 0] = multiply(world_turn, body.rotations[:, 0])
    clip = Clip(
        name=path.stem,
        skeleton=skeleton,
        rate_hz=_rate_hz(text),
        roots=rotate(world_turn, body.translations[:, 0]) * unit.unit_m,
        rotations_xyzw=continuous(normalise(body.rotations)),
    )
    report = BvhReport(
        unit=unit,
        up=motion_up,
        rest_up=rest_up,
        frame_time_s=text.frame_time_s,
        merged=folding.merged,
        residual_m=folding.residual * unit.unit_m,
        residual_joint=folding.residual_joint,
    )
    return BvhFile(clip, report)


def _rest_positions(body: BvhBody) -> FloatArray:
    n = len(body.joints)
    return world_positions(body.parents, body.offsets[None], np.tile(IDENTITY_XYZW, (1, n, 1)))


def _unit(body: BvhBody, limbs: Limbs | None, unit_m: float | None) -> UnitDecision:
    if unit_m is not None:
        name = next((name for name, unit in UNITS_M.items() if unit == unit_m), f"{unit_m:g} m")
        return UnitDecision(unit_m, name, True, "as asked")
    height = float(np.max(np.ptp(_rest_positions(body)[0], axis=0)))
    return decide_unit(limbs, height)


def _ups(body: BvhBody, limbs: Limbs | None, up: Axis | None) -> tuple[UpDecision, UpDecision]:
    """Up in the motion and up in the rest pose, which need not be the same axis of the file."""
    rest = decide_up(limbs, _rest_positions(body), at_rest=True)
    asked = None if up is None else UpDecision(up, True, "as asked")
    frames = len(body.translations)
    if not frames:
        return (asked, asked) if asked else (rest, rest)
    sample = np.unique(np.linspace(0, frames - 1, _UP_FRAMES).round().astype(np.int64))
    positions = world_positions(body.parents, body.translations[sample], body.rotations[sample])
    motion = asked or decide_up(limbs, positions, at_rest=False)
    if rest.clear and not motion.clear:
        motion = UpDecision(rest.axis, False, f"{motion.why}; taken as in the rest pose")
    return motion, rest if rest.clear else motion


def _skeleton(
    body: BvhBody, unit_m: float, world_turn: FloatArray, rest_turn: FloatArray
) -> Skeleton:
    offsets = body.offsets * unit_m
    offsets[0] = rotate(world_turn, offsets[0])
    return Skeleton.build(
        Joint(
            name=joint.name,
            parent=None if parent < 0 else body.joints[parent].name,
            offset=offset,
            rest_xyzw=rest_turn if parent < 0 else IDENTITY_XYZW,
            tip=None if joint.tip is None else np.array(joint.tip) * unit_m,
        )
        for joint, parent, offset in zip(body.joints, body.parents, offsets, strict=True)
    )


def _rate_hz(text: BvhText) -> float:
    """Frames per second: the whole number where the frame time is that, cut off (.0083333)."""
    if text.frame_time_s is None:
        return _RATE_WITHOUT_MOTION_HZ
    rate = 1.0 / text.frame_time_s
    whole = round(rate)
    if whole > 0 and abs(1.0 / whole - text.frame_time_s) <= text.frame_time_step_s:
        return float(whole)
    return rate
