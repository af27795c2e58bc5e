"""What is promised of each solver's motion: the one place that says which figures are judged.

- `clik`: every clip on every character, by `clik_promises`;
- `ukf`: slide and jerk on a recorded walk, by `ukf_walk_promises`;
- `copy`, `egik` and the simple approaches beside them: nothing. Copying slides by its nature, and
  example-guided inverse kinematics trades slide for posture by its slider; they are reported.
"""

from __future__ import annotations

from typing import Final

from understudy_bench.checks import Check, Sense, judge
from understudy_bench.quality import Figures

# Slides in cm/s, heights in cm.
STRICT_MEAN, STRICT_P95 = 0.5, 2.0
WIDE_MEAN, WIDE_P95, WIDE_P95_ACROBATIC = 1.5, 5.0, 14.0
ACROBATIC: Final = ("49_06", "85_14")
FLOAT_CM, PENETRATION_CM = 0.5, 1.0
WALK_JERK: Final = 1.1


def clip_promises(figures: Figures, what: str) -> list[Check]:
    """The promises about one take of any clip; `what` names it."""
    return clik_promises(figures, what) if figures.solver == "clik" else []


def clik_promises(figures: Figures, what: str) -> list[Check]:
    """One check for each promise; slides only where enough of the clip is planted."""

    def of(name: str, value: float, unit: str, limit: float, sense: Sense = "<=") -> Check:
        return judge(f"{name}, {what}", value, unit, sense, limit)

    checks = [
        of("not finite", figures.not_finite, "numbers", 0, "=="),
        of("joints beyond a limit", figures.violations, "joint-frames", 0, "=="),
        of("pops away from tears", figures.pops, "joint-frames", 0, "=="),
        of("penetration, largest", figures.penetration_cm, "cm", PENETRATION_CM),
    ]
    if figures.slide_strict.judged:
        checks += _strict_slide(figures, what)
    if figures.slide_wide.judged:
        acrobatic = figures.clip in ACROBATIC
        checks += [
            of("slide by the wide truth, mean", figures.slide_wide.mean, "cm/s", WIDE_MEAN),
            of(
                "slide by the wide truth, p95",
                figures.slide_wide.p95,
                "cm/s",
                WIDE_P95_ACROBATIC if acrobatic else WIDE_P95,
            ),
            of("float, mean", figures.float_cm, "cm", FLOAT_CM),
        ]
    return checks


def ukf_walk_promises(figures: Figures, what: str) -> list[Check]:
    """The promises about the sweep's take of a recorded walk; `what` names it."""
    return [
        *_strict_slide(figures, what),
        judge(f"jerk ratio, {what}", figures.jerk_ratio, "times", "<=", WALK_JERK),
    ]


def _strict_slide(figures: Figures, what: str) -> list[Check]:
    slide = figures.slide_strict
    return [
        judge(f"slide by the strict truth, mean, {what}", slide.mean, "cm/s", "<=", STRICT_MEAN),
        judge(f"slide by the strict truth, p95, {what}", slide.p95, "cm/s", "<=", STRICT_P95),
    ]
