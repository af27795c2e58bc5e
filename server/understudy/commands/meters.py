"""What a stream of poses is like: rate, latency, error, losses; constant memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from understudy_protocol import PoseMessage
from understudy_protocol.status import RECOVERING, STALE, status_names

_KEPT: Final = 8192
_RATE_WINDOW_NS: Final = 2_000_000_000


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a stream.

    `rate_hz` is over the last two seconds; latency (ms) and error (mm, the largest distance of an
    effector from its goal in a pose) are over the last 8,192 live poses, the error without those
    in which the character is still on its way back; `lost` are poses that never came, `status` the
    words of the last one. None where there is nothing to tell from.
    """

    character: str
    poses: int
    lost: int
    rate_hz: float
    latency_p50_ms: float | None
    latency_p99_ms: float | None
    error_mean_mm: float | None
    error_max_mm: float | None
    status: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:  # Any: numbers, text, lists and null
        """The same, for programs."""
        return {name: _rounded(getattr(self, name)) for name in Reading.__slots__}


class StreamMeter:
    """Measures one character's stream; the caller tells the time and the latency of each pose."""

    def __init__(self, character: str) -> None:
        self._character = character
        self._received_ns = np.zeros(_KEPT, np.int64)
        self._latency_ns = np.zeros(_KEPT, np.int64)
        self._residual_m = np.zeros(_KEPT)
        self._poses = 0
        self._live = 0
        self._steady = 0
        self._lost = 0
        self._seq: int | None = None
        self._status = 0

    def record(self, pose: PoseMessage, received_ns: int, latency_ns: int) -> None:
        """Take note of a pose that came at `received_ns`."""
        # A number that is not larger means that the session began anew: nothing was lost.
        if self._seq is not None and pose.seq > self._seq:
            self._lost += pose.seq - self._seq - 1
        self._seq = pose.seq
        self._status = pose.status
        self._received_ns[self._poses % _KEPT] = received_ns
        self._poses += 1
        if not pose.status & STALE:  # a pose that is held has no latency of its own
            self._latency_ns[self._live % _KEPT] = latency_ns
            self._live += 1
            if not pose.status & RECOVERING:
                self._residual_m[self._steady % _KEPT] = pose.residual_m
                self._steady += 1

    def read(self, now_ns: int) -> Reading:
        """How the stream is doing at `now_ns`, on the clock of `received_ns`."""
        kept = min(self._live, _KEPT)
        latency_ms = self._latency_ns[:kept] * 1e-6
        steady = min(self._steady, _KEPT)
        error_mm = self._residual_m[:steady] * 1e3
        return Reading(
            character=self._character,
            poses=self._poses,
            lost=self._lost,
            rate_hz=self._rate_hz(now_ns),
            latency_p50_ms=float(np.percentile(latency_ms, 50)) if kept else None,
            latency_p99_ms=float(np.percentile(latency_ms, 99)) if kept else None,
            error_mean_mm=float(error_mm.mean()) if steady else None,
            error_max_mm=float(error_mm.max()) if steady else None,
            status=status_names(self._status),
        )

    def _rate_hz(self, now_ns: int) -> float:
        times = self._received_ns[: min(self._poses, _KEPT)]
        recent = times[times > now_ns - _RATE_WINDOW_NS]
        if len(recent) < 2:
            return 0.0
        span_ns = int(recent.max() - recent.min())
        return (len(recent) - 1) * 1e9 / span_ns if span_ns else 0.0


def _rounded(value: object) -> object:
    if isinstance(value, tuple):
        return list(value)
    return round(value, 3) if isinstance(value, float) else value
