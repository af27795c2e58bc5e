"""The text of a BVH file, read into joints and numbers, as written: file units, degrees, file axes.

Every problem is a ClipError of one line: file, line number, what was expected, what was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Final, NoReturn

import numpy as np

from understudy.characters.clip import ClipError
from understudy.kinematics import FloatArray

CHANNELS: Final = {
    f"{axis}{kind}".lower(): f"{axis}{kind}"
    for kind in ("position", "rotation")
    for axis in ("X", "Y", "Z")
}

# Far beyond any body or angle in any unit, and far below where arithmetic on squares overflows.
_LARGEST: Final = 1e9

_COUNT = re.compile(r"[0-9]{1,9}")
_FRAMES = re.compile(r"\s*Frames\s*:\s*(.*?)\s*$", re.IGNORECASE)
_FRAME_TIME = re.compile(r"\s*Frame\s+Time\s*:\s*(.*?)\s*$", re.IGNORECASE)


@dataclass(slots=True)
class BvhJoint:
    """A joint as the file has it; `channels` are spelled as in CHANNELS' values.

    `first_channel` is the column of its first channel in the motion rows, `tip` the offset of its
    first End Site that has a length.
    """

    name: str
    parent: int
    line: int
    first_channel: int = 0
    offset: tuple[float, float, float] | None = None
    channels: tuple[str, ...] = ()
    tip: tuple[float, float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BvhText:
    """Joints in file order, parents first, and the motion block (frames, channels).

    `frame_time_s` is None where the file has no MOTION section; `frame_time_step_s` is one unit in
    its last written place.
    """

    joints: tuple[BvhJoint, ...]
    frame_time_s: float | None
    frame_time_step_s: float
    motion: FloatArray


def parse_bvh(path: Path) -> BvhText:
    """Read a BVH file as it is written; ClipError says what is wrong with it and in which line."""
    lines = _lines(path)
    motion_at = next(
        (i for i, line in enumerate(lines) if line.split()[:1] == ["MOTION"]), len(lines)
    )
    joints = _Hierarchy(path, lines[:motion_at]).joints()
    channel_count = sum(len(joint.channels) for joint in joints)
    if motion_at == len(lines):
        return BvhText(joints, None, 0.0, np.zeros((0, channel_count)))
    return BvhText(joints, *_motion(path, lines, motion_at + 1, channel_count))


def _fail(path: Path, line: int, problem: str) -> NoReturn:
    raise ClipError(f"{path}:{line}: {problem}")


def _shown(text: str) -> str:
    """What was found, short enough for one line of an error."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _lines(path: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ClipError(f"{path}: cannot be read: {error.strerror or error}") from None
    if b"\0" in data:
        _fail(path, 1, "expected the text of a BVH file, found binary data")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        # Only names can hold such letters; any spelling of them will do.
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _number(path: Path, line: int, token: str, what: str) -> float:
    try:
        value = float(token)
    except ValueError:
        _fail(path, line, f"expected a number for {what}, found {_shown(token)}")
    if not abs(value) <= _LARGEST:
        _fail(path, line, f"expected a number within +-{_LARGEST:g} for {what}, found {token}")
    return value


