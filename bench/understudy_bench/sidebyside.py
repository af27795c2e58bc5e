"""A real server and a bare echo, driven by one sender in one run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal

import psutil

from understudy.characters import Clip
from understudy_bench.machine import CpuUse, load_since
from understudy_bench.motion import EndlessMotion, Motion
from understudy_bench.noise import Noise
from understudy_bench.openloop import Link, OpenLoop, no_collections, now_ns
from understudy_bench.processes import (
    SERVE,
    Process,
    ServerProcess,
    echo_process,
    udp_echo_process,
)
from understudy_bench.report import Meter
from understudy_bench.vmc_frames import EndlessVmcMotion
from understudy_bench.ways import VmcWay, Way, ZmqWay, read_echo, read_pose
from understudy_client import Control

Transport = Literal["zmq", "vmc"]
TRANSPORTS: Final[Mapping[Transport, str]] = {"zmq": "ZeroMQ", "vmc": "VMC"}
"""Name on the command line -> name in reports."""

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
    clip: Clip,
    frames: int,
    server_command: Sequence[str] = SERVE,
    transport: Transport = "zmq",
) -> Iterator[SideBySide]:
    """Start a server with one session and an echo; room for `frames` frames and their warm-up.

    The performer of the session has the body of `clip`.
    """
    with ExitStack() as stack:
        processes: list[Process]
        ways: list[Way]
        if transport == "vmc":
            to_ports = [VmcWay(), VmcWay()]
            sent = {**session, "vmc_to": to_ports[0].target}
            processes = [
                stack.enter_context(ServerProcess([sent], server_command)),
                stack.enter_context(udp_echo_process(to_ports[1].target, [PERFORMER])),
            ]
            for way, process in zip(to_ports, processes, strict=True):
                way.connect(process.udp[PERFORMER])
            ways = [*to_ports]
        else:
            processes = [
                stack.enter_context(ServerProcess([session], server_command)),
                stack.enter_context(echo_process()),
            ]
            prefix = f"{session['character']}/".encode()
            announcement = EndlessMotion(PERFORMER, clip).announcement
            ways = [
                ZmqWay(processes[0].endpoints, announcement, prefix, read_pose),
                ZmqWay(processes[1].endpoints, announcement, b"", read_echo),
            ]
        links = [
            stack.enter_context(Link(name, way, frames + SPARE_FRAMES))
            for name, way in zip(("server", "echo"), ways, strict=True)
        ]
        stack.enter_context(no_collections())
        (server, echo), (to_server, to_echo) = processes, links
        yield SideBySide(server, echo, to_server, to_echo)


def endless_motion(clip: Clip, transport: Transport) -> Motion:
    """The clip without end, as frames of that transport."""
    return (EndlessVmcMotion if transport == "vmc" else EndlessMotion)(PERFORMER, clip)


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


def run_blocks(
    rig: SideBySide,
    loop: OpenLoop,
    blocks: int,
    frames: int,
    meter: Meter,
    *,
    most: int = 0,
    good: Callable[[slice], bool] = lambda block: True,
) -> Blocks:
    """Send blocks of frames to both and wait for the last answers of each block.

    While none of them is `good` there are more, up to `most` in all.
    """
    own = psutil.Process()
    processes = {"server": rig.server, "echo": rig.echo}
    cpu_before = {name: process.cpu_s() for name, process in processes.items()}
    own_before, use_before, began_ns = _cpu_s(own), CpuUse.now(), now_ns()
    sent: list[slice] = []
    found = False
    while len(sent) < blocks or (len(sent) < most and not found):
        sent.append(loop.block(frames))
        loop.drain(sent[-1])
        found = found or good(sent[-1])
        if len(sent) <= blocks:
            meter.advance()
    load = load_since(use_before)
    spent = {name: process.cpu_s() - cpu_before[name] for name, process in processes.items()}
    core_s = (now_ns() - began_ns) * 1e-9 * (psutil.cpu_count() or 1)
    share = (sum(spent.values()) + _cpu_s(own) - own_before) / core_s
    measured = slice(sent[0].start, sent[-1].stop)
    late_ns = rig.to_echo.sent_ns[measured] - rig.to_echo.due_ns[measured]
    return Blocks(
        sent,
        {name: 1e6 * seconds / (len(sent) * frames) for name, seconds in spent.items()},
        Noise.measure(late_ns, load, share),
    )


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
