"""The figures of many takes, one line a solver: when to choose which."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from understudy_bench.quality.figures import Figures
from understudy_bench.report import Table

NOTES: Final = (
    "goals and feet: errors of the effectors, cm; slide of planted pivots by the strict and the"
    " wide truth, cm/s, over takes that are planted enough to tell; float while planted, over the"
    " floor or over the performer's scaled place on a step or rung, and depth below the floor, cm;"
    " each the mean over all takes / the worst take",
    "motion and time: jerk and power above 7.5 Hz of the joints against copying; distance from the"
    " copied posture and of the limbs' directions from the performer's, degrees; steps no performer"
    " made (pops), joints beyond a limit and numbers that are not finite, in all takes together;"
    " time to align and solve a frame: median over the takes of p50 and of p99",
)


def summary_tables(figures: Sequence[Figures]) -> tuple[Table, Table]:
    """Two tables with a line for every solver: how it meets goals, how it moves."""
    takes: dict[str, list[Figures]] = {}
    for each in figures:
        takes.setdefault(each.solver, []).append(each)
    goals = Table(
        "by solver: goals and feet",
        (
            "solver", "takes", "error", "largest error", "strict slide", "its p95", "wide slide",
            "its p95", "float", "below",
        ),
        [[name, str(len(own)), *_goals(own)] for name, own in takes.items()],
    )  # fmt: skip
    motion = Table(
        "by solver: motion and time",
        (
            "solver", "jerk", "above 7.5 Hz", "from copy deg", "limbs deg", "pops", "at tears",
            "beyond", "not finite", "us p50", "us p99",
        ),
        [[name, *_motion(own)] for name, own in takes.items()],
    )  # fmt: skip
    return goals, motion


def _goals(takes: Sequence[Figures]) -> list[str]:
    strict = [each.slide_strict for each in takes if each.slide_strict.judged]
    wide = [each.slide_wide for each in takes if each.slide_wide.judged]
    planted = [each for each in takes if each.slide_wide.judged]
    return [
        _pair([each.error_mean_cm for each in takes], 3),
        _pair([each.error_max_cm for each in takes], 2),
        _pair([each.mean for each in strict], 2),
        _pair([each.p95 for each in strict], 2),
        _pair([each.mean for each in wide], 2),
        _pair([each.p95 for each in wide], 2),
        _pair([each.float_cm for each in planted], 2),
        _pair([each.penetration_cm for each in takes], 2),
    ]


def _motion(takes: Sequence[Figures]) -> list[str]:
    def total(count: Callable[[Figures], int]) -> str:
        return str(sum(count(each) for each in takes))

    return [
        _pair([each.jerk_ratio for each in takes], 2),
        _pair([each.high_frequency_ratio for each in takes], 2),
        _pair([each.deviation_deg for each in takes], 1),
        _pair([each.limb_error_deg for each in takes], 1),
        total(lambda each: each.pops),
        total(lambda each: each.pops_at_tears),
        total(lambda each: each.violations),
        total(lambda each: each.not_finite),
        f"{np.median([each.solve_p50_us for each in takes]):.0f}",
        f"{np.median([each.solve_p99_us for each in takes]):.0f}",
    ]


def _pair(values: Sequence[float], digits: int) -> str:
    """Mean / worst."""
    if not values:
        return "-"
    return f"{np.mean(values):.{digits}f} / {np.max(values):.{digits}f}"
