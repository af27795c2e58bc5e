"""The Kalman sweep: its task, filterpy beside it, the live walk, and the promises about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from typing import Final

from understudy.characters import Clip
from understudy.solvers import Ukf
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.paper.section import Section
from understudy_bench.paper.ukf import Race, TaskResult, race_filterpy, run_task, walk_figures
from understudy_bench.promises import ukf_walk_promises
from understudy_bench.quality import Figures
from understudy_bench.report import Table
from understudy_bench.task import SolverTask

HOT_US: Final = 25.0
MAX_ERROR_CM: Final = 0.06
LEAST_SPEEDUP: Final = 200.0
SAME_RAD: Final = 1e-9


def ukf_section(task: SolverTask, walk: Clip | None, *, noisy: bool) -> Section:
    """Two passes on the task, one update against filterpy's, and the recorded `walk`, if any."""
    timed = run_task(task, Ukf(task.skeleton, task.effectors))
    race = race_filterpy(task) if find_spec("filterpy") is not None else None
    walks = [] if walk is None else walk_figures(walk)
    notes = [
        f"Kalman sweep: {task.degrees_of_freedom} degrees of freedom, two passes a frame, frames"
        " back to back; one update of Algorithm 1 as published, ours and filterpy's on the same"
        " frames in turn"
    ]
    if race is None:
        notes.append("filterpy is not installed: no update of it to compare with")
    if walk is None:
        notes.append("no recorded walk was given (--walk): slide and jerk are not shown")
    tables = [_task_table(timed, race)]
    if walks:
        tables.append(_walk_table(walks))
    return Section(
        "ukf",
        {
            "task": asdict(timed),
            "filterpy": None if race is None else {**asdict(race), "ratio": race.ratio},
            "walks": [asdict(each) for each in walks],
        },
        tables,
        _checks(timed, race, walks, noisy=noisy),
        notes,
    )


def _checks(
    timed: TaskResult, race: Race | None, walks: Sequence[Figures], *, noisy: bool
) -> list[Check]:
    what = "78 degrees of freedom"
    checks = [
        judge_unless_noisy(
            f"ukf hot p50, two passes, {what}", timed.p50_us, "us", "<=", HOT_US, noisy=noisy
        ),
        judge(f"ukf error, two passes, {what}, max", timed.max_error_cm, "cm", "<=", MAX_ERROR_CM),
    ]
    if race is not None:
        checks += [
            judge("filterpy / ukf, one published update", race.ratio, "times", ">=", LEAST_SPEEDUP),
            judge("filterpy and ukf, difference", race.difference_rad, "rad", "<=", SAME_RAD),
        ]
    for each in walks:
        checks += ukf_walk_promises(each, f"{each.clip} to {each.character}, ukf")
    return checks


def _task_table(timed: TaskResult, race: Race | None) -> Table:
    rows = [
        [
            "two passes",
            f"{timed.p50_us:.1f}",
            f"{timed.mean_error_cm:.4f}",
            f"{timed.max_error_cm:.4f}",
        ]
    ]
    if race is not None:
        rows += [
            ["Algorithm 1, one update", f"{race.ours_us:.1f}", "", ""],
            ["the same by filterpy", f"{race.theirs_us:.0f}", "", ""],
            ["filterpy / ours", f"{race.ratio:.0f}", "", ""],
        ]
    return Table("Kalman sweep", ("", "us", "error cm mean", "max"), rows)


def _walk_table(walks: Sequence[Figures]) -> Table:
    rows = [
        [
            f"{each.clip} to {each.character}",
            f"{each.rate_hz:g}",
            f"{each.slide_strict.mean:.3f}",
            f"{each.slide_strict.p95:.3f}",
            f"{each.slide_strict.source_mean:.2f}",
            f"{each.jerk_ratio:.3f}",
        ]
        for each in walks
    ]
    columns = ("walk, ukf", "Hz", "slide cm/s mean", "p95", "performer's mean", "jerk ratio")
    return Table("recorded walk, live", columns, rows)
