"""`bench viewers`: what people who look at the monitor's page cost the stream, block by block."""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from understudy.characters import load_clip
from understudy.commands.arguments import number
from understudy_bench.checks import Check, judge
from understudy_bench.latencies import Latencies, median_us
from understudy_bench.machine import describe_machine
from understudy_bench.motion import EndlessMotion
from understudy_bench.noise import NoiseWatch
from understudy_bench.openloop import Link, OpenLoop, no_collections
from understudy_bench.processes import BenchError, Process, ServerProcess
from understudy_bench.report import Headline, Json, Report, Table, metered
from understudy_bench.sidebyside import PERFORMER, SPARE_FRAMES
from understudy_bench.ways import ZmqWay, read_pose
from understudy_client import Control

EXAMPLE = "example: understudy bench viewers --seconds 60 --json viewers.json"

MAX_RATIO: Final = 1.05

_MONITOR: Final = (sys.executable, "-m", "understudy", "monitor", "--page-port", "0")
_VIEWERS: Final = (sys.executable, "-m", "understudy_bench.page_viewers")
_WARM_UP_S: Final = 1.0

_NOTES: Final = (
    "latency: from the moment a frame was due at the sender to its pose's receipt; one server and"
    " one monitor, watched in every other block by viewers that read all the page is sent",
    "ratio: p50 of all frames sent while they looked / p50 of all others; 'blocks' are the same"
    " ratio of neighbouring blocks, best and median of them",
)


