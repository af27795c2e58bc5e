"""C3D files written for tests: any processor, floats or integers, gaps, analog samples."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from understudy.characters.c3d_parameters import BLOCK, DEC, INTEL, MIPS
from understudy.kinematics import FloatArray

PARAMETER_BLOCKS = 20


class C3dWriter:
    """Writes points (T, k, 3) in the file's own unit and axes; NaN rows are points not seen."""

    def __init__(self, processor: int = INTEL) -> None:
        self._processor = processor
        self._order = ">" if processor == MIPS else "<"

    def write(
        self,
        path: Path,
        points: FloatArray,
        labels: Sequence[str],
        *,
        rate_hz: float = 100.0,
        unit: str = "mm",
        scale: float = -1.0,
        analog: int = 0,
        actual_end: int | None = None,
    ) -> Path:
        """A scale below zero writes floats, one above zero integers of that size."""
        frames, count = points.shape[:2]
        residuals = np.where(np.isnan(points[..., 0]), -1.0, 1.0)
        values = np.nan_to_num(points / (scale if scale > 0.0 else 1.0))
        rows = np.concatenate([values, residuals[..., None]], axis=-1).reshape(frames, -1)
        rows = np.concatenate([rows, np.full((frames, analog), 7.0)], axis=1)
        if scale > 0.0:
            data = np.round(rows).astype(f"{self._order}i2").tobytes()
        else:
            data = b"".join(self._float(float(value)) for value in rows.ravel())
        parameters = self._parameters(labels, rate_hz, unit, frames, actual_end)
        header = struct.pack(f"{self._order}HHHHH", 0, count, analog, 1, min(frames, 65535))
        header = bytes([2, 0x50]) + header[2:]
        header += self._word(0) + self._float(scale) + self._word(2 + PARAMETER_BLOCKS)
        header += self._word(1 if analog else 0) + self._float(rate_hz)
        path.write_bytes(header.ljust(BLOCK, b"\0") + parameters + data)
        return path

    def _parameters(
        self, labels: Sequence[str], rate_hz: float, unit: str, frames: int, end: int | None
    ) -> bytes:
        width = max(len(label) for label in labels)
        names = "".join(label.ljust(width) for label in labels).encode("ascii")
        records = [
            self._record("POINT", -1, b"\0"),
            self._record("LABELS", 1, bytes([0xFF, 2, width, len(labels)]) + names + b"\0"),
            self._record("UNITS", 1, bytes([0xFF, 1, len(unit)]) + unit.encode("ascii") + b"\0"),
            self._record("RATE", 1, bytes([4, 0]) + self._float(rate_hz) + b"\0"),
        ]
        if end is not None:
            first, last = self._word(1) + self._word(0), self._word(end % 65536)
            last += self._word(end // 65536)
            records += [
                self._record("TRIAL", -2, b"\0"),
                self._record("ACTUAL_START_FIELD", 2, bytes([2, 1, 2]) + first + b"\0"),
                self._record("ACTUAL_END_FIELD", 2, bytes([2, 1, 2]) + last + b"\0"),
            ]
        head = bytes([1, 0x50, PARAMETER_BLOCKS, self._processor])
        return (head + b"".join(records)).ljust(PARAMETER_BLOCKS * BLOCK, b"\0")

    def _record(self, name: str, group: int, body: bytes) -> bytes:
        step = self._word(2 + len(body))
        return bytes([len(name), group % 256]) + name.encode("ascii") + step + body

    def _word(self, value: int) -> bytes:
        return struct.pack(f"{self._order}H", value)

    def _float(self, value: float) -> bytes:
        if self._processor != DEC:
            return struct.pack(f"{self._order}f", value)
        (bits,) = struct.unpack("<I", struct.pack("<f", 4.0 * value))
        return struct.pack("<HH", bits >> 16, bits & 0xFFFF)
