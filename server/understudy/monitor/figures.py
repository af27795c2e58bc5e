"""How a show is doing, measured from what arrives: latency now and over the last minutes, rates."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

import numpy as np

from understudy.kinematics import FloatArray

NOW_S: Final = 2.0
HISTORY_S: Final = 180
_PERIOD_S: Final = 1.0


class Percentiles(NamedTuple):
    """Median and 99th percentile."""

    p50: float
    p99: float


class History(NamedTuple):
    """Percentiles second by second: `ages_s` (k,) before now, negative; `p50`, `p99` (k,)."""

    ages_s: FloatArray
    p50: FloatArray
    p99: FloatArray


class Latencies:
    """Latencies of a stream in constant memory; the caller tells the time (s, any steady clock)."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, float]] = deque()
        self._past: deque[tuple[float, Percentiles]] = deque(maxlen=HISTORY_S)
        self._period: list[float] = []
        self._period_start_s: float | None = None

    def record(self, now_s: float, value: float) -> None:
        """Take note of one latency, in any unit."""
        self._recent.append((now_s, value))
        self._forget(now_s)
        if self._period_start_s is None:
            self._period_start_s = now_s
        if now_s - self._period_start_s >= _PERIOD_S and self._period:
            self._past.append((now_s, _percentiles(self._period)))
            self._period = []
            self._period_start_s = now_s
        self._period.append(value)

    def now(self, now_s: float) -> Percentiles | None:
        """Percentiles of the last two seconds; None if nothing came."""
        self._forget(now_s)
        return _percentiles([value for _, value in self._recent]) if self._recent else None

    def history(self, now_s: float) -> History:
        """Percentiles of each of the last seconds, oldest first."""
        kept = [(at - now_s, each) for at, each in self._past if now_s - at <= HISTORY_S]
        return History(
            np.array([age for age, _ in kept], np.float64),
            np.array([each.p50 for _, each in kept], np.float64),
            np.array([each.p99 for _, each in kept], np.float64),
        )

    def _forget(self, now_s: float) -> None:
        while self._recent and now_s - self._recent[0][0] > NOW_S:
            self._recent.popleft()


class Rate:
    """Events a second, over the last two."""

    def __init__(self) -> None:
        self._times: deque[float] = deque()

    def record(self, now_s: float) -> None:
        """Take note of one event."""
        self._times.append(now_s)
        self._forget(now_s)

    def now(self, now_s: float) -> float:
        """The rate at `now_s` (Hz)."""
        self._forget(now_s)
        if len(self._times) < 2:
            return 0.0
        span = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / span if span > 0.0 else 0.0

    def _forget(self, now_s: float) -> None:
        while self._times and now_s - self._times[0] > NOW_S:
            self._times.popleft()


def _percentiles(values: list[float]) -> Percentiles:
    p50, p99 = np.percentile(values, [50.0, 99.0])
    return Percentiles(float(p50), float(p99))