@dataclass(frozen=True, slots=True)
class ViewersOptions:
    """What to measure."""

    seconds: float = 60.0
    viewers: int = 3
    rate_hz: float = 120.0
    clip: str = "walk"
    character: str = "short-legs"
    block_s: float = 5.0

    @property
    def pairs(self) -> int:
        """How many pairs of blocks, one without viewers and one with them."""
        return max(1, round(0.5 * self.seconds / self.block_s))

    @property
    def frames_per_block(self) -> int:
        """Frames sent in one block."""
        return max(1, round(0.5 * self.seconds * self.rate_hz / self.pairs))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    default = ViewersOptions()
    parser.add_argument(
        "--seconds",
        type=number(1.0, 1e6, "s"),
        default=default.seconds,
        metavar="N",
        help=f"how long to measure (default {default.seconds:g})",
    )
    parser.add_argument(
        "--viewers",
        type=int,
        choices=range(1, 21),
        default=default.viewers,
        metavar="N",
        help=f"how many look at the page, 1 to 20 (default {default.viewers})",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_viewers(ViewersOptions(seconds=arguments.seconds, viewers=arguments.viewers))


def run_viewers(options: ViewersOptions) -> Report:
    """Measure and judge."""
    motion = EndlessMotion(PERFORMER, load_clip(options.clip, options.rate_hz))
    session = {"performer": PERFORMER, "character": options.character}
    room = 2 * options.pairs * options.frames_per_block + SPARE_FRAMES
    title = f"{options.viewers} viewers at {options.rate_hz:g} Hz"
    alone: list[slice] = []
    watched: list[slice] = []
    with ExitStack() as stack:
        meter = stack.enter_context(metered(title, 2 * options.pairs))
        server = stack.enter_context(ServerProcess([session]))
        page = stack.enter_context(_Monitor(server.endpoints))
        prefix = f"{options.character}/".encode()
        way = ZmqWay(server.endpoints, motion.announcement, prefix, read_pose)
        link = stack.enter_context(Link("server", way, room))
        stack.enter_context(no_collections())
        loop = OpenLoop([link], motion, options.rate_hz)
        loop.warm_up(round(_WARM_UP_S * options.rate_hz))
        # Frames that came before the bodies were aligned are no part of it.
        dropped_before = _dropped(server)
        watch = NoiseWatch()
        viewers = [*_VIEWERS, page.endpoints["page"], str(options.viewers)]
        for pair in range(options.pairs):
            # Whoever comes second may find the machine warmer: each does in turn.
            for looking in (False, True) if pair % 2 == 0 else (True, False):
                with ExitStack() as company:
                    people = company.enter_context(Process("viewers", viewers)) if looking else None
                    loop.block(round(_WARM_UP_S * options.rate_hz))
                    block = loop.block(options.frames_per_block)
                    loop.drain(block)
                    watch.count(0.0 if people is None else people.cpu_s())
                (watched if looking else alone).append(block)
                meter.advance()
        dropped = _dropped(server) - dropped_before
        watch.count(server.cpu_s() + page.cpu_s())
        measured = slice(min(alone[0].start, watched[0].start), loop.next_seq)
        noise = watch.noise(link.sent_ns[measured] - link.due_ns[measured])
    figures = [
        Latencies.of(np.concatenate([link.latencies_ns(block) for block in blocks]))
        for blocks in (alone, watched)
    ]
    if not figures[0].count or not figures[1].count:
        raise BenchError("no frame came back; nothing was measured")
    ratios = [
        median_us(link.latencies_ns(b)) / median_us(link.latencies_ns(a))
        for a, b in zip(alone, watched, strict=True)
    ]
    results: dict[str, Json] = {
        "viewers": options.viewers,
        "rate_hz": options.rate_hz,
        "frames": sum(each.count for each in figures),
        "alone_p50_us": figures[0].p50_us,
        "watched_p50_us": figures[1].p50_us,
        "ratio": figures[1].p50_us / figures[0].p50_us,
        "ratio_of_blocks": {"best": min(ratios), "median": statistics.median(ratios)},
        "lost": [sum(link.lost(block) for block in blocks) for blocks in (alone, watched)],
        "dropped": dropped,
        "histograms": {"alone": figures[0].histogram, "watched": figures[1].histogram},
    }
    return Report(
        "viewers",
        {**describe_machine(), **noise.meta()},
        results,
        _checks(results),
        (_table(options, results, figures),),
        (*_NOTES, noise.sentence()),
        _headlines(options, results),
    )


def _dropped(server: ServerProcess) -> int:
    """Frames the server's one character has left out so far."""
    with Control(server.endpoints["control"]) as control:
        return int(control.request("stats")["characters"][0]["dropped"])


class _Monitor(Process):
    """The monitor of a server; it ends its line with its page's address."""

    def __init__(self, endpoints: Mapping[str, str]) -> None:
        ends = ("--from", endpoints["output"], "--control", endpoints["control"])
        super().__init__("monitor", [*_MONITOR, *ends])

    def _understand(self, line: str) -> Mapping[str, Any]:
        return {"ready": True, "page": line.split()[-1]} if line else {}


def _checks(results: Mapping[str, Any]) -> list[Check]:
    what = f"{results['viewers']} viewers"
    return [
        judge(f"{what} / none, p50", results["ratio"], "", "<=", MAX_RATIO),
        judge(f"frames lost, {what}", results["lost"][1], "frames", "==", 0),
        judge("frames dropped by the server", results["dropped"], "frames", "==", 0),
    ]


def _headlines(options: ViewersOptions, results: Mapping[str, Any]) -> list[Headline]:
    return [
        Headline(
            f"round trip of a frame while {options.viewers} viewers look at the monitor's page,"
            " median, beside none",
            f"{results['ratio']:.2f} times",
            f"understudy bench viewers --seconds {options.seconds:g}",
        )
    ]


def _table(options: ViewersOptions, results: Mapping[str, Any], figures: list[Latencies]) -> Table:
    blocks = results["ratio_of_blocks"]
    rows = [
        [name, *each.row(), str(lost)]
        for name, each, lost in zip(
            ("nobody looks", f"{options.viewers} viewers"), figures, results["lost"], strict=True
        )
    ]
    rows.append(
        [
            f"ratio (blocks: best {blocks['best']:.2f}, median {blocks['median']:.2f})",
            f"{results['ratio']:.2f}",
            *([""] * 4),
        ]
    )
    return Table(
        f"round trip, us: {results['frames']} frames of {options.clip} to {options.character}",
        ("", "p50", "p99", "p99.9", "max", "lost"),
        rows,
    )
