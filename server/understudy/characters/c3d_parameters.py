"""The parameter section of a C3D file, and its numbers as one of three processors wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray

BLOCK: Final = 512

INTEL: Final = 84
DEC: Final = 85
MIPS: Final = 86

_CHARACTERS: Final = -1
_BYTES: Final = 1
_INTEGERS: Final = 2
_FLOATS: Final = 4


class PointsError(UnderstudyError):
    """Measured points that cannot be read or do not fit the motion: one line."""


class Numbers:
    """Integers and floats in the byte order of the processor that wrote a file."""

    def __init__(self, processor: int) -> None:
        if processor not in (INTEL, DEC, MIPS):
            raise PointsError(f"is of processor {processor}; allowed: 84 Intel, 85 DEC, 86 MIPS")
        self._order = ">" if processor == MIPS else "<"
        self._vax = processor == DEC

    def unsigned(self, data: bytes) -> NDArray[np.uint16]:
        """16-bit words."""
        return np.frombuffer(data, f"{self._order}u2").astype(np.uint16)

    def signed(self, data: bytes) -> NDArray[np.int16]:
        """16-bit integers."""
        return np.frombuffer(data, f"{self._order}i2").astype(np.int16)

    def floats(self, data: bytes) -> FloatArray:
        """32-bit floats."""
        if not self._vax:
            return np.frombuffer(data, f"{self._order}f4").astype(np.float64)
        # A VAX float is an IEEE one with its halves exchanged and an exponent two higher.
        halves = np.frombuffer(data, "<u2").reshape(-1, 2)
        bits = halves[:, 0].astype(np.uint32) << 16 | halves[:, 1]
        return np.asarray(bits.view(np.float32), np.float64) / 4.0


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter as it lies in the file: kind of its values, dimensions, bytes."""

    kind: int
    shape: tuple[int, ...]
    data: bytes


class ParameterSection:
    """Parameters by the upper-case names of their group and their own."""

    def __init__(self, numbers: Numbers, table: dict[tuple[str, str], Parameter]) -> None:
        self.numbers = numbers
        self._table = table

    def number(self, group: str, name: str, default: float) -> float:
        """The first value of a parameter of numbers."""
        parameter = self._table.get((group, name))
        if parameter is None or len(parameter.data) < abs(parameter.kind):
            return default
        if parameter.kind == _FLOATS:
            return float(self.numbers.floats(parameter.data)[0])
        if parameter.kind == _INTEGERS:
            return float(self.numbers.unsigned(parameter.data)[0])
        return default

    def words(self, group: str, name: str) -> int | None:
        """A number of 32 bits in two 16-bit words, the low one first."""
        parameter = self._table.get((group, name))
        if parameter is None or parameter.kind != _INTEGERS or len(parameter.data) < 4:
            return None
        low, high = self.numbers.unsigned(parameter.data)[:2]
        return int(low) + 65536 * int(high)

    def texts(self, group: str, name: str) -> list[str]:
        """The strings of a parameter of characters; none if there is no such parameter."""
        parameter = self._table.get((group, name))
        if parameter is None or parameter.kind != _CHARACTERS or not parameter.shape:
            return []
        width = parameter.shape[0]
        whole = parameter.data.decode("latin-1")
        return [whole[i : i + width].strip(" \0") for i in range(0, len(whole), width) if width > 0]

    def text(self, group: str, name: str, default: str) -> str:
        """The first string of a parameter of characters."""
        return next(iter(self.texts(group, name)), "") or default


def read_parameters(content: bytes, start: int) -> ParameterSection:
    """The section that begins at byte `start`; PointsError if it is cut short."""
    try:
        return _parameters(content, start)
    except (IndexError, ValueError):
        raise PointsError("has parameters that are cut short") from None


def _parameters(content: bytes, start: int) -> ParameterSection:
    numbers = Numbers(content[start + 3])
    groups: dict[int, str] = {}
    found: list[tuple[int, str, Parameter]] = []
    at = start + 4
    while content[at] != 0:
        length = abs(_signed_byte(content[at]))  # below zero: locked against changes
        group = _signed_byte(content[at + 1])
        name = content[at + 2 : at + 2 + length].decode("latin-1").strip().upper()
        at += 2 + length
        step = int(numbers.unsigned(content[at : at + 2])[0])
        if group < 0:
            groups[-group] = name
        else:
            found.append((group, name, _parameter(content, at + 2)))
        if step == 0:  # the last one points nowhere
            break
        at += step
    table = {
        (groups[group], name): parameter for group, name, parameter in found if group in groups
    }
    return ParameterSection(numbers, table)


def _parameter(content: bytes, at: int) -> Parameter:
    kind = _signed_byte(content[at])
    dimensions = content[at + 1]
    shape = tuple(content[at + 2 : at + 2 + dimensions])
    size = abs(kind)
    for length in shape:
        size *= length
    begin = at + 2 + dimensions
    data = content[begin : begin + size]
    if len(data) != size or len(shape) != dimensions:
        raise ValueError
    return Parameter(kind, shape, data)


def _signed_byte(value: int) -> int:
    return value - 256 if value > 127 else value
