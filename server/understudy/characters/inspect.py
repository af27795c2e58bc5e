"""What a clip or rig holds, in words and numbers: tree, sizes, unit, axes, how they were told."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy.characters.builtin import BUILTIN_CLIPS
from understudy.characters.bvh import read_bvh
from understudy.characters.clip import Clip
from understudy.characters.library import CLIP_SUFFIXES, load_character, load_clip
from understudy.characters.units import Axis, UnitDecision, UpDecision
from understudy.kinematics import KIND_NAMES, FloatArray, ForwardKinematics, Skeleton


@dataclass(frozen=True, slots=True)
class BoneDescription:
    """A joint and the bone from its parent to it; `tip_m` is the bone beyond a leaf, if known."""

    name: str
    parent: str | None
    depth: int
    kind: str
    length_m: float
    tip_m: float | None


@dataclass(frozen=True, slots=True)
class MotionDescription:
    """Frames of a clip and the room its root moves in: lowest and highest x, y, z (m)."""

    frame_count: int
    rate_hz: float
    duration_s: float
    root_from_m: tuple[float, float, float] | None
    root_to_m: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True)
class ReadingDescription:
    """How a BVH file was read; see BvhReport."""

    unit: UnitDecision
    up: UpDecision
    rest_up: UpDecision
    merged: tuple[str, ...]
    residual_m: float
    residual_joint: str | None


@dataclass(frozen=True, slots=True)
class Description:
    """Everything `inspect` tells; `motion` is None for rigs, `reading` for all but BVH files.

    `height_m` is the extent of the rest pose along Y, tips included.
    """

    name: str
    joint_count: int
    height_m: float
    bones: tuple[BoneDescription, ...]
    motion: MotionDescription | None
    reading: ReadingDescription | None

    def to_json(self) -> dict[str, Any]:  # Any: the shape is the dataclasses'
        """Plain dictionaries, lists, strings and numbers."""
        return asdict(self)

    def to_text(self) -> str:
        """Several lines for people."""
        lines = [f"{self.name}: {self.joint_count} joints, rest pose {self.height_m:.3f} m high"]
        if self.motion is not None:
            lines.append(_motion_line(self.motion))
        if self.reading is not None:
            lines += _reading_lines(self.reading)
        lines += [_bone_line(bone) for bone in self.bones]
        return "\n".join(lines)


def describe(
    name_or_path: str | Path, *, unit_m: float | None = None, up: Axis | None = None
) -> Description:
    """Describe a built-in or a file; `unit_m` and `up` override what a BVH file's body suggests."""
    name, path = str(name_or_path), Path(name_or_path)
    if name in BUILTIN_CLIPS:
        clip = load_clip(name)
        return describe_body(name, clip.skeleton, clip)
    if path.suffix.lower() in CLIP_SUFFIXES:
        file = read_bvh(path, unit_m=unit_m, up=up)
        report = file.report
        reading = ReadingDescription(
            unit=report.unit,
            up=report.up,
            rest_up=report.rest_up,
            merged=report.merged,
            residual_m=report.residual_m,
            residual_joint=report.residual_joint,
        )
        return describe_body(path.name, file.clip.skeleton, file.clip, reading)
    return describe_body(path.name, load_character(name_or_path))


def describe_body(
    name: str,
    skeleton: Skeleton,
    clip: Clip | None = None,
    reading: ReadingDescription | None = None,
) -> Description:
    """Describe a body, and its motion if there is one."""
    depths = [len(skeleton.ancestors(joint)) - 1 for joint in range(len(skeleton))]
    lengths = np.linalg.norm(skeleton.offsets, axis=1)
    tip_lengths = np.linalg.norm(skeleton.tips, axis=1)
    bones = tuple(
        BoneDescription(
            name=skeleton.names[joint],
            parent=None if joint == 0 else skeleton.names[skeleton.parents[joint]],
            depth=depths[joint],
            kind=KIND_NAMES[skeleton.kinds[joint]],
            length_m=0.0 if joint == 0 else float(lengths[joint]),
            tip_m=float(tip_lengths[joint]) if skeleton.has_tip[joint] else None,
        )
        for joint in _depth_first(skeleton)
    )
    return Description(
        name=name,
        joint_count=len(skeleton),
        height_m=_rest_height_m(skeleton),
        bones=bones,
        motion=None if clip is None else _motion(clip),
        reading=reading,
    )


def _depth_first(skeleton: Skeleton) -> list[int]:
    order, pending = [], [0]
    while pending:
        joint = pending.pop()
        order.append(joint)
        pending += reversed(skeleton.children(joint))
    return order


def _rest_height_m(skeleton: Skeleton) -> float:
    forward = ForwardKinematics(skeleton)
    rest = skeleton.rest_pose()
    forward.update(rest.root, rest.rotations_xyzw)
    ends = [forward.point(joint, skeleton.tips[joint])[1] for joint in range(len(skeleton))]
    heights = [*forward.positions[:, 1], *ends]
    return float(max(heights) - min(heights))


def _motion(clip: Clip) -> MotionDescription:
    lowest = highest = None
    if clip.frame_count:
        lowest, highest = _triple(clip.roots.min(axis=0)), _triple(clip.roots.max(axis=0))
    return MotionDescription(clip.frame_count, clip.rate_hz, clip.duration_s, lowest, highest)


def _triple(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _motion_line(motion: MotionDescription) -> str:
    if motion.root_from_m is None or motion.root_to_m is None:
        return "no motion"
    room = ", ".join(
        f"{axis} {low:.2f} to {high:.2f}"
        for axis, low, high in zip("xyz", motion.root_from_m, motion.root_to_m, strict=True)
    )
    return (
        f"{motion.frame_count} frames at {motion.rate_hz:g} Hz, {motion.duration_s:.2f} s; "
        f"root (m): {room}"
    )


def _reading_lines(reading: ReadingDescription) -> list[str]:
    lines = [
        f"unit: {reading.unit.name} ({reading.unit.unit_m:g} m): {reading.unit.why}",
        f"up: {reading.up.axis}: {reading.up.why}",
    ]
    if reading.rest_up.axis != reading.up.axis:
        lines.append(f"up at rest: {reading.rest_up.axis}: {reading.rest_up.why}")
    if reading.merged:
        lines.append(f"merged into the joint below them: {', '.join(reading.merged)}")
    if reading.residual_joint is not None:
        lines.append(
            f"bones change their length: {reading.residual_joint} is off by up to "
            f"{reading.residual_m:.4f} m"
        )
    return lines


def _bone_line(bone: BoneDescription) -> str:
    kind = "" if bone.kind == "ball" else f" {bone.kind}"
    tip = "" if bone.tip_m is None else f", tip {bone.tip_m:.3f} m"
    length = "" if bone.parent is None else f" {bone.length_m:.3f} m"
    return f"{'  ' * bone.depth}{bone.name}{kind}{length}{tip}"
