"""A server at work in real time for as long as asked, with guests that come and leave."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.characters import Clip
from understudy_bench.churn import churn
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import Link, OpenLoop, no_collections
from understudy_bench.processes import ServerProcess
from understudy_bench.report import Meter
from understudy_bench.soaking import drift
from understudy_bench.ways import ZmqWay, read_pose

BLOCK_S: Final = 30.0
GUESTS_PER_BLOCK: Final = 2
_NO_METER: Final = Meter(None)


@dataclass(frozen=True, slots=True)
class RealTime:
    """What was read behind every block of frames; `grown_bytes` counts from `settled` frames on."""

    seconds: float
    frames: int
    lost: int
    guests: int
    p50_us: tuple[float, ...]
    p99_us: tuple[float, ...]
    resident_bytes: tuple[int, ...]
    open_files: tuple[int, ...]
    first_settled: int
    """The first reading at which things had settled."""

    @property
    def frames_per_s(self) -> float:
        """The rate, pauses for guests included."""
        return self.frames / self.seconds

    @property
    def grown_bytes(self) -> int:
        """How much more memory is resident at the end than when things had settled."""
        return self.resident_bytes[-1] - self.resident_bytes[self.first_settled]

    @property
    def files_grown(self) -> int:
        """How many more files are open at the end."""
        return self.open_files[-1] - self.open_files[self.first_settled]

    @property
    def drift(self) -> float:
        """How much slower the last quarter was than the first: median / median."""
        return drift(self.p50_us)


def soak_in_real_time(
    server: ServerProcess,
    character: str,
    performer: str,
    clip: Clip,
    seconds: float,
    settled: int,
    meter: Meter,
    block_s: float = BLOCK_S,
) -> RealTime:
    """Send the clip's frames at their rate, in blocks; guests come and leave between them."""
    motion = EndlessMotion(performer, clip)
    blocks = max(2, round(seconds / block_s))
    frames = max(1, round(seconds * clip.rate_hz / blocks))
    way = ZmqWay(server.endpoints, motion.announcement, f"{character}/".encode(), read_pose)
    lost, p50_us, p99_us, resident, files = 0, [], [], [], []
    spare = round(40.0 * clip.rate_hz)  # warm-up
    began = time.monotonic()
    with Link("server", way, blocks * frames + spare) as link, no_collections():
        loop = OpenLoop((link,), motion, clip.rate_hz)
        loop.warm_up(round(clip.rate_hz))
        for _ in range(blocks):
            sent = loop.block(frames)
            loop.drain(sent)
            lost += link.lost(sent)
            p50, p99 = np.percentile(link.latencies_ns(sent), (50.0, 99.0)) * 1e-3
            p50_us.append(float(p50))
            p99_us.append(float(p99))
            churn(server, character, motion, GUESTS_PER_BLOCK, _NO_METER)
            resident.append(server.resident_bytes())
            files.append(server.open_files())
            meter.advance(frames)
    return RealTime(
        seconds=time.monotonic() - began,
        frames=blocks * frames,
        lost=lost,
        guests=blocks * GUESTS_PER_BLOCK,
        p50_us=tuple(p50_us),
        p99_us=tuple(p99_us),
        resident_bytes=tuple(resident),
        open_files=tuple(files),
        first_settled=min(-(-settled // frames), blocks) - 1,
    )
