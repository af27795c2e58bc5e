"""The output clock: how evenly do poses leave a session whose rate is not its performer's?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.characters import load_clip
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import Link, OpenLoop, no_collections
from understudy_bench.processes import ServerProcess
from understudy_bench.report import Meter
from understudy_bench.ways import Receipt, ZmqWay
from understudy_client import Control
from understudy_protocol import decode_pose

SOURCE_HZ: Final = 60.0
RIG: Final = "short-legs"
_PERFORMER: Final = "bench"
_SPARE_FRAMES: Final = 3000
# A show needs a session; nobody performs in this one.
_IDLE: Final = {"performer": "nobody", "character": "idle", "rig": RIG, "solver": "copy"}


@dataclass(frozen=True, slots=True)
class ClockCell:
    """One rate of the clock: how far the time between two poses strays from the period (us)."""

    rate_hz: float
    poses: int
    skipped: int
    jitter_p50_us: float
    jitter_p99_us: float
    jitter_max_us: float


def measure_clock(
    rates_hz: Sequence[float], seconds: float, solver: str, command: Sequence[str], meter: Meter
) -> list[ClockCell]:
    """One session after the other, each with its own clock, driven by frames at 60 Hz."""
    cells = []
    next_seq = 0  # a server takes no number twice
    with ServerProcess([_IDLE], command) as server:
        for rate_hz in rates_hz:
            with Control(server.endpoints["control"]) as control:
                control.request(
                    "open",
                    performer=_PERFORMER,
                    character="clocked",
                    rig=RIG,
                    solver=solver,
                    rate_hz=rate_hz,
                )
                cell, next_seq = _measure(server, rate_hz, seconds, next_seq)
                cells.append(cell)
                control.request("close", character="clocked")
            meter.advance()
    return cells


def _measure(
    server: ServerProcess, rate_hz: float, seconds: float, first_seq: int
) -> tuple[ClockCell, int]:
    motion = EndlessMotion(_PERFORMER, load_clip("walk", SOURCE_HZ))
    left_ns: list[int] = []

    def note(topic: bytes, body: bytes) -> Receipt | None:
        if not topic.endswith(b"/pose"):
            return None
        left_ns.append(decode_pose(body).publish_ns)
        return Receipt(0)

    way = ZmqWay(server.endpoints, motion.announcement, b"clocked/", note)
    frames = max(2, round(seconds * SOURCE_HZ))
    with Link("server", way, first_seq + frames + _SPARE_FRAMES) as link, no_collections():
        loop = OpenLoop((link,), motion, SOURCE_HZ, first_seq=first_seq)
        loop.warm_up(round(SOURCE_HZ))
        left_ns.clear()
        loop.block(frames)
        left = np.array(left_ns, np.int64)
    return clock_cell(rate_hz, left), loop.next_seq


def clock_cell(rate_hz: float, left_ns: np.ndarray[tuple[int], np.dtype[np.int64]]) -> ClockCell:
    """From the moments (ns) at which poses left; a gap of whole periods is ticks skipped."""
    period_ns = 1e9 / rate_hz
    steps = np.diff(left_ns)
    if not len(steps):
        return ClockCell(rate_hz, len(left_ns), 0, 0.0, 0.0, 0.0)
    periods = np.maximum(1, np.round(steps / period_ns))
    strays_us = np.abs(steps - periods * period_ns) * 1e-3
    p50, p99 = np.percentile(strays_us, (50.0, 99.0))
    return ClockCell(
        rate_hz,
        len(left_ns),
        int(np.sum(periods - 1)),
        float(p50),
        float(p99),
        float(strays_us.max()),
    )
