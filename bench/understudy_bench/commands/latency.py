"""`bench latency`: one frame's way through a real server beside a bare echo, in one run."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final

import psutil
from rich.table import Table

from understudy.characters import load_clip
from understudy.commands.arguments import number
from understudy_bench.checks import Check, judge
from understudy_bench.latencies import Latencies, median_us
from understudy_bench.machine import CpuUse, describe_machine, load_since
from understudy_bench.motion import EndlessMotion
from understudy_bench.noise import Noise
from understudy_bench.openloop import Link, OpenLoop, no_collections, now_ns, read_echo, read_pose
from understudy_bench.processes import SERVE, BenchError, Process, ServerProcess, echo_process
from understudy_bench.report import Json, Meter, Report, metered, plain_table
from understudy_client import Control
from understudy_client.clock import now_ns as wall_clock_ns

EXAMPLE = "example: understudy bench latency --seconds 20 --json latency.json"

PERFORMER: Final = "bench"
MAX_RATIO: Final = 2.0

_BLOCK_S: Final = 5.0
_WARM_UP_S: Final = 1.0
# Frames that may go by before the server has built its pipeline, beside the warm-up.
_SPARE_S: Final = 40.0
_STAGES_OUTSIDE: Final = ("receive", "deliver")

_NOTES: Final = (
    "latency: from the moment a frame was due at the sender to its receipt at a subscriber;"
    " the server and the echo get the same frames in turn, half a period apart",
    "ratio: p50 of all the run's frames through the server / p50 of all through the echo;"
    " 'blocks' are the same ratio within each short block, best and median of them",
)


@dataclass(frozen=True, slots=True)
class LatencyOptions:
    """What to measure; `server_command` is what a show file is appended to."""

    seconds: float = 60.0
    solver: str = "clik"
    rate_hz: float = 120.0
    clip: str = "walk"
    character: str = "short-legs"
    block_s: float = _BLOCK_S
    seed: int = 1
    server_command: Sequence[str] = SERVE

    @property
    def blocks(self) -> int:
        """How many blocks the time is cut into."""
        return max(1, round(self.seconds / self.block_s))

    @property
    def frames_per_block(self) -> int:
        """Frames sent to each process in one block."""
        return max(1, round(self.seconds * self.rate_hz / self.blocks))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: the links with every moment, the blocks, and what the processes told."""

    server: Link
    echo: Link
    blocks: list[slice]
    stages: Mapping[str, Mapping[str, float]]
    work: Mapping[str, float]
    cpu_us: dict[str, float]
    noise: Noise

    @property
    def frames(self) -> slice:
        """All frames measured."""
        return slice(self.blocks[0].start, self.blocks[-1].stop)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    default = LatencyOptions()
    parser.add_argument(
        "--seconds",
        type=number(1.0, 1e6, "s"),
        default=default.seconds,
        metavar="N",
        help=f"how long to measure (default {default.seconds:g})",
    )
    parser.add_argument("--solver", default=default.solver, help=f"default {default.solver}")
    parser.add_argument(
        "--rate",
        type=number(1.0, 1000.0, "Hz"),
        default=default.rate_hz,
        metavar="HZ",
        help=f"frames a second (default {default.rate_hz:g})",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_latency(
        LatencyOptions(seconds=arguments.seconds, solver=arguments.solver, rate_hz=arguments.rate)
    )


def run_latency(options: LatencyOptions) -> Report:
    """Measure and judge."""
    with metered(f"latency, {options.solver} at {options.rate_hz:g} Hz", options.blocks) as meter:
        outcome = measure(options, meter)
    server = Latencies.of(outcome.server.latencies_ns(outcome.frames))
    echo = Latencies.of(outcome.echo.latencies_ns(outcome.frames))
    if not server.count or not echo.count:
        raise BenchError("no frame came back; nothing was measured")
    results = _results(options, outcome, server, echo)
    checks = _checks(options, results)
    tables = (_latency_table(options, results, server, echo), _stage_table(results))
    meta = {**describe_machine(), "steal": outcome.noise.steal, "noise": asdict(outcome.noise)}
    return Report("latency", meta, results, checks, tables, (*_NOTES, outcome.noise.sentence()))


def measure(options: LatencyOptions, meter: Meter) -> Outcome:
    """Run server and echo side by side."""
    motion = EndlessMotion(PERFORMER, load_clip(options.clip, options.rate_hz))
    session = {
        "performer": PERFORMER,
        "character": options.character,
        "solver": options.solver,
    }
    spare = round((_WARM_UP_S + _SPARE_S) * options.rate_hz)
    capacity = options.blocks * options.frames_per_block + spare
    with ExitStack() as stack:
        server = stack.enter_context(ServerProcess([session], options.server_command))
        echo = stack.enter_context(echo_process())
        prefix = f"{options.character}/".encode()
        to_server = stack.enter_context(
            Link("server", server.endpoints, motion, prefix, read_pose, capacity)
        )
        to_echo = stack.enter_context(
            Link("echo", echo.endpoints, motion, b"", read_echo, capacity)
        )
        loop = OpenLoop((to_server, to_echo), motion, options.rate_hz, options.seed)
        stack.enter_context(no_collections())
        loop.warm_up(round(_WARM_UP_S * options.rate_hz))
        return _measure_blocks(options, loop, (server, to_server), (echo, to_echo), meter)


def _measure_blocks(
    options: LatencyOptions,
    loop: OpenLoop,
    server: tuple[Process, Link],
    echo: tuple[Process, Link],
    meter: Meter,
) -> Outcome:
    own = psutil.Process()
    processes = {"server": server[0], "echo": echo[0]}
    cpu_before = {name: process.cpu_s() for name, process in processes.items()}
    own_before, use_before, began_ns = _cpu_s(own), CpuUse.now(), now_ns()
    blocks = []
    for _ in range(options.blocks):
        blocks.append(loop.block(options.frames_per_block))
        loop.drain(blocks[-1])
        meter.advance()
    frames = options.blocks * options.frames_per_block
    load = load_since(use_before)
    spent = {name: process.cpu_s() - cpu_before[name] for name, process in processes.items()}
    core_s = (now_ns() - began_ns) * 1e-9 * (psutil.cpu_count() or 1)
    share = (sum(spent.values()) + _cpu_s(own) - own_before) / core_s
    with Control(server[0].endpoints["control"]) as control:
        stats = control.request("stats", character=options.character)["characters"][0]
    measured = slice(blocks[0].start, blocks[-1].stop)
    late_ns = echo[1].sent_ns[measured] - echo[1].due_ns[measured]
    return Outcome(
        server[1],
        echo[1],
        blocks,
        stats["stages_us"],
        stats["work_us"],
        {name: 1e6 * seconds / frames for name, seconds in spent.items()},
        Noise.measure(late_ns, load, share),
    )


def _results(
    options: LatencyOptions, outcome: Outcome, server: Latencies, echo: Latencies
) -> dict[str, Json]:
    ratios = [
        median_us(outcome.server.latencies_ns(block)) / median_us(outcome.echo.latencies_ns(block))
        for block in outcome.blocks
        if len(outcome.server.latencies_ns(block)) and len(outcome.echo.latencies_ns(block))
    ]
    from_send = [
        median_us(link.from_send_ns(outcome.frames)) for link in (outcome.server, outcome.echo)
    ]
    return {
        "solver": options.solver,
        "rate_hz": options.rate_hz,
        "clip": options.clip,
        "character": options.character,
        "frames": options.blocks * options.frames_per_block,
        "rt_p50_us": server.p50_us,
        "echo_p50_us": echo.p50_us,
        "ratio": server.p50_us / echo.p50_us,
        "ratio_of_blocks": {
            "best": min(ratios),
            "median": statistics.median(ratios),
            "worst": max(ratios),
            "all": ratios,
        },
        "lost": outcome.server.lost(outcome.frames),
        "echo_lost": outcome.echo.lost(outcome.frames),
        "rt_p99_us": server.p99_us,
        "rt_p999_us": server.p999_us,
        "rt_max_us": server.max_us,
        "echo_p99_us": echo.p99_us,
        "echo_p999_us": echo.p999_us,
        "echo_max_us": echo.max_us,
        "from_send": {
            "rt_p50_us": from_send[0],
            "echo_p50_us": from_send[1],
            "ratio": from_send[0] / from_send[1],
        },
        "cpu_us_per_frame": outcome.cpu_us,
        "stages_us": _stages(outcome),
        "histograms": {"server": server.histogram, "echo": echo.histogram},
    }


def _stages(outcome: Outcome) -> dict[str, dict[str, float]]:
    """Where the time goes: the way in, the server's own stages, the way out.

    Both processes read the same clock, so the server's moments can be set beside the sender's.
    """
    link, seqs = outcome.server, outcome.frames
    answered = link.received_ns[seqs] != 0
    wall_minus_counter_ns = wall_clock_ns() - now_ns()
    arrival = link.arrival_ns[seqs][answered] - wall_minus_counter_ns
    receive = Latencies.of(arrival - link.due_ns[seqs][answered])
    published = link.publish_ns[seqs][answered] - wall_minus_counter_ns
    after = sum(outcome.stages[stage]["p50"] for stage in ("encode", "send"))
    deliver = Latencies.of(link.received_ns[seqs][answered] - published)
    stages = {"receive": {"p50": receive.p50_us, "p99": receive.p99_us, "max": receive.max_us}}
    stages |= {name: dict(values) for name, values in outcome.stages.items()}
    # The server stamps a pose before it encodes and sends it.
    stages["deliver"] = {
        "p50": max(0.0, deliver.p50_us - after),
        "p99": max(0.0, deliver.p99_us - after),
        "max": max(0.0, deliver.max_us - after),
    }
    stages["work"] = dict(outcome.work)
    return stages


def _checks(options: LatencyOptions, results: Mapping[str, Json]) -> list[Check]:
    what = f"{options.solver} at {options.rate_hz:g} Hz"
    return [
        judge(f"round trip / bare echo, p50, {what}", results["ratio"], "", "<=", MAX_RATIO),
        judge(f"frames lost, {what}", results["lost"], "frames", "==", 0),
    ]


def _latency_table(
    options: LatencyOptions, results: Mapping[str, Any], server: Latencies, echo: Latencies
) -> Table:
    blocks = results["ratio_of_blocks"]
    cpu = results["cpu_us_per_frame"]
    rows = [
        ["server", *server.row(), str(results["lost"]), f"{cpu['server']:.0f}"],
        ["bare echo", *echo.row(), str(results["echo_lost"]), f"{cpu['echo']:.0f}"],
        [
            f"ratio (blocks: best {blocks['best']:.2f}, median {blocks['median']:.2f})",
            f"{results['ratio']:.2f}",
            "",
            "",
            "",
            "",
            f"{cpu['server'] / max(cpu['echo'], 1e-9):.2f}",
        ],
    ]
    return plain_table(
        f"round trip, us: {results['frames']} frames of {options.clip} to {options.character},"
        f" {options.solver}, {options.rate_hz:g} Hz",
        ("", "p50", "p99", "p99.9", "max", "lost", "CPU/frame"),
        rows,
    )


def _stage_table(results: Mapping[str, Any]) -> Table:
    rows = [
        [
            f"{stage} (sockets)" if stage in _STAGES_OUTSIDE else stage,
            *(f"{values[key]:.1f}" for key in ("p50", "p99", "max")),
        ]
        for stage, values in results["stages_us"].items()
    ]
    return plain_table("where a frame's time goes, us", ("stage", "p50", "p99", "max"), rows)


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
