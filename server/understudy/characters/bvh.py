"""BVH files as clips: metres, Y up, root position and full rotations.

A BVH joint turns by its rotation channels in the order written, from a rest pose without rotations.
Position channels replace the joint's OFFSET. A clip has one moving position, the root's, so:

- Position channels of other joints that stand still give the bone its offset.
- If one moves, the topmost such joint with the most joints below it (the hips under a locomotion
  root) is kept exact: a root with nothing else below it is merged into that joint and disappears
  from the body; otherwise the root is moved so that this joint is where the file has it.
- What then still moves is dropped, its mean place kept, and the report says by how much the
  worst joint is off.

The world above the root is turned so that the axis that is up in the motion becomes +Y. A rest pose
that stands upright along another axis is turned as well, by a rest rotation of the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from understudy.characters.bvh_parse import BvhJoint, BvhText, parse_bvh
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
    find_limbs,
    y_up_from,
)
from understudy.kinematics import FloatArray, IntArray, Joint, Skeleton
from understudy.kinematics.rotations import IDENTITY_XYZW, multiply, normalise, rotate

# A file without MOTION has no rate of its own.
_RATE_WITHOUT_MOTION_HZ = 30.0
_UP_FRAMES = 60
# Position channels that move less than this part of the body's size are rounding in the file.
_STILL = 1e-5


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


@dataclass(slots=True, eq=False)
class _Body:
    """A file's joints and motion in file units and axes; T frames of n joints.

    `translations` (T, n, 3) and `rotations` (T, n, 4) are parent_from_joint, the root's in the
    world; `offsets` (n, 3) are what the skeleton will have.
    """

    joints: list[BvhJoint]
    parents: IntArray
    offsets: FloatArray
    translations: FloatArray
    rotations: FloatArray


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
    body = _local_transforms(text)
    merged, residual, residual_joint = _fold_translations(body)
    tips = np.array([joint.tip or (0.0, 0.0, 0.0) for joint in body.joints])
    limbs = find_limbs(body.parents, body.offsets, tips)
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
        merged=merged,
        residual_m=residual * unit.unit_m,
        residual_joint=residual_joint,
    )
    return BvhFile(clip, report)


def _local_transforms(text: BvhText) -> _Body:
    """The channels as translations and quaternions of every joint in every frame."""
    frames, n = len(text.motion), len(text.joints)
    offsets = np.array([joint.offset for joint in text.joints], np.float64)
    translations = np.tile(offsets, (frames, 1, 1))
    rotations = np.tile(IDENTITY_XYZW, (frames, n, 1))
    orders: dict[str, list[int]] = {}
    columns: dict[str, list[list[int]]] = {}
    for number, joint in enumerate(text.joints):
        order, turned = "", []
        for column, channel in enumerate(joint.channels, joint.first_channel):
            if channel.endswith("position"):
                translations[:, number, "XYZ".index(channel[0])] = text.motion[:, column]
            else:
                order += channel[0]
                turned.append(column)
        orders.setdefault(order, []).append(number)
        columns.setdefault(order, []).append(turned)
    for order, numbers in orders.items():
        for place, axis in enumerate(order):
            half = np.radians(text.motion[:, [turned[place] for turned in columns[order]]]) / 2.0
            turn = np.zeros((frames, len(numbers), 4))
            turn[..., "XYZ".index(axis)] = np.sin(half)
            turn[..., 3] = np.cos(half)
            rotations[:, numbers] = multiply(rotations[:, numbers], turn)
    return _Body(
        joints=list(text.joints),
        parents=np.array([joint.parent for joint in text.joints], np.int64),
        offsets=offsets,
        translations=translations,
        rotations=rotations,
    )


def _fold_translations(body: _Body) -> tuple[tuple[str, ...], float, str | None]:
    """Leave only the root's translation: merged joints, worst residual (file units) and joint."""
    if not len(body.translations):
        return (), 0.0, None
    for number in range(1, len(body.joints)):
        if any(channel.endswith("position") for channel in body.joints[number].channels):
            body.offsets[number] = np.median(body.translations[:, number], axis=0)
    extent = float(np.sum(np.linalg.norm(body.offsets[1:], axis=1)))
    movement = np.max(np.abs(body.translations - body.offsets), axis=(0, 2))
    movement[0] = 0.0
    moving = np.flatnonzero(movement > _STILL * extent)
    if not len(moving):
        return (), 0.0, None
    true_positions = world_positions(body.parents, body.translations, body.rotations)
    size = _subtree_sizes(body.parents)
    main = int(moving[np.argmax(size[moving])])
    names = [joint.name for joint in body.joints]
    if size[main] == len(names) - _depth(body.parents, main):
        merged = tuple(names[:main])
        true_positions = true_positions[:, main:]
        _cut_above(body, main, true_positions[:, 0])
    else:
        merged = ()
        fixed = body.translations.copy()
        fixed[:, 1:] = body.offsets[1:]
        shift = true_positions - world_positions(body.parents, fixed, body.rotations)
        body.translations[:, 0] += shift[:, main]
    body.translations[:, 1:] = body.offsets[1:]
    kept = world_positions(body.parents, body.translations, body.rotations)
    off = np.max(np.linalg.norm(true_positions - kept, axis=-1), axis=0)
    worst = int(np.argmax(off))
    if off[worst] <= _STILL * extent:
        return merged, 0.0, None
    return merged, float(off[worst]), body.joints[worst].name


