"""`bench solvers`: the same task for every solver, hot and paced, with peers beside them."""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from understudy.commands.arguments import count
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton
from understudy.solvers import SOLVERS, create_solver
from understudy.solvers.base import Status
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.machine import describe_machine
from understudy_bench.noise import Noise, NoiseWatch
from understudy_bench.openloop import no_collections, now_ns, sleep_until
from understudy_bench.peers.bodies import write_task
from understudy_bench.peers.environments import PEERS, PeerProcess
from understudy_bench.report import Headline, Json, Report, Table, metered
from understudy_bench.task import SolverTask, build_task

EXAMPLE = "example: understudy bench solvers --clip walk --peers"

RATE_HZ: Final = 120.0
SLOW_HZ: Final = 30.0
MAX_HOT_US: Final = 12.0
MAX_FORWARD_US: Final = 3.0
_FORWARD_BATCHES, _FORWARD_CALLS = 20, 500
MAX_ERROR_CM: Final = 0.05
LEAST_SPEEDUP: Final = {"placo": 20.0, "mink": 40.0}
WARM_UP_S: Final = 0.25
_HOT_FRAMES: Final = 400
_PACED_FRAMES: Final = 120
_PACED_ROUNDS: Final = 3  # they take real time


@dataclass(frozen=True, slots=True)
class SolverOptions:
    """What to measure: `rounds` times, solvers and peers taking turns."""

    clip: str = "walk"
    rounds: int = 8
    solvers: Sequence[str] = SOLVERS
    peers: Sequence[str] = ()


@dataclass(slots=True)
class Timing:
    """What was measured of one solver: every round's p50 and p99, hot and paced (us)."""

    name: str
    limits: bool
    versions: Mapping[str, str] = field(default_factory=dict)
    hot_p50_us: list[float] = field(default_factory=list)
    hot_p99_us: list[float] = field(default_factory=list)
    paced_p50_us: list[float] = field(default_factory=list)
    paced_p99_us: list[float] = field(default_factory=list)
    error_mean_cm: float = 0.0
    error_max_cm: float = 0.0
    error_limited_max_cm: float | None = None

    def note_hot(self, p50_us: float, p99_us: float) -> None:
        """Add a round of frames back to back."""
        self.hot_p50_us.append(p50_us)
        self.hot_p99_us.append(p99_us)

    def note_paced(self, p50_us: float, p99_us: float) -> None:
        """Add a round of frames in real time."""
        self.paced_p50_us.append(p50_us)
        self.paced_p99_us.append(p99_us)


