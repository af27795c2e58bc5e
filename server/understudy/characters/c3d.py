"""C3D files as measured points: metres, Y up, NaN where a marker was not seen.

Written after the format's public description (c3d.org): a header block, a section of parameters,
then the frames. Integers and floats come in the byte order of the processor that wrote the file:
Intel, DEC (VAX floats) or MIPS. Analog samples are skipped.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.characters.c3d_parameters import (
    BLOCK,
    Numbers,
    ParameterSection,
    PointsError,
    read_parameters,
)
from understudy.characters.units import AXES, Axis, y_up_from
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import rotate

UNITS_M: Final = {"mm": 1e-3, "cm": 1e-2, "dm": 0.1, "m": 1.0, "in": 0.0254, "ft": 0.3048}

_MAGIC: Final = 0x50


@dataclass(frozen=True, slots=True, eq=False)
class PointTake:
    """Measured points of one take: `points` (T, k, 3) m, Y up, three NaN for one not seen.

    `labels` are unique, without the subject's prefix where every label has the same one.
    """

    name: str
    labels: tuple[str, ...]
    rate_hz: float
    points: FloatArray

    @property
    def frame_count(self) -> int:
        """How many frames were measured."""
        return len(self.points)

    @property
    def gap_share(self) -> float:
        """The share of points that were not seen."""
        return float(np.isnan(self.points[..., 0]).mean()) if self.points.size else 0.0

    def chosen(self, labels: tuple[str, ...]) -> PointTake:
        """The same take with these markers only; PointsError names one that is not there."""
        for label in labels:
            if label not in self.labels:
                raise PointsError(
                    f"points {self.name!r}: no marker {label!r}; there are: "
                    f"{', '.join(self.labels)}"
                )
        columns = [self.labels.index(label) for label in labels]
        return PointTake(self.name, labels, self.rate_hz, self.points[:, columns])


def read_c3d(path: str | Path, *, up: Axis | None = None) -> PointTake:
    """Read the points of a C3D file; `up` is the file's axis that points up, if it is not Z.

    PointsError is one line that names the file and what is wrong with it.
    """
    path = Path(path)
    if up is not None and up not in AXES:
        raise PointsError(f"up axis {up!r} is unknown; allowed: {', '.join(AXES)}")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PointsError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        return _read(path.stem, content, up)
    except PointsError as error:
        raise PointsError(f"{path}: {error}") from None


def _read(name: str, content: bytes, up: Axis | None) -> PointTake:
    if len(content) < 2 * BLOCK or content[1] != _MAGIC or content[0] == 0:
        raise PointsError("is not a C3D file")
    parameters = read_parameters(content, (content[0] - 1) * BLOCK)
    numbers = parameters.numbers
    words = numbers.unsigned(content[:BLOCK])
    count = int(words[1])
    analog_per_frame = int(words[2])
    rate = float(parameters.number("POINT", "RATE", numbers.floats(content[20:24])[0]))
    scale = float(numbers.floats(content[12:16])[0])
    start = (int(words[8]) - 1) * BLOCK
    frames = _frame_count(parameters, words)
    if count == 0 or frames < 1:
        raise PointsError(f"has {frames} frames of {count} points; at least one is needed")
    if not (math.isfinite(rate) and rate > 0.0):
        raise PointsError(f"has a rate of {rate:g} Hz; allowed: above zero")
    raw = _frames(content, start, frames, count, analog_per_frame, scale, numbers)
    unit = parameters.text("POINT", "UNITS", "mm").lower()
    if unit not in UNITS_M:
        raise PointsError(f"has points in {unit!r}; allowed: {', '.join(UNITS_M)}")
    # Where the file draws its vertical tells which axis that is; Z by the format's custom.
    drawn_up = parameters.text("POINT", "Y_SCREEN", "+Z").lower().strip("+")
    turn = y_up_from(up or (drawn_up if drawn_up in AXES else "z"))
    points = rotate(turn, raw[..., :3] * UNITS_M[unit])
    unseen = (raw[..., 3] < 0.0) | ~np.isfinite(raw).all(axis=-1)
    points[unseen] = np.nan
    return PointTake(name, _labels(parameters, count), rate, np.ascontiguousarray(points))


def _frame_count(parameters: ParameterSection, words: NDArray[np.uint16]) -> int:
    """How many frames; the header's 16 bits are not enough for long takes."""
    first = parameters.words("TRIAL", "ACTUAL_START_FIELD")
    last = parameters.words("TRIAL", "ACTUAL_END_FIELD")
    if first is not None and last is not None:
        return last - first + 1
    return int(words[4]) - int(words[3]) + 1


def _frames(
    content: bytes,
    start: int,
    frames: int,
    count: int,
    analog_per_frame: int,
    scale: float,
    numbers: Numbers,
) -> FloatArray:
    """x, y, z in the file's unit and the residual, (T, k, 4); a scale below zero means floats."""
    size = 4 if scale < 0.0 else 2
    row = 4 * count + analog_per_frame
    end = start + frames * row * size
    if start < BLOCK or end > len(content):
        raise PointsError(
            f"ends after {len(content)} bytes; {frames} frames of {count} points need {end}"
        )
    data = content[start:end]
    values = numbers.floats(data) if size == 4 else numbers.signed(data).astype(np.float64)
    raw = np.array(values.reshape(frames, row)[:, : 4 * count].reshape(frames, count, 4))
    if size == 2:
        raw[..., :3] *= scale
    # The fourth number is one word: cameras in the high byte, the residual in the low one. Below
    # zero it says that the point was not seen.
    return raw


def _labels(parameters: ParameterSection, count: int) -> tuple[str, ...]:
    labels = parameters.texts("POINT", "LABELS")
    number = 2
    while len(labels) < count and (more := parameters.texts("POINT", f"LABELS{number}")):
        labels += more  # at most 255 names fit one parameter
        number += 1
    labels = labels[:count] + [""] * (count - len(labels))
    prefixes = {label.partition(":")[0] if ":" in label else "" for label in labels}
    if len(prefixes) == 1:
        labels = [label.rpartition(":")[2] for label in labels]
    unique: dict[str, None] = {}
    for number, label in enumerate(labels):
        plain = label or f"point{number + 1}"
        other, copy = plain, 2
        while other in unique:
            other, copy = f"{plain}-{copy}", copy + 1
        unique[other] = None
    return tuple(unique)