def _cut_above(body: _Body, top: int, positions: FloatArray) -> None:
    """Make joint `top`, below a single chain, the root; its world transform stays the same."""
    turned = body.rotations[:, 0]
    for joint in range(1, top + 1):
        turned = multiply(turned, body.rotations[:, joint])
    resting = np.sum(body.offsets[: top + 1], axis=0)
    body.joints = body.joints[top:]
    body.parents = np.maximum(body.parents[top:] - top, -1)
    body.offsets = body.offsets[top:].copy()
    body.offsets[0] = resting
    body.rotations = body.rotations[:, top:].copy()
    body.rotations[:, 0] = turned
    body.translations = body.translations[:, top:].copy()
    body.translations[:, 0] = positions


def world_positions(
    parents: IntArray, translations: FloatArray, rotations_xyzw: FloatArray
) -> FloatArray:
    """World positions (T, n, 3) of joints that may also move in their parents, (T, n, 3) each."""
    positions = translations.copy()
    turned = rotations_xyzw.copy()
    for joint in range(1, len(parents)):
        parent = parents[joint]
        positions[:, joint] = positions[:, parent] + rotate(
            turned[:, parent], translations[:, joint]
        )
        turned[:, joint] = multiply(turned[:, parent], rotations_xyzw[:, joint])
    return positions


def _subtree_sizes(parents: IntArray) -> IntArray:
    size = np.ones(len(parents), np.int64)
    for joint in range(len(parents) - 1, 0, -1):
        size[parents[joint]] += size[joint]
    return size


def _depth(parents: IntArray, joint: int) -> int:
    depth = 0
    while parents[joint] >= 0:
        joint = int(parents[joint])
        depth += 1
    return depth


def _rest_positions(body: _Body) -> FloatArray:
    n = len(body.joints)
    return world_positions(body.parents, body.offsets[None], np.tile(IDENTITY_XYZW, (1, n, 1)))


def _unit(body: _Body, limbs: Limbs | None, unit_m: float | None) -> UnitDecision:
    if unit_m is not None:
        name = next((name for name, unit in UNITS_M.items() if unit == unit_m), f"{unit_m:g} m")
        return UnitDecision(unit_m, name, True, "as asked")
    height = float(np.max(np.ptp(_rest_positions(body)[0], axis=0)))
    return decide_unit(limbs, height)


def _ups(body: _Body, limbs: Limbs | None, up: Axis | None) -> tuple[UpDecision, UpDecision]:
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
    body: _Body, unit_m: float, world_turn: FloatArray, rest_turn: FloatArray
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
