"""`bench capacity`: how many characters at 120 Hz one core holds, beside a bare echo."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np

from understudy.characters import load_clip
from understudy.commands.arguments import count, number
from understudy.runtime.session import TIMED_EVERY
from understudy.solvers import SOLVERS
from understudy_bench.checks import Check, judge_if_quiet, judge_unless_noisy
from understudy_bench.contenders import (
    MOST_PERFORMERS,
    Contender,
    Search,
    Terms,
    ZmqEcho,
    ZmqServer,
    vmc_echo,
    vmc_server,
    write_rig,
)
from understudy_bench.crowd import RATE_HZ, Trial
from understudy_bench.growth import Growth, measure_growth
from understudy_bench.machine import describe_machine
from understudy_bench.noise import Noise, NoiseWatch
from understudy_bench.pinning import can_pin, out_of_the_way
from understudy_bench.processes import SERVE
from understudy_bench.report import Headline, Json, Meter, Report, Table, metered
from understudy_bench.sidebyside import TRANSPORTS, Transport

EXAMPLE = "example: understudy bench capacity --transport zmq --most 64"

LEAST_SHARE: Final = 0.5
MAX_CPU_RATIO: Final = 2.0
# Among a hundred joints one more may cost no more than among a few: what half as much again would
# be is beyond noise, and a square would be four times.
MAX_JOINT_PRICE: Final = 1.5
MAX_ROWS_EXPONENT: Final = 3.0
# With so few performers the sender mostly sleeps: how late it wakes up tells of the machine.
_FEW: Final = 16

_CONTENDERS: Final[Mapping[Transport, Mapping[str, Callable[[Terms], Contender]]]] = {
    "zmq": {"server": ZmqServer, "echo": ZmqEcho},
    "vmc": {"server": vmc_server, "echo": vmc_echo},
}


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """How far to search, how long each try lasts, and how many tries a number gets."""

    most: int = 512
    seconds: float = 0.5
    tries: int = 24
    solver: str = "clik"
    transports: Sequence[Transport] = tuple(TRANSPORTS)
    server_command: Sequence[str] = SERVE

    @property
    def frames(self) -> int:
        """Frames of each performer in one try."""
        return max(10, round(self.seconds * RATE_HZ))


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one transport's search found: characters held, and CPU time per frame (us).

    `profile` is where a frame's time went in the server with as many characters as it held (us).
    """

    transport: Transport
    held: Mapping[str, int]
    cpu_us: Mapping[str, float]
    trials: Sequence[Trial]
    profile: Mapping[str, float]

    @property
    def share(self) -> float:
        """Characters held by the server / by the echo."""
        return self.held["server"] / max(1, self.held["echo"])

    @property
    def cpu_ratio(self) -> float:
        """CPU time per frame of the server / of the echo."""
        return self.cpu_us["server"] / max(self.cpu_us["echo"], 1e-9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    default = CapacityOptions()
    parser.add_argument(
        "--most",
        type=count,
        default=default.most,
        metavar="N",
        help=f"stop the search there (default {default.most})",
    )
    parser.add_argument(
        "--seconds",
        type=number(0.1, 600.0, "s"),
        default=default.seconds,
        metavar="N",
        help=f"for each try (default {default.seconds:g})",
    )
    parser.add_argument(
        "--tries",
        type=count,
        default=default.tries,
        metavar="N",
        help="tries that a number of characters gets; it is held if no deadline is missed in one"
        f" of them (default {default.tries})",
    )
    parser.add_argument(
        "--transport",
        nargs="+",
        choices=tuple(TRANSPORTS),
        default=list(TRANSPORTS),
        help="default: both",
    )
    parser.add_argument("--solver", choices=SOLVERS, default=default.solver, help="default clik")


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_capacity(
        CapacityOptions(
            most=arguments.most,
            seconds=arguments.seconds,
            tries=arguments.tries,
            solver=arguments.solver,
            transports=arguments.transport,
        )
    )


def run_capacity(options: CapacityOptions) -> Report:
    """Bisect for the server and for the echo, taking turns; then see how the cost grows."""
    watch = NoiseWatch()
    steps = 2 * len(options.transports) * (options.most.bit_length() + 3)
    with metered("capacity", steps) as meter, out_of_the_way():
        found = [_search(options, transport, watch, meter) for transport in options.transports]
    growth = measure_growth(options.solver)
    idle_us = [t.sender_late_p99_us for each in found for t in each.trials if t.characters <= _FEW]
    noise = watch.noise((1e3 * np.array(idle_us)).astype(np.int64))
    results: dict[str, Json] = {
        "solver": options.solver,
        "rate_hz": RATE_HZ,
        "transports": {
            each.transport: {
                "characters": dict(each.held),
                "share_of_echo": each.share,
                "cpu_us_per_frame": dict(each.cpu_us),
                "stages_us": dict(each.profile),
                "trials": [asdict(trial) for trial in each.trials],
            }
            for each in found
        },
        "growth": {
            **asdict(growth),
            "joint_price_ratio": growth.joint_price_ratio,
            "rows_exponent": growth.rows_exponent,
        },
    }
    checks = [check for each in found for check in _checks(options, each, noise)]
    return Report(
        "capacity",
        {**describe_machine(), **noise.meta()},
        results,
        checks + _growth_checks(options, growth, noise),
        [
            *(table for each in found for table in _tables(options, each)),
            *_growth_tables(options, growth),
        ],
        _notes(options, found, noise),
        [headline for each in found for headline in _headlines(options, each)],
    )


def _search(
    options: CapacityOptions, transport: Transport, watch: NoiseWatch, meter: Meter
) -> Capacity:
    clip = load_clip("walk", RATE_HZ)
    trials: list[Trial] = []
    makers = _CONTENDERS[transport]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        terms = Terms(
            clip, write_rig(folder), options.frames, options.solver, options.server_command
        )
        server, echo = (
            stack.enter_context(closing(makers[what](terms))) for what in ("server", "echo")
        )
        contenders: dict[str, Contender] = {"server": server, "echo": echo}
        searches = {
            what: Search(contender, options.most, options.tries)
            for what, contender in contenders.items()
        }
        while any(not search.done for search in searches.values()):
            for search in searches.values():
                if not search.done:
                    trials.append(search.step())
                    meter.advance()
    for contender in contenders.values():
        watch.count(contender.cpu_s)
    held = {what: search.held for what, search in searches.items()}
    profile = server.profiles.get(held["server"], {})
    return Capacity(transport, held, _cpu_per_frame(trials), trials, profile)


def _cpu_per_frame(trials: Sequence[Trial]) -> dict[str, float]:
    """The least processor time per frame of each, over the numbers that both were tried with.

    Only numbers at which every performer drives one character: a server decodes a frame once,
    however many it drives.
    """
    tried = [{t.characters for t in trials if t.what == what} for what in ("server", "echo")]
    both = {n for n in set.intersection(*tried) if n <= MOST_PERFORMERS}
    return {
        what: min(t.cpu_us for t in trials if t.what == what and t.characters in both)
        for what in ("server", "echo")
    }


def _headlines(options: CapacityOptions, found: Capacity) -> list[Headline]:
    over = f"over {TRANSPORTS[found.transport]}, `{options.solver}`"
    command = "understudy bench capacity"
    return [
        Headline(
            f"characters at {RATE_HZ:g} Hz that one core holds without a missed deadline, {over}",
            f"{found.held['server']} (a bare echo: {found.held['echo']})",
            command,
        ),
        Headline(
            f"CPU time per frame, {over}",
            f"{found.cpu_us['server']:.0f} us, {found.cpu_ratio:.2f} times the echo's",
            command,
        ),
    ]


def _notes(options: CapacityOptions, found: Sequence[Capacity], noise: Noise) -> list[str]:
    notes = [
        f"held over {TRANSPORTS[each.transport]}: server {each.held['server']}, echo"
        f" {each.held['echo']}"
        + (f" (the search ends at {options.most})" if each.held["echo"] == options.most else "")
        for each in found
    ]
    notes += [
        "held: in the best of"
        f" {options.tries} tries of {options.seconds:g} s no frame, counted from when it was due,"
        " was answered later than the next one was due, and none was lost; the same rule for"
        " server and echo, in turn in one run",
        f"the server times the stages of every {TIMED_EVERY}th frame; the others go through align,"
        " solve and condition in one compiled call, which is faster",
        "characters have 25 joints, performers 22; over ZeroMQ the echo uses libzmq at both ends",
        f"beyond {MOST_PERFORMERS} characters a performer drives more than one; CPU time per frame"
        f" is compared up to {MOST_PERFORMERS}, at numbers that both were tried with",
        "growth: one solve, hot, p50 of the best round, all sizes in turn; joints: every bone cut"
        " into pieces, goals for hands and feet; rows: three for each goal, on 100 joints",
        "server and echo each had the last core to itself, the bench the others"
        if can_pin()
        else "this system keeps no process on one core: server and echo used what they got",
        noise.sentence(),
    ]
    return notes


def _checks(options: CapacityOptions, found: Capacity, noise: Noise) -> list[Check]:
    what = f"{options.solver} over {TRANSPORTS[found.transport]}"
    # Promised over ZeroMQ; over VMC an echo knows nothing of bones, so figures are reported.
    if found.transport != "zmq":
        return []
    return [
        judge_if_quiet(
            f"characters held / those of a bare echo, {what}",
            found.share,
            "",
            ">=",
            LEAST_SHARE,
            noisy=noise.noisy or not 0 < found.held["echo"] < options.most,
        ),
        judge_unless_noisy(
            f"CPU time per frame / that of a bare echo, {what}",
            found.cpu_ratio,
            "",
            "<=",
            MAX_CPU_RATIO,
            noisy=noise.noisy,
        ),
    ]


def _growth_checks(options: CapacityOptions, growth: Growth, noise: Noise) -> list[Check]:
    few, *_, many = growth.over_joints
    *_, less, _, most = growth.over_rows
    return [
        judge_unless_noisy(
            f"cost of one more joint among {many.joints} / among {few.joints}, {options.solver}",
            growth.joint_price_ratio,
            "",
            "<=",
            MAX_JOINT_PRICE,
            noisy=noise.noisy,
        ),
        judge_unless_noisy(
            f"exponent of the cost of {less.rows} to {most.rows} rows, {options.solver}",
            growth.rows_exponent,
            "",
            "<=",
            MAX_ROWS_EXPONENT,
            noisy=noise.noisy,
        ),
    ]


def _tables(options: CapacityOptions, found: Capacity) -> list[Table]:
    over = TRANSPORTS[found.transport]
    rows = [
        [
            f"{trial.characters} ({trial.what})",
            f"{trial.missed:,} of {trial.frames:,}",
            f"{trial.p50_us:,.0f}",
            f"{trial.p99_us:,.0f}",
            f"{trial.cpu_us:.0f}",
            f"{trial.sender_late_p99_us:,.0f}",
        ]
        for trial in sorted(found.trials, key=lambda t: (t.what, t.characters))
    ]
    tables = [
        Table(
            f"characters at {RATE_HZ:g} Hz on one core over {over}, {options.solver}",
            ("characters", "missed", "p50 us", "p99 us", "CPU us/frame", "sender late us"),
            rows,
        )
    ]
    if found.profile:
        stages = [[name, f"{us:.1f}"] for name, us in found.profile.items()]
        tables.append(
            Table(
                f"where a frame's time goes with {found.held['server']} characters over {over}",
                ("stage", "p50 us"),
                [
                    *stages,
                    ["all stages", f"{sum(found.profile.values()):.1f}"],
                    # More than the stages: waking up, the sockets' own threads, housekeeping.
                    ["CPU time per frame", f"{found.cpu_us['server']:.1f}"],
                ],
            )
        )
    return tables


def _growth_tables(options: CapacityOptions, growth: Growth) -> list[Table]:
    joints = [[str(each.joints), f"{each.us:.1f}"] for each in growth.over_joints]
    rows = [[str(each.rows), f"{each.us:.1f}"] for each in growth.over_rows]
    return [
        Table(f"a solve by joints, {options.solver}", ("joints", "us"), joints),
        Table(f"a solve by rows of goals, {options.solver}", ("rows", "us"), rows),
    ]