class _Hierarchy:
    """The HIERARCHY section as a stream of words that know their line."""

    def __init__(self, path: Path, lines: list[str]) -> None:
        self._path = path
        self._words = [
            (word, number)
            for number, line in enumerate(lines, start=1)
            for word in line.replace("{", " { ").replace("}", " } ").split()
        ]
        self._at = 0
        self._last_line = len(lines)

    def joints(self) -> tuple[BvhJoint, ...]:
        """Read the whole section."""
        self._expect("HIERARCHY")
        self._expect("ROOT")
        joints: list[BvhJoint] = []
        lines: dict[str, int] = {}
        open_joints = [self._open(joints, lines, parent=-1)]
        column = 0
        while open_joints:
            joint = joints[open_joints[-1]]
            word, line = self._next(f"'}}' to close joint {joint.name!r} of line {joint.line}")
            match word.upper():
                case "OFFSET":
                    joint.offset = self._triple(f"the OFFSET of {joint.name!r}")
                case "CHANNELS":
                    if joint.channels:
                        self._fail(line, f"expected one CHANNELS in {joint.name!r}, found another")
                    joint.channels = self._channels(joint, line)
                    joint.first_channel = column
                    column += len(joint.channels)
                case "JOINT":
                    open_joints.append(self._open(joints, lines, parent=open_joints[-1]))
                case "END":
                    self._end_site(joint)
                case "}":
                    if joint.offset is None:
                        self._fail(line, f"expected an OFFSET in joint {joint.name!r}, found none")
                    open_joints.pop()
                case _:
                    self._fail(
                        line,
                        "expected OFFSET, CHANNELS, JOINT, End Site or '}' "
                        f"in joint {joint.name!r}, found {_shown(word)}",
                    )
        if self._at < len(self._words):
            word, line = self._words[self._at]
            if word.upper() == "ROOT":
                self._fail(line, "expected one ROOT, found a second; only one body may be in it")
            self._fail(line, f"expected MOTION after the hierarchy, found {_shown(word)}")
        return tuple(joints)

    def _open(self, joints: list[BvhJoint], lines: dict[str, int], parent: int) -> int:
        """The name and brace after ROOT or JOINT; the new joint's number."""
        line = self._words[self._at - 1][1]
        name = " ".join(self._rest_of_line())
        if not name:
            self._fail(line, "expected the name of a joint, found none")
        if name in lines:
            self._fail(
                line, f"expected names to be unique, found {name!r} again (line {lines[name]})"
            )
        lines[name] = line
        self._expect("{")
        joints.append(BvhJoint(name, parent, line))
        return len(joints) - 1

    def _end_site(self, joint: BvhJoint) -> None:
        self._rest_of_line()
        self._expect("{")
        self._expect("OFFSET")
        tip = self._triple(f"the End Site of {joint.name!r}")
        self._expect("}")
        # A leaf must have an End Site; one of no length is how files say that it has no bone.
        if joint.tip is None and any(tip):
            joint.tip = tip

    def _channels(self, joint: BvhJoint, line: int) -> tuple[str, ...]:
        count, *names = self._rest_of_line() or [""]
        if not _COUNT.fullmatch(count):
            self._fail(line, f"expected the number of channels, found {_shown(count)}")
        channels = []
        for name in names:
            channel = CHANNELS.get(name.lower())
            if channel is None:
                allowed = ", ".join(CHANNELS.values())
                self._fail(line, f"expected channels of {allowed}, found {_shown(name)}")
            if channel in channels:
                self._fail(line, f"expected every channel once, found {channel} again")
            channels.append(channel)
        if int(count) != len(channels):
            self._fail(line, f"expected {count} channels of {joint.name!r}, found {len(channels)}")
        return tuple(channels)

    def _triple(self, what: str) -> tuple[float, float, float]:
        values = []
        for _ in range(3):
            word, line = self._next(f"three numbers for {what}")
            values.append(_number(self._path, line, word, what))
        return (values[0], values[1], values[2])

    def _rest_of_line(self) -> list[str]:
        """The words up to the end of the last word's line or to a brace."""
        line = self._words[self._at - 1][1]
        words = []
        while self._at < len(self._words):
            word, number = self._words[self._at]
            if number != line or word in ("{", "}"):
                break
            words.append(word)
            self._at += 1
        return words

    def _next(self, expected: str) -> tuple[str, int]:
        if self._at == len(self._words):
            line = self._words[-1][1] if self._words else max(1, self._last_line)
            self._fail(line, f"expected {expected}, found the end of the section")
        self._at += 1
        return self._words[self._at - 1]

    def _expect(self, keyword: str) -> None:
        word, line = self._next(repr(keyword))
        if word.upper() != keyword:
            self._fail(line, f"expected {keyword!r}, found {_shown(word)}")

    def _fail(self, line: int, problem: str) -> NoReturn:
        _fail(self._path, line, problem)


def _motion(
    path: Path, lines: list[str], start: int, channel_count: int
) -> tuple[float, float, FloatArray]:
    """Frame time and its precision (s), and the rows; lines[start] is the one after MOTION."""
    filled = [(i + 1, line) for i, line in enumerate(lines[start:], start) if line.strip()]
    frames_line, frames_text = _headed(path, filled[:1], len(lines), _FRAMES, "Frames: <count>")
    if not _COUNT.fullmatch(frames_text):
        _fail(path, frames_line, f"expected a count of frames, found {_shown(frames_text)}")
    frame_count = int(frames_text)
    time_line, time_text = _headed(
        path, filled[1:2], len(lines), _FRAME_TIME, "Frame Time: <seconds>"
    )
    frame_time_s = _number(path, time_line, time_text, "the frame time")
    if not frame_time_s >= 1e-6:
        _fail(path, time_line, f"expected a frame time above zero, found {_shown(time_text)}")
    rows = [line.split() for _, line in filled[2:]]
    for (line, _), row in zip(filled[2:], rows, strict=True):
        if len(row) != channel_count:
            _fail(path, line, f"expected {channel_count} numbers, found {len(row)}")
    if len(rows) != frame_count:
        line = filled[2 + frame_count][0] if len(rows) > frame_count else filled[-1][0]
        _fail(path, line, f"expected {frame_count} frames (Frames:), found {len(rows)}")
    try:
        numbers = np.fromiter(
            map(float, chain.from_iterable(rows)), np.float64, frame_count * channel_count
        )
        sound = bool(np.all(np.abs(numbers) <= _LARGEST))  # False for NaN too
    except ValueError:
        sound = False
    if not sound:
        _blame_number(path, filled[2:])
    # One unit in the last written place: how exact the frame time is.
    step_s = 10.0 ** int(Decimal(time_text).as_tuple().exponent)
    return frame_time_s, step_s, numbers.reshape(frame_count, channel_count)


def _headed(
    path: Path,
    line: list[tuple[int, str]],
    last_line: int,
    pattern: re.Pattern[str],
    expected: str,
) -> tuple[int, str]:
    """Line number and value of a `Key: value` line."""
    if not line:
        _fail(path, last_line, f"expected '{expected}', found the end of the file")
    number, text = line[0]
    match = pattern.match(text)
    if match is None:
        _fail(path, number, f"expected '{expected}', found {_shown(text.strip())}")
    return number, match.group(1)


def _blame_number(path: Path, rows: Iterable[tuple[int, str]]) -> None:
    """Find the number at fault and say where it is; the slow way, walked only after a failure."""
    for line, row in rows:
        for column, token in enumerate(row.split(), start=1):
            _number(path, line, token, f"channel {column}")