class Contestant(Protocol):
    """Who solves the task, here or in another process."""

    timing: Timing

    def hot(self, frames: int) -> tuple[float, float]:
        """p50 and p99 (us) of that many frames, back to back."""

    def paced(self, frames: int) -> tuple[float, float]:
        """The same with one frame per 1/120 s, as a server sees them."""

    def errors(self) -> None:
        """Fill in the errors at 30 Hz, one solve a frame."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument(
        "--clip", default="walk", help="a built-in clip or a BVH file (default walk)"
    )
    parser.add_argument(
        "--rounds", type=count, default=8, metavar="N", help="repetitions, taking turns (default 8)"
    )
    parser.add_argument(
        "--solver", choices=SOLVERS, action="append", help="only this solver; may be repeated"
    )
    parser.add_argument(
        "--peers",
        nargs="*",
        choices=tuple(PEERS),
        metavar="PEER",
        help=f"other solvers on the same task, installed on first use: {', '.join(PEERS)}"
        " (all without a name)",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    peers = arguments.peers
    if peers is not None and not peers:
        peers = tuple(PEERS)
    return run_solvers(
        SolverOptions(
            clip=arguments.clip,
            rounds=arguments.rounds,
            solvers=tuple(arguments.solver or SOLVERS),
            peers=tuple(peers or ()),
        )
    )


def run_solvers(options: SolverOptions) -> Report:
    """Let everyone take turns on the task."""
    task, slow = build_task(options.clip, RATE_HZ), build_task(options.clip, SLOW_HZ)
    total = options.rounds * (len(options.solvers) + len(options.peers))
    with ExitStack() as stack:
        ours = [_Ours(name, task, slow) for name in options.solvers]
        contestants: list[Contestant] = [*ours]
        processes: list[PeerProcess] = []
        if options.peers:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            write_task(folder, task, slow)
            processes += [stack.enter_context(PeerProcess(peer, folder)) for peer in options.peers]
            contestants += [_Peer(process) for process in processes]
        meter = stack.enter_context(metered(f"solvers, {task.name}", total))
        watch = NoiseWatch()
        peers_before_s = sum(each.cpu_s() for each in processes)
        for contestant in contestants:
            contestant.errors()
        for turn in range(options.rounds):
            for contestant in contestants:
                contestant.timing.note_hot(*contestant.hot(_HOT_FRAMES))
                if turn < _PACED_ROUNDS:
                    contestant.timing.note_paced(*contestant.paced(_PACED_FRAMES))
                meter.advance()
        watch.count(sum(each.cpu_s() for each in processes) - peers_before_s)
        late = np.array([late_ns for each in ours for late_ns in each.late_ns], np.int64)
        noise = watch.noise(late)
    return _report(options, task, [contestant.timing for contestant in contestants], noise)


class _Ours:
    """A solver of this project, called as the server calls it."""

    def __init__(self, name: str, task: SolverTask, slow: SolverTask) -> None:
        self.timing = Timing(name, limits=name != "copy")
        self.late_ns: list[int] = []
        self._tasks = (task, slow)
        self._solvers = [
            create_solver(name, each.skeleton, each.effectors, {}, limits=task.limits)
            for each in self._tasks
        ]
        self._targets = [each.targets() for each in self._tasks]

    def hot(self, frames: int) -> tuple[float, float]:
        return self._time(frames, paced=False)

    def paced(self, frames: int) -> tuple[float, float]:
        return self._time(frames, paced=True)

    def errors(self) -> None:
        task, solver, targets = self._tasks[1], self._solvers[1], self._targets[1]
        solver.reset()
        first = int(np.ceil(WARM_UP_S * task.rate_hz))
        free: list[FloatArray] = []
        limited: list[FloatArray] = []
        for i in range(task.frame_count):
            task.fill(i, targets)
            solution = solver.step(targets, 1.0 / task.rate_hz)
            if i >= first:
                bound = solution.status & Status.LIMITED
                (limited if bound else free).append(100.0 * solution.residuals)
        self.timing.error_mean_cm = float(np.mean(free)) if free else 0.0
        self.timing.error_max_cm = float(np.max(free)) if free else 0.0
        self.timing.error_limited_max_cm = float(np.max(limited)) if limited else None

    def _time(self, frames: int, *, paced: bool) -> tuple[float, float]:
        task, solver, targets = self._tasks[0], self._solvers[0], self._targets[0]
        dt = 1.0 / task.rate_hz
        frames = min(frames, task.frame_count)
        taken = np.zeros(frames, np.int64)
        solver.reset()
        with no_collections():
            start = now_ns()
            for i in range(frames):
                if paced:
                    due_ns = start + int(i * 1e9 * dt)
                    sleep_until(due_ns)
                    self.late_ns.append(now_ns() - due_ns)
                task.fill(i, targets)
                begin = now_ns()
                solver.step(targets, dt)
                taken[i] = now_ns() - begin
        p50, p99 = np.percentile(taken, (50.0, 99.0)) * 1e-3
        return float(p50), float(p99)


class _Peer:
    """Someone else's solver, in its process."""

    def __init__(self, process: PeerProcess) -> None:
        self.timing = Timing(process.peer, process.limits, process.versions)
        self._process = process

    def hot(self, frames: int) -> tuple[float, float]:
        figures = self._process.order("hot", frames=frames)
        return figures["p50_us"], figures["p99_us"]

    def paced(self, frames: int) -> tuple[float, float]:
        figures = self._process.order("paced", frames=frames)
        return figures["p50_us"], figures["p99_us"]

    def errors(self) -> None:
        figures = self._process.order("errors")
        self.timing.error_mean_cm = figures["mean_cm"]
        self.timing.error_max_cm = figures["max_cm"]


def _report(
    options: SolverOptions, task: SolverTask, timings: Sequence[Timing], noise: Noise
) -> Report:
    clik = next((timing for timing in timings if timing.name == "clik"), None)
    results: dict[str, Json] = {
        "clip": task.name,
        "rate_hz": RATE_HZ,
        "frames": task.frame_count,
        "degrees_of_freedom": task.degrees_of_freedom,
        "rows": 3 * len(task.effectors) + 3,
        "rounds": options.rounds,
        "solvers": {
            timing.name: {
                **asdict(timing),
                "hot_best_us": min(timing.hot_p50_us),
                "paced_best_us": min(timing.paced_p50_us),
                "times_clik": None if clik is None else _times(timing, clik),
                "times_clik_median": None if clik is None else _median_times(timing, clik),
            }
            for timing in timings
        },
    }
    notes = (
        "hot: frames back to back; paced: one frame per 1/120 s. p50 of each round, and of those"
        " the least, by the same rule for everyone; all take turns in one run. / clik: the ratio of"
        " those, in brackets that of the rounds' medians",
        "errors: 30 Hz, one solve a frame, the first 0.25 s left out",
        "limits: the performer's range and 5 degrees more; pinocchio, mujoco and filterpy stand"
        " for hand-written code without limits",
        noise.sentence(),
    )
    meta = {**describe_machine(), **noise.meta()}
    checks = [] if clik is None else _checks(task.name, timings, clik, noise)
    checks.append(
        judge_unless_noisy(
            f"forward kinematics of {len(task.skeleton)} joints, one call",
            forward_kinematics_us(task.skeleton),
            "us",
            "<=",
            MAX_FORWARD_US,
            noisy=noise.noisy,
        )
    )
    tables = (_table(task, timings, clik),)
    headlines = [] if clik is None else _headlines(options, task, timings, clik)
    return Report("solvers", meta, results, checks, tables, notes, headlines)


