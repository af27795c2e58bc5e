"""`bench budget`: does every frame come back before the next one is due, at 30 to 120 Hz?"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from understudy.characters import load_clip
from understudy.commands.arguments import count, number
from understudy.config.reading import MAX_CLOCK_HZ, MIN_CLOCK_HZ
from understudy.solvers import SOLVERS
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.clocked import SOURCE_HZ, ClockCell, measure_clock
from understudy_bench.latencies import Latencies, Nanoseconds
from understudy_bench.machine import describe_machine
from understudy_bench.noise import Noise
from understudy_bench.openloop import Link, OpenLoop
from understudy_bench.processes import SERVE
from understudy_bench.report import Headline, Meter, Report, Table, metered
from understudy_bench.sidebyside import (
    PERFORMER,
    TRANSPORTS,
    Blocks,
    SideBySide,
    Transport,
    endless_motion,
    run_blocks,
    side_by_side,
)

EXAMPLE = "example: understudy bench budget --rates 60 120 --solver clik"

RATES_HZ: Final = (30.0, 60.0, 90.0, 120.0)
CHARACTER: Final = "short-legs"
_BLOCK_S: Final = 2.0
_WARM_UP_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class BudgetOptions:
    """What to measure: `seconds` for every transport, solver and rate, in short runs.

    Where every run has missed a deadline there are more of them, up to `tries` in all.
    `clock_seconds` for every rate of an output clock; 0 leaves it out.
    """

    seconds: float = 10.0
    tries: int = 10
    clock_seconds: float = 4.0
    transports: Sequence[Transport] = tuple(TRANSPORTS)
    rates_hz: Sequence[float] = RATES_HZ
    solvers: Sequence[str] = SOLVERS
    clip: str = "walk"
    server_command: Sequence[str] = SERVE

    @property
    def blocks(self) -> int:
        """Short runs per solver and rate, of which the best is judged."""
        return max(1, round(self.seconds / _BLOCK_S))

    @property
    def most_blocks(self) -> int:
        """The same while each of them has missed a deadline."""
        return max(self.blocks, self.tries)

    def frames_per_block(self, rate_hz: float) -> int:
        """Frames of one short run."""
        return max(2, round(self.seconds * rate_hz / self.blocks))


@dataclass(frozen=True, slots=True)
class Cell:
    """One solver at one rate over one transport: latencies (us), deadlines missed, frames lost.

    `missed_best` is the number of missed deadlines in the best of the short runs, `echo_missed` the
    echo's in the same one; `jitter_p99_us` how far the time between two poses leaving the server
    strays from the period; `cpu_us` is processor time per frame.
    """

    transport: Transport
    solver: str
    rate_hz: float
    frames: int
    server: Latencies
    echo: Latencies
    missed: int
    missed_best: int
    echo_missed: int
    lost: int
    jitter_p99_us: float
    cpu_us: float
    echo_cpu_us: float
    noise: Noise

    @property
    def undecidable(self) -> bool:
        """Whether the machine, not the server, may be to blame for a missed deadline."""
        return self.noise.noisy or self.echo_missed > 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument(
        "--seconds",
        type=number(1.0, 1e5, "s"),
        default=10.0,
        metavar="N",
        help="for each transport, solver and rate (default 10)",
    )
    parser.add_argument(
        "--tries",
        type=count,
        default=10,
        metavar="N",
        help=f"runs of {_BLOCK_S:g} s that each of them gets until one misses no deadline"
        " (default 10)",
    )
    parser.add_argument(
        "--transport",
        nargs="+",
        choices=tuple(TRANSPORTS),
        default=list(TRANSPORTS),
        help="default: both",
    )
    parser.add_argument(
        "--rates",
        type=number(1.0, 1000.0, "Hz"),
        nargs="+",
        default=list(RATES_HZ),
        metavar="HZ",
        help="default 30 60 90 120",
    )
    parser.add_argument(
        "--solver", nargs="+", choices=SOLVERS, default=list(SOLVERS), help="default: all"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_budget(
        BudgetOptions(
            seconds=arguments.seconds,
            tries=arguments.tries,
            transports=arguments.transport,
            rates_hz=arguments.rates,
            solvers=arguments.solver,
        )
    )


def run_budget(options: BudgetOptions) -> Report:
    """Measure every solver at every rate, one server process per transport and solver."""
    cells: list[Cell] = []
    runs = len(options.transports) * len(options.solvers) * options.blocks
    total = (runs + 1) * len(options.rates_hz)
    with metered("budget", total) as meter:
        for transport in options.transports:
            for solver in options.solvers:
                cells += _measure(options, transport, solver, meter)
        clock = _measure_clock(options, meter)
    worst = max(cells, key=lambda cell: len(cell.noise.reasons))
    meta = {**describe_machine(), **worst.noise.meta()}
    notes = (
        "a deadline is missed when an answer comes later than one period after its frame was due;"
        f" judged: the best of {options.blocks} short runs, or of up to {options.most_blocks} where"
        " none was clean before",
        "jitter: time between two poses leaving the server against the period, p99; of the frames'"
        " own session it is the sender's and the way's, of a session with an output clock, driven"
        f" at {SOURCE_HZ:g} Hz, the clock's",
        "over VMC a frame's number travels in a /VMC/Thru message, which the server hands on with"
        " the pose made of that frame; a pose counts when all its datagrams have come",
        worst.noise.sentence(),
    )
    results = {
        "cells": [_plain(cell) for cell in cells],
        "clock": [asdict(each) for each in clock],
    }
    checks = [check for cell in cells for check in _checks(cell)]
    tables = [
        _table(transport, [cell for cell in cells if cell.transport == transport])
        for transport in options.transports
    ]
    if clock:
        tables.append(_clock_table(options, clock))
    headlines = [_headline(options, transport, cells) for transport in options.transports]
    return Report("budget", meta, results, checks, tables, notes, headlines)


def _measure(options: BudgetOptions, transport: Transport, solver: str, meter: Meter) -> list[Cell]:
    clips = {rate: load_clip(options.clip, rate) for rate in options.rates_hz}
    frames = sum(options.most_blocks * options.frames_per_block(rate) for rate in options.rates_hz)
    session = {"performer": PERFORMER, "character": CHARACTER, "solver": solver}
    cells = []
    first = next(iter(clips.values()))
    with side_by_side(session, first, frames, options.server_command, transport) as rig:
        next_seq = 0
        for rate in options.rates_hz:
            links = (rig.to_server, rig.to_echo)
            motion = endless_motion(clips[rate], transport)
            loop = OpenLoop(links, motion, rate, first_seq=next_seq)
            loop.warm_up(max(1, round(_WARM_UP_S * rate)))
            run = run_blocks(
                rig,
                loop,
                options.blocks,
                options.frames_per_block(rate),
                meter,
                most=options.most_blocks,
                good=_clean(rig.to_server, 1e9 / rate),
            )
            cells.append(_cell(transport, solver, rate, rig, run))
            next_seq = loop.next_seq
    return cells


def _measure_clock(options: BudgetOptions, meter: Meter) -> list[ClockCell]:
    rates_hz = [rate for rate in options.rates_hz if MIN_CLOCK_HZ <= rate <= MAX_CLOCK_HZ]
    if not rates_hz or not options.clock_seconds:
        return []
    solver, seconds = options.solvers[0], options.clock_seconds
    return measure_clock(rates_hz, seconds, solver, options.server_command, meter)


def _cell(transport: Transport, solver: str, rate_hz: float, rig: SideBySide, run: Blocks) -> Cell:
    period_ns = 1e9 / rate_hz
    missed = [_missed(rig.to_server, block, period_ns) for block in run.blocks]
    best = int(np.argmin(missed))
    return Cell(
        transport=transport,
        solver=solver,
        rate_hz=rate_hz,
        frames=run.frames.stop - run.frames.start,
        server=Latencies.of(rig.to_server.latencies_ns(run.frames)),
        echo=Latencies.of(rig.to_echo.latencies_ns(run.frames)),
        missed=sum(missed),
        missed_best=missed[best],
        echo_missed=_missed(rig.to_echo, run.blocks[best], period_ns),
        lost=rig.to_server.lost(run.frames),
        jitter_p99_us=_jitter_us(rig.to_server, run.blocks, period_ns),
        cpu_us=run.cpu_us["server"],
        echo_cpu_us=run.cpu_us["echo"],
        noise=run.noise,
    )


def _missed(link: Link, seqs: slice, period_ns: float) -> int:
    """Frames answered too late; those never answered are counted apart, as lost."""
    return int(np.sum(link.latencies_ns(seqs) > period_ns))


def _clean(link: Link, period_ns: float) -> Callable[[slice], bool]:
    return lambda seqs: _missed(link, seqs, period_ns) == 0 and link.lost(seqs) == 0


def _jitter_us(link: Link, blocks: Sequence[slice], period_ns: float) -> float:
    strays: list[Nanoseconds] = []
    for block in blocks:
        published = link.publish_ns[block]
        published = published[published != 0]
        strays.append(np.abs(np.diff(published) - period_ns).astype(np.int64))
    every = np.concatenate(strays)
    return float(np.percentile(every, 99.0)) * 1e-3 if len(every) else 0.0


def _checks(cell: Cell) -> list[Check]:
    what = f"{cell.solver} at {cell.rate_hz:g} Hz over {TRANSPORTS[cell.transport]}"
    return [
        judge_unless_noisy(
            f"missed deadlines in the best run, {what}",
            cell.missed_best,
            "frames",
            "==",
            0,
            noisy=cell.undecidable,
        ),
        judge(f"frames lost, {what}", cell.lost, "frames", "==", 0),
    ]


def _headline(options: BudgetOptions, transport: Transport, cells: Sequence[Cell]) -> Headline:
    own = [cell for cell in cells if cell.transport == transport]
    kept = sum(cell.missed_best == 0 and cell.lost == 0 for cell in own)
    rates = ", ".join(f"{rate:g}" for rate in options.rates_hz)
    return Headline(
        f"over {TRANSPORTS[transport]}, {rates} Hz with {', '.join(options.solvers)}: combinations"
        " in which every frame came back before the next was due",
        f"{kept} of {len(own)} (best of {options.blocks} to {options.most_blocks} short runs each)",
        f"understudy bench budget --seconds {options.seconds:g} --tries {options.tries}",
    )


def _plain(cell: Cell) -> dict[str, Any]:  # Any: what JSON carries
    return {**asdict(cell), "noisy": cell.noise.noisy}


def _table(transport: Transport, cells: Sequence[Cell]) -> Table:
    rows = [
        [
            f"{cell.solver} at {cell.rate_hz:g} Hz",
            f"{1e6 / cell.rate_hz:,.0f}",
            *cell.server.row(),
            f"{cell.echo.p50_us:,.0f}",
            f"{cell.missed} ({cell.missed_best})",
            str(cell.lost),
            f"{cell.jitter_p99_us:,.0f}",
            f"{cell.cpu_us:.0f} / {cell.echo_cpu_us:.0f}",
        ]
        for cell in cells
    ]
    return Table(
        f"round trip against the frame's budget, us, over {TRANSPORTS[transport]}",
        (
            "", "budget", "p50", "p99", "p99.9", "max", "echo p50", "missed (best run)", "lost",
            "jitter", "CPU / echo's",
        ),
        rows,
    )  # fmt: skip


def _clock_table(options: BudgetOptions, clock: Sequence[ClockCell]) -> Table:
    rows = [
        [
            f"{each.rate_hz:g} Hz",
            str(each.poses),
            str(each.skipped),
            f"{each.jitter_p50_us:,.0f}",
            f"{each.jitter_p99_us:,.0f}",
            f"{each.jitter_max_us:,.0f}",
        ]
        for each in clock
    ]
    return Table(
        f"output clock, {options.solvers[0]}, us",
        ("rate", "poses", "ticks skipped", "jitter p50", "p99", "max"),
        rows,
    )
