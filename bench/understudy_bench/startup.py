"""How long a server takes from its process's start to its first accepted frame."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

from understudy.characters import load_clip
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import Link, now_ns
from understudy_bench.processes import BenchError, ServerProcess
from understudy_bench.ways import ZmqWay, read_pose
from understudy_client.clock import now_ns as wall_clock_ns

RATE_HZ: Final = 120.0
PERFORMER: Final = "bench"
CHARACTER: Final = "short-legs"
_PATIENCE_S: Final = 30.0


def measure_starts(solver: str, command: Sequence[str], starts: int) -> list[float]:
    """Seconds of that many starts, after one that fills the caches of kernels and files."""
    return [_start(solver, command) for _ in range(starts + 1)][1:]


def _start(solver: str, command: Sequence[str]) -> float:
    """Seconds until the first frame was answered: a little more than until it was accepted."""
    motion = EndlessMotion(PERFORMER, load_clip("walk", RATE_HZ))
    session = {"performer": PERFORMER, "character": CHARACTER, "solver": solver}
    frames = round(_PATIENCE_S * RATE_HZ)
    began = time.perf_counter()
    with ServerProcess([session], command) as server:
        prefix = f"{CHARACTER}/".encode()
        way = ZmqWay(server.endpoints, motion.announcement, prefix, read_pose)
        with Link("server", way, frames) as link:
            for seq in range(frames):
                link.send(seq, now_ns(), motion.parts(seq, wall_clock_ns()))
                if link.answered.wait(1.0 / RATE_HZ):
                    return time.perf_counter() - began
    raise BenchError(f"no frame was accepted within {_PATIENCE_S:g} s of the start")
