"""Latencies of many frames: percentiles, and an HDR histogram that a file can keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

Nanoseconds = NDArray[np.int64]

_LOWEST_NS: Final = 1
_HIGHEST_NS: Final = 60_000_000_000
_DIGITS: Final = 3


@dataclass(frozen=True, slots=True)
class Latencies:
    """The distribution of a number of latencies, us; all zero where there was none."""

    count: int
    p50_us: float
    p90_us: float
    p99_us: float
    p999_us: float
    max_us: float
    histogram: str  # HDR histogram of ns, compressed, base64

    @classmethod
    def of(cls, values_ns: Nanoseconds) -> Latencies:
        """Count these latencies (ns); there is no correction to make, the schedule was open."""
        histogram = HdrHistogram(_LOWEST_NS, _HIGHEST_NS, _DIGITS)
        for value in values_ns.tolist():
            histogram.record_value(min(max(value, _LOWEST_NS), _HIGHEST_NS))
        encoded: bytes = histogram.encode()
        if not len(values_ns):
            return cls(0, 0.0, 0.0, 0.0, 0.0, 0.0, encoded.decode("ascii"))
        p50, p90, p99, p999 = np.percentile(values_ns, (50.0, 90.0, 99.0, 99.9)) * 1e-3
        return cls(
            len(values_ns),
            float(p50),
            float(p90),
            float(p99),
            float(p999),
            float(values_ns.max()) * 1e-3,
            encoded.decode("ascii"),
        )

    def row(self) -> list[str]:
        """Cells for a table: p50, p99, p99.9 and max, us."""
        return [f"{v:,.0f}" for v in (self.p50_us, self.p99_us, self.p999_us, self.max_us)]


def median_us(values_ns: Nanoseconds) -> float:
    """The median in us, 0 where there is nothing."""
    return float(np.median(values_ns)) * 1e-3 if len(values_ns) else 0.0
