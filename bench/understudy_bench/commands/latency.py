"""`bench latency`: one frame's way through a real server beside a bare echo, in one run."""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from understudy.characters import load_clip
from understudy.commands.arguments import number
from understudy.runtime.session import TIMED_EVERY
from understudy_bench.checks import Check, judge
from understudy_bench.latencies import Latencies, median_us
from understudy_bench.machine import describe_machine
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import Link, OpenLoop, now_ns
from understudy_bench.processes import SERVE, BenchError
from understudy_bench.report import Headline, Json, Report, Table, metered
from understudy_bench.sidebyside import PERFORMER, Blocks, SideBySide, run_blocks, side_by_side
from understudy_client.clock import now_ns as wall_clock_ns

EXAMPLE = "example: understudy bench latency --seconds 20 --json latency.json"

MAX_RATIO: Final = 1.8

_BLOCK_S: Final = 5.0
_WARM_UP_S: Final = 1.0
_STAGES_OUTSIDE: Final = ("receive", "deliver")

_NOTES: Final = (
    "latency: from the moment a frame was due at the sender to its receipt at a subscriber;"
    " the server and the echo get the same frames in turn, half a period apart",
    "the echo and both ends of the bench use libzmq; the server speaks its protocol without it",
    "ratio: p50 of all the run's frames through the server / p50 of all through the echo;"
    " 'blocks' are the same ratio within each short block, best and median of them",
    f"the server times the stages of every {TIMED_EVERY}th frame; the others go through align,"
    " solve and condition in one compiled call, which is faster",
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
    clip = load_clip(options.clip, options.rate_hz)
    session = {"performer": PERFORMER, "character": options.character, "solver": options.solver}
    frames = options.blocks * options.frames_per_block
    with (
        metered(f"latency, {options.solver} at {options.rate_hz:g} Hz", options.blocks) as meter,
        side_by_side(session, clip, frames, options.server_command) as rig,
    ):
        motion = EndlessMotion(PERFORMER, clip)
        loop = OpenLoop((rig.to_server, rig.to_echo), motion, options.rate_hz, seed=options.seed)
        loop.warm_up(round(_WARM_UP_S * options.rate_hz))
        run = run_blocks(rig, loop, options.blocks, options.frames_per_block, meter)
        stats = rig.stats(options.character)
    server = Latencies.of(rig.to_server.latencies_ns(run.frames))
    echo = Latencies.of(rig.to_echo.latencies_ns(run.frames))
    if not server.count or not echo.count:
        raise BenchError("no frame came back; nothing was measured")
    results = {
        **_results(options, rig, run, server, echo),
        "stages_us": _stages(rig.to_server, run.frames, stats),
        "histograms": {"server": server.histogram, "echo": echo.histogram},
    }
    tables = (_latency_table(options, results, server, echo), _stage_table(results))
    meta = {**describe_machine(), **run.noise.meta()}
    notes = (*_NOTES, run.noise.sentence())
    return Report(
        "latency",
        meta,
        results,
        _checks(options, results),
        tables,
        notes,
        _headlines(options, results),
    )


def _results(
    options: LatencyOptions, rig: SideBySide, run: Blocks, server: Latencies, echo: Latencies
) -> dict[str, Json]:
    links = (rig.to_server, rig.to_echo)
    medians = [[median_us(link.latencies_ns(block)) for link in links] for block in run.blocks]
    ratios = [through / bare for through, bare in medians if through and bare]
    from_send = [median_us(link.from_send_ns(run.frames)) for link in links]
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
        "lost": rig.to_server.lost(run.frames),
        "echo_lost": rig.to_echo.lost(run.frames),
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
        "cpu_us_per_frame": run.cpu_us,
    }


def _stages(link: Link, seqs: slice, stats: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Where the time goes: the way in, the server's own stages, the way out.

    Both processes read the same clock, so the server's moments can be set beside the sender's.
    """
    answered = link.received_ns[seqs] != 0
    wall_minus_counter_ns = wall_clock_ns() - now_ns()
    arrival = link.arrival_ns[seqs][answered] - wall_minus_counter_ns
    receive = Latencies.of(arrival - link.due_ns[seqs][answered])
    published = link.publish_ns[seqs][answered] - wall_minus_counter_ns
    deliver = Latencies.of(link.received_ns[seqs][answered] - published)
    # The server stamps a pose before it encodes and sends it.
    after = sum(stats["stages_us"][stage]["p50"] for stage in ("encode", "send"))
    return {
        "receive": {"p50": receive.p50_us, "p99": receive.p99_us, "max": receive.max_us},
        **{name: dict(values) for name, values in stats["stages_us"].items()},
        "deliver": {
            "p50": max(0.0, deliver.p50_us - after),
            "p99": max(0.0, deliver.p99_us - after),
            "max": max(0.0, deliver.max_us - after),
        },
        "work": dict(stats["work_us"]),
    }


def _checks(options: LatencyOptions, results: Mapping[str, Json]) -> list[Check]:
    what = f"{options.solver} at {options.rate_hz:g} Hz"
    return [
        judge(f"round trip / bare echo, p50, {what}", results["ratio"], "", "<=", MAX_RATIO),
        judge(f"frames lost, {what}", results["lost"], "frames", "==", 0),
    ]


def _headlines(options: LatencyOptions, results: Mapping[str, Json]) -> list[Headline]:
    command = f"understudy bench latency --seconds {options.seconds:g}"
    return [
        Headline(
            f"round trip of a frame at {options.rate_hz:g} Hz, `{options.solver}`, median, beside a"
            " bare echo with libzmq",
            f"{results['ratio']:.2f} times the echo's ({1e-3 * results['rt_p50_us']:.2f} ms to"
            f" {1e-3 * results['echo_p50_us']:.2f} ms)",
            command,
        ),
        Headline("frames lost in that run", f"{results['lost']} of {results['frames']:,}", command),
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
            *([""] * 4),
            f"{cpu['server'] / max(cpu['echo'], 1e-9):.2f}",
        ],
        [
            "ratio from the moment of sending",
            f"{results['from_send']['ratio']:.2f}",
            *([""] * 5),
        ],
    ]
    return Table(
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
    return Table("where a frame's time goes, us", ("stage", "p50", "p99", "max"), rows)
