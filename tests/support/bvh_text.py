"""BVH texts made by code, and a slow, independent reading of their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from understudy.kinematics import FloatArray

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS = ("Zrotation", "Xrotation", "Yrotation")

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Sketch:
    """One joint of a file to be; `parent` is a number, -1 for the root."""

    name: str
    parent: int
    offset: Triple
    channels: tuple[str, ...] = ROTATIONS
    tip: Triple | None = None


def bvh_text(
    joints: Sequence[Sketch],
    rows: Sequence[Sequence[float]] | FloatArray | None,
    frame_time: str = "0.0333333",
) -> str:
    """The file; without MOTION if `rows` is None."""
    lines = ["HIERARCHY", *_joint_lines(joints, 0, 0)]
    if rows is not None:
        lines += ["MOTION", f"Frames: {len(rows)}", f"Frame Time: {frame_time}"]
        lines += [" ".join(repr(float(value)) for value in row) for row in rows]
    return "\n".join(lines) + "\n"


def _joint_lines(joints: Sequence[Sketch], number: int, depth: int) -> list[str]:
    joint = joints[number]
    outer, inner = "  " * depth, "  " * (depth + 1)
    lines = [
        f"{outer}{'ROOT' if joint.parent < 0 else 'JOINT'} {joint.name}",
        outer + "{",
        f"{inner}OFFSET {_numbers(joint.offset)}",
        f"{inner}CHANNELS {len(joint.channels)} {' '.join(joint.channels)}",
    ]
    for child, other in enumerate(joints):
        if other.parent == number:
            lines += _joint_lines(joints, child, depth + 1)
    if joint.tip is not None:
        lines += [inner + "End Site", inner + "{"]
        lines += [f"{inner}  OFFSET {_numbers(joint.tip)}", inner + "}"]
    return [*lines, outer + "}"]


def _numbers(values: Triple) -> str:
    return " ".join(repr(float(value)) for value in values)


def file_order(joints: Sequence[Sketch]) -> list[int]:
    """The numbers of the joints in the order in which `bvh_text` writes them."""
    order, pending = [], [0]
    while pending:
        number = pending.pop()
        order.append(number)
        pending += [i for i in range(len(joints) - 1, 0, -1) if joints[i].parent == number]
    return order


def channel_count(joints: Sequence[Sketch]) -> int:
    """How many numbers a row has."""
    return sum(len(joint.channels) for joint in joints)


def positions_of(
    joints: Sequence[Sketch], row: Sequence[float] | FloatArray
) -> dict[str, FloatArray]:
    """Where a row puts the joints, in file units: one matrix after the other."""
    values = iter(row)
    places: dict[int, tuple[FloatArray, FloatArray]] = {}
    for number in file_order(joints):
        joint = joints[number]
        place = np.array(joint.offset, np.float64)
        turn = np.eye(3)
        for channel in joint.channels:
            value = float(next(values))
            if channel.endswith("position"):
                place["XYZ".index(channel[0])] = value
            else:
                turn = turn @ Rotation.from_euler(channel[0], value, degrees=True).as_matrix()
        if joint.parent >= 0:
            parent_place, parent_turn = places[joint.parent]
            place = parent_place + parent_turn @ place
            turn = parent_turn @ turn
        places[number] = (place, turn)
    return {joint.name: places[number][0] for number, joint in enumerate(joints)}


def human(scale: float = 1.0, to_file: FloatArray | None = None) -> list[Sketch]:
    """A standing body with meaningless names; offsets (m) times `scale`, turned by `to_file`."""
    turn = np.eye(3) if to_file is None else to_file
    sketches: list[Sketch] = []

    def add(
        name: str, parent: str | None, x: float, y: float, z: float, tip: Triple | None
    ) -> None:
        names = [sketch.name for sketch in sketches]
        sketches.append(
            Sketch(
                name=name,
                parent=-1 if parent is None else names.index(parent),
                offset=_turned(turn, scale, (x, y, z)),
                channels=POSITIONS + ROTATIONS if parent is None else ROTATIONS,
                tip=None if tip is None else _turned(turn, scale, tip),
            )
        )

    add("j0", None, 0.0, 0.95, 0.0, None)
    add("j1", "j0", 0.0, 0.12, 0.0, None)
    add("j2", "j1", 0.0, 0.15, -0.01, None)
    add("j3", "j2", 0.0, 0.25, 0.0, None)
    add("j4", "j3", 0.0, 0.11, 0.02, (0.0, 0.17, 0.0))
    for side, sign in (("p", 1.0), ("q", -1.0)):
        add(side + "1", "j2", sign * 0.04, 0.2, 0.0, None)
        add(side + "2", side + "1", sign * 0.14, 0.0, 0.0, None)
        add(side + "3", side + "2", sign * 0.28, 0.0, 0.0, None)
        add(side + "4", side + "3", sign * 0.25, 0.0, 0.0, (sign * 0.18, 0.0, 0.0))
    for side, sign in (("r", 1.0), ("s", -1.0)):
        add(side + "1", "j0", sign * 0.09, -0.03, 0.0, None)
        add(side + "2", side + "1", 0.0, -0.42, 0.01, None)
        add(side + "3", side + "2", 0.0, -0.41, -0.02, None)
        add(side + "4", side + "3", 0.0, -0.07, 0.13, (0.0, 0.0, 0.07))
    return sketches


def _turned(turn: FloatArray, scale: float, vector: Triple) -> Triple:
    x, y, z = (float(value) for value in turn @ np.array(vector) * scale)
    return x, y, z
