"""`bench soak`: very many frames, as fast as they go and in real time; does anything grow?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from understudy.characters import load_clip
from understudy.commands.arguments import count, number
from understudy.solvers import SOLVERS
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.churn import Churn, churn
from understudy_bench.machine import describe_machine
from understudy_bench.motion import EndlessMotion
from understudy_bench.noise import Noise, NoiseWatch
from understudy_bench.processes import SERVE, ServerProcess
from understudy_bench.realtime import BLOCK_S, RealTime, soak_in_real_time
from understudy_bench.report import Headline, Json, Report, Table, metered
from understudy_bench.sidebyside import PERFORMER
from understudy_bench.soaking import Soaked, soak_pipeline, soak_server
from understudy_bench.startup import measure_starts

EXAMPLE = "example: understudy bench soak --frames 2000000 --hours 2"

CHARACTER: Final = "short-legs"
RATE_HZ: Final = 120.0
SETTLED_FRAMES: Final = 10_000
MAX_GROWTH_KIB: Final = 1024
MAX_BLOCKS_PER_FRAME: Final = 0.01
MAX_DRIFT: Final = 1.25
MAX_START_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """How many frames as fast as they go, how many guests, how long in real time, how many starts.

    Nothing is run in real time for 0 hours, and no start is timed for 0 starts.
    """

    frames: int = 2_000_000
    server_frames: int = 200_000
    guests: int = 200
    hours: float = 0.0
    starts: int = 3
    solver: str = "clik"
    settled: int = SETTLED_FRAMES
    block_s: float = BLOCK_S
    server_command: Sequence[str] = SERVE


@dataclass(frozen=True, slots=True)
class Soak:
    """Everything that was measured."""

    starts_s: Sequence[float]
    pipeline: Soaked
    served: Soaked
    guests: Churn
    real_time: RealTime | None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    default = SoakOptions()
    parser.add_argument(
        "--frames",
        type=count,
        default=default.frames,
        metavar="N",
        help=f"through the pipeline in this process, as fast as they go (default {default.frames})",
    )
    parser.add_argument(
        "--server-frames",
        type=count,
        default=default.server_frames,
        metavar="N",
        help=f"through a server process, as fast as they go (default {default.server_frames})",
    )
    parser.add_argument(
        "--hours",
        type=number(0.0, 1000.0, "h"),
        default=default.hours,
        metavar="N",
        help=f"in real time at {RATE_HZ:g} Hz, with guests (default 0: not)",
    )
    parser.add_argument(
        "--guests",
        type=count,
        default=default.guests,
        metavar="N",
        help=f"performers and subscribers that come and leave (default {default.guests})",
    )
    parser.add_argument("--solver", choices=SOLVERS, default=default.solver, help="default clik")


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_soak(
        SoakOptions(
            frames=arguments.frames,
            server_frames=arguments.server_frames,
            guests=arguments.guests,
            hours=arguments.hours,
            solver=arguments.solver,
        )
    )


def run_soak(options: SoakOptions) -> Report:
    """Start, soak the pipeline in this process, soak a server process, let guests come and go."""
    watch = NoiseWatch()
    soak = _soak(options, watch)
    noise = watch.noise()
    results: dict[str, Json] = {
        "solver": options.solver,
        "settled_frames": options.settled,
        "starts_s": list(soak.starts_s),
        "pipeline": asdict(soak.pipeline),
        "server": asdict(soak.served),
        "guests": asdict(soak.guests),
        "real_time": None if soak.real_time is None else asdict(soak.real_time),
    }
    return Report(
        "soak",
        {**describe_machine(), **noise.meta()},
        results,
        _checks(soak, noise),
        (_table(options, soak),),
        _notes(options, soak, noise),
        _headlines(soak),
    )


def _soak(options: SoakOptions, watch: NoiseWatch) -> Soak:
    clip = load_clip("walk", RATE_HZ)
    motion = EndlessMotion(PERFORMER, clip)
    session = {"performer": PERFORMER, "character": CHARACTER, "solver": options.solver}
    seconds = 3600.0 * options.hours
    total = options.frames + options.server_frames + options.guests + seconds * RATE_HZ
    starts_s: list[float] = []
    if options.starts:
        starts_s = measure_starts(options.solver, options.server_command, options.starts)
    real_time = None
    with metered("soak", total) as meter:
        pipeline = soak_pipeline(options.solver, motion, options.frames, options.settled, meter)
        with ServerProcess([session], options.server_command) as server:
            served = soak_server(
                server, CHARACTER, motion, options.server_frames, options.settled, meter
            )
            guests = churn(server, CHARACTER, motion, options.guests, meter)
            watch.count(server.cpu_s())
        if seconds:
            with ServerProcess([session], options.server_command) as server:
                real_time = soak_in_real_time(
                    server,
                    CHARACTER,
                    PERFORMER,
                    clip,
                    seconds,
                    options.settled,
                    meter,
                    options.block_s,
                )
                watch.count(server.cpu_s())
    return Soak(starts_s, pipeline, served, guests, real_time)


def _notes(options: SoakOptions, soak: Soak, noise: Noise) -> list[str]:
    guests = soak.guests
    notes = [
        f"grown: resident memory at the end against after the first {options.settled:,} frames;"
        " blocks: objects that survive a frame, as the allocator counts them; drift: p50 of the"
        " last quarter of the run / of the first",
        f"{guests.count} performers and {guests.count} subscribers came and left: open files"
        f" {guests.files_before} before, {guests.files_after} after",
    ]
    if soak.starts_s:
        seconds = ", ".join(f"{start:.2f}" for start in soak.starts_s)
        notes.append(
            "start: from the process to the first frame that was answered, kernels cached:"
            f" {seconds} s"
        )
    if soak.real_time is None:
        notes.append("nothing was run in real time; --hours N does")
    else:
        notes.append(
            f"in real time: {soak.real_time.seconds / 3600:.2f} h, {soak.real_time.guests} guests"
            " came and left in between"
        )
    return [*notes, noise.sentence()]


def _headlines(soak: Soak) -> list[Headline]:
    command = f"understudy bench soak --frames {soak.pipeline.frames}"
    headlines = [
        Headline(
            f"memory grown over {soak.pipeline.frames:,} frames",
            f"{soak.pipeline.grown_bytes / 1024:,.0f} KiB",
            command,
        )
    ]
    if soak.starts_s:
        headlines.append(
            Headline(
                "start of a server to its first frame, kernels compiled before",
                f"{min(soak.starts_s):.1f} s",
                command,
            )
        )
    return headlines


def _checks(soak: Soak, noise: Noise) -> list[Check]:
    pipeline, served, guests = soak.pipeline, soak.served, soak.guests
    checks = [
        _grown("the pipeline", pipeline.frames, pipeline.grown_bytes),
        judge(
            "allocations that survive a frame",
            pipeline.blocks_per_frame,
            "blocks/frame",
            "<=",
            MAX_BLOCKS_PER_FRAME,
        ),
        _grown("the server", served.frames, served.grown_bytes),
        judge("frames lost by the server", served.lost, "frames", "==", 0),
        _drift("the pipeline", pipeline.drift, noise),
        _drift("the server", served.drift, noise),
        judge(
            f"open files left behind by {guests.count} guests",
            guests.files_after - guests.files_before,
            "files",
            "<=",
            0,
        ),
    ]
    if soak.starts_s:
        checks.append(
            judge_unless_noisy(
                "start to the first accepted frame, kernels cached, best",
                min(soak.starts_s),
                "s",
                "<=",
                MAX_START_S,
                noisy=noise.noisy,
            )
        )
    if soak.real_time is not None:
        live = soak.real_time
        checks += [
            _grown("the server in real time", live.frames, live.grown_bytes),
            # Over hours a shared machine stands still for a moment, and then frames are dropped.
            judge_unless_noisy(
                "frames lost in real time", live.lost, "frames", "==", 0, noisy=noise.noisy
            ),
            judge("open files grown in real time", live.files_grown, "files", "<=", 0),
            _drift("the server in real time", live.drift, noise),
        ]
    return checks


def _grown(where: str, frames: int, grown_bytes: int) -> Check:
    name = f"resident memory grown in {where}, {frames} frames"
    return judge(name, grown_bytes / 1024, "KiB", "<=", MAX_GROWTH_KIB)


def _drift(where: str, value: float, noise: Noise) -> Check:
    name = f"drift of latency in {where}"
    return judge_unless_noisy(name, value, "times", "<=", MAX_DRIFT, noisy=noise.noisy)


def _table(options: SoakOptions, soak: Soak) -> Table:
    blocks = f"{soak.pipeline.blocks_per_frame:.5f}"
    rows = [
        _row("pipeline, this process", soak.pipeline, blocks),
        _row("server process", soak.served),
    ]
    if soak.real_time is not None:
        rows.append(_row("server process, real time", soak.real_time))
    return Table(
        f"soak, {options.solver}",
        (
            "", "frames", "frames/s", "grown KiB", "blocks/frame", "lost", "p50 us first", "last",
            "drift",
        ),
        rows,
    )  # fmt: skip


def _row(what: str, run: Soaked | RealTime, blocks: str = "") -> list[str]:
    return [
        what,
        f"{run.frames:,}",
        f"{run.frames_per_s:,.0f}",
        f"{run.grown_bytes / 1024:,.0f}",
        blocks,
        str(run.lost),
        f"{run.p50_us[0]:,.0f}",
        f"{run.p50_us[-1]:,.0f}",
        f"{run.drift:.2f}",
    ]
