"""When to choose which solver: what each is for, beside a few figures of many takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from understudy_bench.quality import Figures
from understudy_bench.report import Table

CHOOSE: Final = {
    "clik": "the default: goals are met, planted feet stay, the posture follows the performer",
    "ukf": "as `clik`, where some joints or goals should give way more than others",
    "egik": "posture counts more than exact hands and feet: one slider between the two",
    "copy": "the character has the performer's proportions, or touches nothing",
    "ik": "to compare with: each frame by itself, without memory",
    "ik-lowpass": "to compare with: the same, smoothed; it comes late and feet slide",
}


def choosing_table(figures: Sequence[Figures]) -> Table:
    """One line for every solver: means over its takes, pops of all takes together."""
    takes: dict[str, list[Figures]] = {}
    for each in figures:
        takes.setdefault(each.solver, []).append(each)
    most = max(len(own) for own in takes.values())
    return Table(
        f"When to choose which solver, by {most} takes of recorded or built-in motion: error of"
        " goals and slide of planted feet (means), jerk against copying, steps no performer made"
        " (pops, in all), time to align and solve",
        ("solver", "choose it when", "error cm", "slide cm/s", "jerk", "pops", "us"),
        [_row(solver, takes[solver]) for solver in CHOOSE if solver in takes],
    )


def _row(solver: str, takes: Sequence[Figures]) -> list[str]:
    slides = [each.slide_strict.mean for each in takes if each.slide_strict.judged]
    return [
        f"`{solver}`",
        CHOOSE[solver],
        f"{np.mean([each.error_mean_cm for each in takes]):.3f}",
        f"{np.mean(slides):.2f}" if slides else "-",
        f"{np.mean([each.jerk_ratio for each in takes]):.2f}",
        str(sum(each.pops for each in takes)),
        f"{np.median([each.solve_p50_us for each in takes]):.0f}",
    ]