def _headlines(
    options: SolverOptions, task: SolverTask, timings: Sequence[Timing], clik: Timing
) -> list[Headline]:
    command = f"understudy bench solvers --clip {Path(options.clip).name}"
    what = f"one solve of `clik`, {task.degrees_of_freedom} degrees of freedom, joint limits on"
    headlines = [Headline(what, f"{min(clik.hot_p50_us):.1f} us", command)]
    others = [f"{t.name} {_times(t, clik):.0f}" for t in timings if t.name in LEAST_SPEEDUP]
    if others:
        headlines.append(
            Headline(
                "times as long as `clik` on the same task in the same run",
                ", ".join(others),
                f"{command} --peers",
            )
        )
    return headlines


def forward_kinematics_us(skeleton: Skeleton) -> float:
    """Time of one call of forward kinematics from Python, best of several batches."""
    kinematics, pose = ForwardKinematics(skeleton), skeleton.rest_pose()
    batches = []
    for _ in range(_FORWARD_BATCHES):
        began_ns = now_ns()
        for _ in range(_FORWARD_CALLS):
            kinematics.update(pose.root, pose.rotations_xyzw)
        batches.append((now_ns() - began_ns) / _FORWARD_CALLS / 1e3)
    return min(batches)


def _times(timing: Timing, clik: Timing) -> float:
    """How many times longer it takes than clik, hot.

    The p50 of each round, then the least of all rounds, of either side: everyone takes turns in
    one run, and noise only ever adds time, so the least is the fairest to both.
    """
    return min(timing.hot_p50_us) / min(clik.hot_p50_us)


def _median_times(timing: Timing, clik: Timing) -> float:
    """The same by the median of the rounds: reported, since it shows what noise did."""
    return statistics.median(timing.hot_p50_us) / statistics.median(clik.hot_p50_us)


def _checks(clip: str, timings: Sequence[Timing], clik: Timing, noise: Noise) -> list[Check]:
    checks = [
        judge_unless_noisy(
            f"clik hot p50, joint limits on, {clip}",
            min(clik.hot_p50_us),
            "us",
            "<=",
            MAX_HOT_US,
            noisy=noise.noisy,
        ),
        judge(
            f"clik largest error at 30 Hz where no limit binds, {clip}",
            clik.error_max_cm,
            "cm",
            "<=",
            MAX_ERROR_CM,
        ),
    ]
    for timing in timings:
        if timing.name in LEAST_SPEEDUP:
            checks.append(
                judge(
                    f"{timing.name} / clik, hot p50 in the same run",
                    _times(timing, clik),
                    "times",
                    ">=",
                    LEAST_SPEEDUP[timing.name],
                )
            )
    return checks


def _table(task: SolverTask, timings: Sequence[Timing], clik: Timing | None) -> Table:
    rows = []
    for timing in timings:
        limited = timing.error_limited_max_cm
        rows.append(
            [
                " ".join([timing.name, *list(timing.versions.values())[:1]]),
                "yes" if timing.limits else "no",
                f"{min(timing.hot_p50_us):.1f}",
                f"{min(timing.hot_p99_us):.1f}",
                f"{min(timing.paced_p50_us):.0f}",
                ""
                if clik is None
                else f"{_times(timing, clik):.1f} ({_median_times(timing, clik):.1f})",
                f"{timing.error_mean_cm:.2g}",
                f"{timing.error_max_cm:.2g}",
                "" if limited is None else f"{limited:.2g}",
            ]
        )
    return Table(
        f"one solve a frame, us: {task.name}, {task.degrees_of_freedom} degrees of freedom",
        (
            "solver", "limits", "hot p50", "hot p99", "paced p50", "/ clik", "error cm", "max",
            "max at limits",
        ),
        rows,
    )  # fmt: skip
