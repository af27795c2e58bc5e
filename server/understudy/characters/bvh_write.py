"""Clips as BVH files: centimetres, Y up, channels Z X Y.

BVH knows neither rest rotations nor hinges: every joint gets three rotation channels, and they hold
the full rotation, rest rotation included. Read back, the body moves exactly as before.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np

from understudy.characters.clip import Clip, ClipError
from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.rotations import matrix, multiply

_UNITS_PER_M: Final = 100.0
_ROTATION_CHANNELS: Final = "Zrotation Xrotation Yrotation"
_NUMBER: Final = "%.6f"  # 1e-8 m and 1e-8 rad


def write_bvh(path: str | Path, clip: Clip) -> None:
    """Write a clip; ClipError if a name cannot stand in the file or the file cannot be written."""
    lines, order = _hierarchy(clip.skeleton)
    lines += ["MOTION", f"Frames: {clip.frame_count}", f"Frame Time: {1.0 / clip.rate_hz!r}"]
    angles = zxy_degrees(clip.rotations_xyzw[:, order])
    channels = np.concatenate(
        [
            clip.roots * _UNITS_PER_M,
            angles.reshape(clip.frame_count, 3 * len(order)),
        ],
        axis=1,
    )
    row = " ".join([_NUMBER] * channels.shape[1])
    lines += [row % tuple(values) for values in _tidy(channels).tolist()]
    try:
        Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    except OSError as error:
        raise ClipError(f"{path}: cannot be written: {error.strerror or error}") from None


def zxy_degrees(rotations_xyzw: FloatArray) -> FloatArray:
    """Angles (T, ..., 3) about Z, then the new X, then the new Y, without jumps of 360 in time.

    The last two are read off what is left once the first is undone, so that near gimbal lock, where
    the first is arbitrary, the three still make up the rotation exactly.
    """
    turn = matrix(rotations_xyzw)
    z = np.arctan2(-turn[..., 0, 1], turn[..., 1, 1])
    undo_z = np.zeros_like(rotations_xyzw)
    undo_z[..., 2] = -np.sin(z / 2.0)
    undo_z[..., 3] = np.cos(z / 2.0)
    left = matrix(multiply(undo_z, rotations_xyzw))
    x = np.arctan2(left[..., 2, 1], left[..., 1, 1])
    y = np.arctan2(left[..., 0, 2], left[..., 0, 0])
    # Programs that interpolate the channels must not turn the long way round.
    return np.degrees(np.unwrap(np.stack([z, x, y], axis=-1), axis=0))


def _hierarchy(skeleton: Skeleton) -> tuple[list[str], list[int]]:
    """The section's lines, and the joints in its order, which the channels must follow."""
    lines, order = ["HIERARCHY"], []
    # Joints to open with their depth, and the braces that close them, last one first.
    pending: list[tuple[int, int] | str] = [(0, 0)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        joint, depth = item
        order.append(joint)
        lines += _joint(skeleton, joint, depth)
        pending.append("\t" * depth + "}")
        pending += [(child, depth + 1) for child in reversed(skeleton.children(joint))]
    return lines, order


def _joint(skeleton: Skeleton, joint: int, depth: int) -> list[str]:
    """A joint's block up to its first child."""
    name = skeleton.names[joint]
    if name != " ".join(name.split()) or "{" in name or "}" in name:
        raise ClipError(
            f"joint {name!r}: a BVH file takes no braces, line breaks or double blanks in names"
        )
    keyword, channels = ("JOINT", "3 ") if depth else ("ROOT", "6 Xposition Yposition Zposition ")
    outer, inner = "\t" * depth, "\t" * (depth + 1)
    lines = [
        f"{outer}{keyword} {name}",
        outer + "{",
        f"{inner}OFFSET {_triple(skeleton.offsets[joint])}",
        f"{inner}CHANNELS {channels}{_ROTATION_CHANNELS}",
    ]
    # Every leaf has an End Site in this format; one without a tip gets one of no length.
    if skeleton.has_tip[joint] or not skeleton.children(joint):
        tip = _triple(skeleton.tips[joint])
        lines += [inner + "End Site", inner + "{", f"{inner}\tOFFSET {tip}", inner + "}"]
    return lines


def _triple(metres: FloatArray) -> str:
    return " ".join(_NUMBER % value for value in _tidy(metres * _UNITS_PER_M))


def _tidy(numbers: FloatArray) -> FloatArray:
    """Rounded as they will be written, without a minus before a zero."""
    return np.asarray(np.round(numbers, 6) + 0.0, dtype=np.float64)
