"""The server's clock, and where a frame's time goes: constant memory, read only when asked."""

from __future__ import annotations

import struct
import time
from array import array
from typing import Final

import numpy as np

# Wall-clock time with the resolution of the performance counter: the plain wall clock ticks in
# 15 ms on Windows and may be set back while a show runs.
_EPOCH_NS: Final = time.time_ns() - time.perf_counter_ns()

MARKS: Final = (
    "arrival",
    "decode",
    "ingest",
    "wait",
    "align",
    "solve",
    "condition",
    "encode",
    "send",
)
"""Moments of a frame; each names the stage that ends there, `arrival` is the start."""

STAGES: Final = MARKS[1:]

now_ns = time.perf_counter_ns


def wall_ns(counter_ns: int) -> int:
    """Nanoseconds since 1970 on the server's clock, for a reading of `now_ns`."""
    return counter_ns + _EPOCH_NS


def counter_ns(wall_ns: int) -> int:
    """The reading of `now_ns` at a moment on the server's clock."""
    return wall_ns - _EPOCH_NS


class StageTimes:
    """How long the last frames took, and the moments of those whose stages were timed.

    `count` frames came so far. The last `capacity` are kept, and the last `rows` of those that were
    timed, each in one block of memory.
    """

    _ROW: Final = struct.Struct(f"={len(MARKS)}q")

    def __init__(self, capacity: int = 4096, rows: int = 256) -> None:
        self.count = 0
        self._capacity = capacity
        self._totals = array("q", bytes(8 * capacity))
        self._row_count = rows
        self._block = bytearray(rows * self._ROW.size)
        self._view = np.frombuffer(self._block, np.int64).reshape(rows, len(MARKS))
        self._timed = 0

    def add(self, total_ns: int) -> None:
        """Add one frame that took so long (ns) from its arrival on."""
        self._totals[self.count % self._capacity] = total_ns
        self.count += 1

    def record(self, *moments_ns: int) -> None:
        """Add one frame whose stages were timed: a moment (ns) for each of MARKS."""
        row = self._timed % self._row_count
        self._ROW.pack_into(self._block, row * self._ROW.size, *moments_ns)
        self._timed += 1
        self.add(moments_ns[-1] - moments_ns[0])

    def rows(self) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
        """A copy of the moments held, oldest first, shape (frames, len(MARKS)), ns."""
        timed = self._timed
        kept = min(timed, self._row_count)
        order = np.arange(timed - kept, timed) % self._row_count
        return self._view[order]

    def summary_us(self) -> dict[str, dict[str, float]]:
        """Median, 99th percentile and maximum (us) of every stage, and of the `total`."""
        rows = self.rows()
        if not len(rows):
            return {}
        stages = dict(zip(STAGES, np.diff(rows, axis=1).T, strict=True))
        stages["total"] = np.array(self._totals[: min(self.count, self._capacity)])
        return {
            name: {
                "p50": round(float(np.percentile(values, 50)) * 1e-3, 1),
                "p99": round(float(np.percentile(values, 99)) * 1e-3, 1),
                "max": round(float(values.max()) * 1e-3, 1),
            }
            for name, values in stages.items()
        }
