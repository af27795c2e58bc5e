"""`bench soak`: very many frames through the pipeline and a real server; does anything grow?"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from understudy.characters import load_clip
from understudy.commands.arguments import count
from understudy_bench.checks import Check, judge
from understudy_bench.churn import Churn, churn
from understudy_bench.machine import CpuUse, describe_machine, load_since
from understudy_bench.motion import EndlessMotion
from understudy_bench.processes import SERVE, ServerProcess
from understudy_bench.report import Report, Table, metered
from understudy_bench.sidebyside import PERFORMER
from understudy_bench.soaking import Soaked, soak_pipeline, soak_server

EXAMPLE = "example: understudy bench soak --frames 2000000"

CHARACTER: Final = "short-legs"
RATE_HZ: Final = 120.0
SETTLED_FRAMES: Final = 10_000
MAX_GROWTH_KIB: Final = 1024
MAX_BLOCKS_PER_FRAME: Final = 0.01


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """How many frames as fast as they go, and how many guests come and leave."""

    frames: int = 2_000_000
    server_frames: int = 200_000
    guests: int = 200
    solver: str = "clik"
    settled: int = SETTLED_FRAMES
    server_command: Sequence[str] = SERVE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    default = SoakOptions()
    parser.add_argument(
        "--frames",
        type=count,
        default=default.frames,
        metavar="N",
        help=f"through the pipeline in this process (default {default.frames})",
    )
    parser.add_argument(
        "--server-frames",
        type=count,
        default=default.server_frames,
        metavar="N",
        help=f"through a server process (default {default.server_frames})",
    )
    parser.add_argument(
        "--guests",
        type=count,
        default=default.guests,
        metavar="N",
        help=f"performers and subscribers that come and leave (default {default.guests})",
    )
    parser.add_argument("--solver", default=default.solver, help=f"default {default.solver}")


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_soak(
        SoakOptions(
            frames=arguments.frames,
            server_frames=arguments.server_frames,
            guests=arguments.guests,
            solver=arguments.solver,
        )
    )


def run_soak(options: SoakOptions) -> Report:
    """Soak the pipeline in this process, then a server process, then let guests come and go."""
    before = CpuUse.now()
    motion = EndlessMotion(PERFORMER, load_clip("walk", RATE_HZ))
    session = {"performer": PERFORMER, "character": CHARACTER, "solver": options.solver}
    total = options.frames + options.server_frames + options.guests
    with metered("soak", total) as meter:
        pipeline = soak_pipeline(options.solver, motion, options.frames, options.settled, meter)
        with ServerProcess([session], options.server_command) as server:
            served = soak_server(
                server, CHARACTER, motion, options.server_frames, options.settled, meter
            )
            guests = churn(server, CHARACTER, motion, options.guests, meter)
    results = {
        "solver": options.solver,
        "settled_frames": options.settled,
        "pipeline": asdict(pipeline),
        "server": asdict(served),
        "guests": asdict(guests),
    }
    meta = {**describe_machine(), "steal": load_since(before).steal}
    rows = [_row("pipeline, this process", pipeline), _row("server process", served)]
    table = Table(
        f"soak, {options.solver}",
        ("", "frames", "frames/s", "grown KiB", "blocks/frame", "lost", "p50 us first", "last"),
        rows,
    )
    notes = (
        f"grown: resident memory at the end against after the first {options.settled} frames;"
        " blocks: objects that survive a frame, as the allocator counts them",
        f"{guests.count} performers and {guests.count} subscribers came and left: open files"
        f" {guests.files_before} before, {guests.files_after} after",
    )
    return Report(
        "soak", meta, results, _checks(options, pipeline, served, guests), (table,), notes
    )


def _checks(options: SoakOptions, pipeline: Soaked, served: Soaked, guests: Churn) -> list[Check]:
    return [
        judge(
            f"resident memory grown in the pipeline, {pipeline.frames} frames",
            pipeline.grown_bytes / 1024,
            "KiB",
            "<=",
            MAX_GROWTH_KIB,
        ),
        judge(
            "allocations that survive a frame",
            pipeline.blocks_per_frame,
            "blocks/frame",
            "<=",
            MAX_BLOCKS_PER_FRAME,
        ),
        judge(
            f"resident memory grown in the server, {served.frames} frames",
            served.grown_bytes / 1024,
            "KiB",
            "<=",
            MAX_GROWTH_KIB,
        ),
        judge("frames lost by the server", served.lost, "frames", "==", 0),
        judge(
            f"open files left behind by {options.guests} guests",
            guests.files_after - guests.files_before,
            "files",
            "<=",
            0,
        ),
    ]


def _row(what: str, soaked: Soaked) -> list[str]:
    first, last = np.array(soaked.p50_us)[[0, -1]]
    return [
        what,
        f"{soaked.frames:,}",
        f"{soaked.frames_per_s:,.0f}",
        f"{soaked.grown_bytes / 1024:,.0f}",
        f"{soaked.blocks_per_frame:.5f}",
        str(soaked.lost),
        f"{first:,.0f}",
        f"{last:,.0f}",
    ]
