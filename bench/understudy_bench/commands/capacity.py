"""`bench capacity`: how many characters at 120 Hz one core holds, beside a bare echo."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

import psutil

from understudy.characters import load_clip
from understudy.commands.arguments import count, number
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.crowd import RATE_HZ, Crowd, Trial
from understudy_bench.machine import CpuUse, describe_machine, load_since
from understudy_bench.motion import EndlessMotion
from understudy_bench.processes import SERVE, Process, ServerProcess, echo_process
from understudy_bench.report import Report, Table, metered
from understudy_client import Control

EXAMPLE = "example: understudy bench capacity --most 64"

LEAST_SHARE: Final = 0.5
MAX_CPU_RATIO: Final = 2.0
RIG: Final = "short-legs"
# As many performers as a server lets in; beyond that each drives more than one character.
_MOST_PERFORMERS: Final = 64
_TRIES: Final = 3
# Beyond its capacity a process is late with most frames. A few in a hundred, in the best of
# several tries, are the machine's own hiccups, and would end the search anywhere.
_LATE_ALLOWED: Final = 0.01
_PATIENCE_S: Final = 30.0
# A show needs a session; nobody performs in this one.
_IDLE: Final = {"performer": "nobody", "character": "idle", "rig": RIG, "solver": "copy"}


@dataclass(frozen=True, slots=True)
class CapacityOptions:
    """How far to search, and how long each try lasts."""

    most: int = 128
    seconds: float = 2.0
    solver: str = "clik"
    server_command: Sequence[str] = SERVE

    @property
    def frames(self) -> int:
        """Frames of each performer in one try."""
        return max(10, round(self.seconds * RATE_HZ))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument(
        "--most", type=count, default=128, metavar="N", help="stop the search there (default 128)"
    )
    parser.add_argument(
        "--seconds",
        type=number(0.1, 600.0, "s"),
        default=2.0,
        metavar="N",
        help="for each try (default 2)",
    )
    parser.add_argument("--solver", default="clik", help="default clik")


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_capacity(
        CapacityOptions(most=arguments.most, seconds=arguments.seconds, solver=arguments.solver)
    )


def run_capacity(options: CapacityOptions) -> Report:
    """Bisect for the server and for the echo, taking turns."""
    before = CpuUse.now()
    trials: list[Trial] = []
    with (
        metered("capacity", 2 * (options.most.bit_length() + 1)) as meter,
        ServerProcess([_IDLE], options.server_command) as server,
        echo_process() as echo,
    ):
        for process in (server, echo):
            _pin(process)
        searches = {
            "server": _Search(options.most, _ServerTrials(options, server)),
            "echo": _Search(options.most, lambda n: _echo_trial(options, echo, n)),
        }
        while any(not search.done for search in searches.values()):
            for search in searches.values():
                if not search.done:
                    trials.append(search.step())
                    meter.advance()
    held = {what: search.held for what, search in searches.items()}
    cpu = _cpu_per_frame(trials)
    meta = {**describe_machine(), "steal": load_since(before).steal}
    results = {
        "solver": options.solver,
        "rate_hz": RATE_HZ,
        "characters": held,
        "share_of_echo": held["server"] / max(1, held["echo"]),
        "cpu_us_per_frame": cpu,
        "trials": [asdict(trial) for trial in trials],
    }
    table = Table(
        f"characters at {RATE_HZ:g} Hz on one core, {options.solver}",
        ("characters", "late %", "p50 us", "p99 us", "CPU us/frame", "sender late us"),
        [
            [
                f"{trial.characters} ({trial.what})",
                f"{100 * trial.late:.2f}",
                f"{trial.p50_us:,.0f}",
                f"{trial.p99_us:,.0f}",
                f"{trial.cpu_us:.0f}",
                f"{trial.sender_late_us:,.0f}",
            ]
            for trial in sorted(trials, key=lambda t: (t.what, t.characters))
        ],
    )
    notes = (
        f"held, with at most {100 * _LATE_ALLOWED:g} % late in the best of {_TRIES} tries: server"
        f" {held['server']}, echo {held['echo']}",
        _pinning_note(),
    )
    return Report("capacity", meta, results, _checks(options, held, cpu), (table,), notes)


class _Search:
    """Bisection: the largest number that is held, between 0 and `most`."""

    def __init__(self, most: int, attempt: Callable[[int], Trial]) -> None:
        self.held = 0
        self._above = most + 1
        self._attempt = attempt
        self._next = min(8, most)

    @property
    def done(self) -> bool:
        """Whether nothing is left between what is held and what is not."""
        return self._above - self.held <= max(1, self.held // 16)

    def step(self) -> Trial:
        """Try the next number, several times if it is not held at once."""
        number = self._next
        best = self._attempt(number)
        for _ in range(_TRIES - 1):
            if best.late <= _LATE_ALLOWED:
                break
            best = min(best, self._attempt(number), key=lambda trial: trial.late)
        held = best.late <= _LATE_ALLOWED
        if held:
            self.held = number
        else:
            self._above = number
        doubled = 2 * number if held else self._above
        self._next = doubled if doubled < self._above else (self.held + self._above) // 2
        return best


class _ServerTrials:
    """Opens sessions on a running server, lets their performers play, and closes them again."""

    def __init__(self, options: CapacityOptions, server: ServerProcess) -> None:
        self._options = options
        self._server = server
        self._next_seq = 0

    def __call__(self, characters: int) -> Trial:
        performers = min(characters, _MOST_PERFORMERS)
        driven: list[list[str]] = [[] for _ in range(performers)]
        for i in range(characters):
            driven[i % performers].append(f"character-{i}")
        with Control(self._server.endpoints["control"], timeout=_PATIENCE_S) as control:
            for i, names in enumerate(driven):
                for name in names:
                    control.request(
                        "open",
                        performer=f"performer-{i}",
                        character=name,
                        rig=RIG,
                        solver=self._options.solver,
                    )
            answers = [[f"{name}/pose".encode() for name in names] for names in driven]
            crowd = Crowd(
                "server",
                self._server,
                _motions(performers),
                answers,
                "source_seq",
                self._next_seq,
            )
            try:
                return crowd.run(self._options.frames)
            finally:
                self._next_seq = crowd.next_seq
                for names in driven:
                    for name in names:
                        control.request("close", character=name)


def _echo_trial(options: CapacityOptions, echo: Process, characters: int) -> Trial:
    motions = _motions(characters)
    answers = [[motion.frame_topic] for motion in motions]
    return Crowd("echo", echo, motions, answers, "seq").run(options.frames)


def _motions(performers: int) -> list[EndlessMotion]:
    clip = load_clip("walk", RATE_HZ)
    return [EndlessMotion(f"performer-{i}", clip) for i in range(performers)]


def _pin(process: Process) -> None:
    """Keep it on the last core, where the system can; the bench itself keeps to the others."""
    cores = psutil.cpu_count() or 1
    if sys.platform != "darwin" and cores > 1:
        psutil.Process(process.pid).cpu_affinity([cores - 1])


def _pinning_note() -> str:
    if sys.platform == "darwin" or (psutil.cpu_count() or 1) < 2:
        return "this system keeps no process on one core: server and echo used what they got"
    return "server and echo were kept on one core each time, one at a time"


def _cpu_per_frame(trials: Sequence[Trial]) -> dict[str, float]:
    """The least processor time per frame of each, over the numbers that both were tried with."""
    tried = [{t.characters for t in trials if t.what == what} for what in ("server", "echo")]
    both = set.intersection(*tried)
    return {
        what: min(t.cpu_us for t in trials if t.what == what and t.characters in both)
        for what in ("server", "echo")
    }


def _checks(options: CapacityOptions, held: dict[str, int], cpu: dict[str, float]) -> list[Check]:
    return [
        judge_unless_noisy(
            f"characters held / those of a bare echo, {options.solver}",
            held["server"] / max(1, held["echo"]),
            "",
            ">=",
            LEAST_SHARE,
            noisy=held["echo"] == 0,
        ),
        judge(
            f"CPU time per frame / that of a bare echo, {options.solver}",
            cpu["server"] / max(cpu["echo"], 1e-9),
            "",
            "<=",
            MAX_CPU_RATIO,
        ),
    ]
