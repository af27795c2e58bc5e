"""A real server and a bare echo, driven by one sender in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import psutil

from understudy_bench.machine import CpuUse, load_since
from understudy_bench.motion import EndlessMotion
from understudy_bench.noise import Noise
from understudy_bench.openloop import Link, OpenLoop, no_collections, now_ns, read_echo, read_pose
from understudy_bench.processes import SERVE, Process, ServerProcess, echo_process
from understudy_bench.report import Meter
from understudy_client import Control

PERFORMER: Final = "bench"
# Frames that may go by before the server has built its pipeline, and warm-ups.
SPARE_FRAMES: Final = 6000


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Both processes, running, and the links to them."""

    server: Process
    echo: Process
    to_server: Link
    to_echo: Link

    def stats(self, character: str) -> Mapping[str, Any]:  # Any: what msgpack carries
        """What the server tells about a character."""
        with Control(self.server.endpoints["control"]) as control:
            stats: Mapping[str, Any] = control.request("stats", character=character)
            found: Mapping[str, Any] = stats["characters"][0]
            return found


@contextmanager
def side_by_side(
    session: Mapping[str, Any],
    motion: EndlessMotion,
    frames: int,
    server_command: Sequence[str] = SERVE,
) -> Iterator[SideBySide]:
    """Start a server with one session and an echo; room for `frames` frames and their warm-up."""
    capacity = frames + SPARE_FRAMES
    prefix = f"{session['character']}/".encode()
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess([session], server_command))
        echo = stack.enter_context(echo_process())
        to_server = stack.enter_context(
            Link("server", server.endpoints, motion, prefix, read_pose, capacity)
        )
        to_echo = stack.enter_context(
            Link("echo", echo.endpoints, motion, b"", read_echo, capacity)
        )
        stack.enter_context(no_collections())
        yield SideBySide(server, echo, to_server, to_echo)


@dataclass(frozen=True, slots=True)
class Blocks:
    """What was sent and what it cost: `cpu_us` per frame of each process, and the noise."""

    blocks: list[slice]
    cpu_us: dict[str, float]
    noise: Noise

    @property
    def frames(self) -> slice:
        """All frames measured."""
        return slice(self.blocks[0].start, self.blocks[-1].stop)


def run_blocks(rig: SideBySide, loop: OpenLoop, blocks: int, frames: int, meter: Meter) -> Blocks:
    """Send blocks of frames to both and wait for the last answers of each block."""
    own = psutil.Process()
    processes = {"server": rig.server, "echo": rig.echo}
    cpu_before = {name: process.cpu_s() for name, process in processes.items()}
    own_before, use_before, began_ns = _cpu_s(own), CpuUse.now(), now_ns()
    sent = []
    for _ in range(blocks):
        sent.append(loop.block(frames))
        loop.drain(sent[-1])
        meter.advance()
    load = load_since(use_before)
    spent = {name: process.cpu_s() - cpu_before[name] for name, process in processes.items()}
    core_s = (now_ns() - began_ns) * 1e-9 * (psutil.cpu_count() or 1)
    share = (sum(spent.values()) + _cpu_s(own) - own_before) / core_s
    measured = slice(sent[0].start, sent[-1].stop)
    late_ns = rig.to_echo.sent_ns[measured] - rig.to_echo.due_ns[measured]
    return Blocks(
        sent,
        {name: 1e6 * seconds / (blocks * frames) for name, seconds in spent.items()},
        Noise.measure(late_ns, load, share),
    )


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
