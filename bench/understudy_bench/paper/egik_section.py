"""Example-guided inverse kinematics beside its published table, and the promises about it."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from understudy.solvers import Egik
from understudy_bench.checks import Check, judge, judge_unless_noisy
from understudy_bench.paper.egik import (
    ALPHAS,
    PROPORTIONS,
    PUBLISHED,
    ErrorTable,
    abnormal_body,
    error_table,
    performers_throw,
    published_unit,
    throw_errors,
)
from understudy_bench.paper.section import Section
from understudy_bench.paper.ukf import TaskResult, run_task
from understudy_bench.report import Table
from understudy_bench.task import SolverTask

# How well the bodies are those of the paper: copying alone, against the published error.
ALIKE: Final = 0.03
# How well errors go with beta / alpha near 1; second order in the angles is what is left.
PROPORTIONAL: Final = 0.08
JERK: Final = 1.02
HOT_US: Final = 30.0

_HALF, _NINE, _NINETY_NINE = 1, 2, 3  # places in ALPHAS


def egik_section(task: SolverTask, *, noisy: bool) -> Section:
    """The throw of two abnormal bodies, and the time of a frame on the task."""
    fitted = error_table(published_unit())
    default = error_table(0.0)
    jerks = _jerk_ratios(fitted.c)
    timed = run_task(task, Egik(task.skeleton, task.effectors))
    return Section(
        "egik",
        {
            "alphas": ALPHAS,
            "published": PUBLISHED,
            "c": fitted.c,
            "errors": fitted.errors,
            "default_errors": default.errors,
            "jerk_ratios": jerks,
            "hot_p50_us": timed.p50_us,
        },
        (_table(fitted, default),),
        _checks(fitted, default, jerks, timed, noisy=noisy),
        (
            "throw: mean distance of the hand from its goal by the length of all links; alpha 0"
            " copies, 1 meets the goal only. One length unit c ="
            f" {fitted.c:.3g} rad/m puts {next(iter(PUBLISHED))} at alpha 0.5 where it was"
            " published; every other cell is what comes of it. Default: five radians for the length"
            " of all links",
            "throw, jerk of the joints against the performer's, the largest over all alphas (only"
            f" {next(iter(PUBLISHED))}'s is promised): "
            + ", ".join(f"{body} {ratio:.2f}" for body, ratio in jerks.items()),
        ),
    )


def _jerk_ratios(c: float) -> dict[str, float]:
    """Of each body the largest over all alphas."""
    throw = performers_throw()
    return {
        name: max(
            throw_errors(throw, abnormal_body(throw.figure, name), alpha, c).jerk_ratio
            for alpha in ALPHAS
        )
        for name in PROPORTIONS
    }


def _checks(
    fitted: ErrorTable,
    default: ErrorTable,
    jerks: dict[str, float],
    timed: TaskResult,
    *,
    noisy: bool,
) -> list[Check]:
    first = next(iter(PUBLISHED))
    checks = [
        judge(
            f"throw of {first}, alpha 0.5, against the published error",
            abs(fitted.errors[first][_HALF] / PUBLISHED[first][_HALF] - 1.0),
            "of it",
            "<=",
            1e-3,
        ),
        judge(f"throw of {first}, largest jerk ratio", jerks[first], "times", "<=", JERK),
    ]
    for body, published in PUBLISHED.items():
        errors = fitted.errors[body]
        away = abs(errors[0] / published[0] - 1.0)
        checks.append(
            judge(
                f"throw of {body}, copied, against the published error", away, "of it", "<=", ALIKE
            )
        )
        checks += [
            judge(
                f"throw of {body}, error at alpha {ALPHAS[cell]:g}",
                errors[cell],
                "of all links",
                "<=",
                published[cell],
            )
            for cell in (_NINE, _NINETY_NINE)
        ]
    for name, table in (("published c", fitted), ("default c", default)):
        for body, errors in table.errors.items():
            rising = sum(b >= a for a, b in pairwise(errors))
            expected = (0.1 / 0.9) / (0.01 / 0.99)
            checks += [
                judge(f"throw of {body}, {name}, errors that do not fall", rising, "", "==", 0),
                judge(
                    f"throw of {body}, {name}, error against beta / alpha, .9 to .99",
                    abs(errors[_NINE] / errors[_NINETY_NINE] / expected - 1.0),
                    "off",
                    "<=",
                    PROPORTIONAL,
                ),
            ]
    checks.append(
        judge_unless_noisy(
            "egik hot p50, 78 degrees of freedom", timed.p50_us, "us", "<=", HOT_US, noisy=noisy
        )
    )
    return checks


def _table(fitted: ErrorTable, default: ErrorTable) -> Table:
    columns = ["alpha"]
    for body in PUBLISHED:
        columns += [f"{body} published", "ours", "default c"]
    rows = []
    for place, alpha in enumerate(ALPHAS):
        row = [f"{alpha:g}"]
        for body, published in PUBLISHED.items():
            cells = (published[place], fitted.errors[body][place], default.errors[body][place])
            row += [f"{cell:.2g}" for cell in cells]
        rows.append(row)
    return Table("throw, error by the length of all links", columns, rows)
