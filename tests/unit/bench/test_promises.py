"""Which figures of a take are judged, and against what."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from understudy_bench.promises import clip_promises, ukf_walk_promises
from understudy_bench.quality import Figures
from understudy_bench.quality.figures import Slide

GOOD: Final = Figures(
    clip="07_01", character="giant", solver="clik", rate_hz=120.0, frames=300, error_mean_cm=0.01,
    error_max_cm=0.04, error_limited_max_cm=0.0, slide_strict=Slide(0.1, 0.4, 4.0, 9.0, 0.5),
    slide_wide=Slide(0.3, 1.0, 5.0, 12.0, 0.6), penetration_cm=0.2, float_cm=0.1, jerk_ratio=1.02,
    high_frequency_ratio=1.0, deviation_deg=4.0, limb_error_deg=6.0, pops=0, pops_at_tears=0,
    tears=0, violations=0, not_finite=0, solve_p50_us=20.0, solve_p99_us=30.0,
)  # fmt: skip


def failed(figures: Figures) -> list[str]:
    return [check.name for check in clip_promises(figures, "x") if check.passed is False]


def test_a_good_take_keeps_every_promise() -> None:
    assert len(clip_promises(GOOD, "x")) == 9
    assert failed(GOOD) == []


@pytest.mark.parametrize(
    ("bad", "name"),
    [
        (replace(GOOD, pops=1), "pops away from tears, x"),
        (replace(GOOD, violations=1), "joints beyond a limit, x"),
        (replace(GOOD, not_finite=1), "not finite, x"),
        (replace(GOOD, penetration_cm=1.1), "penetration, largest, x"),
        (replace(GOOD, float_cm=0.6), "float, mean, x"),
        (
            replace(GOOD, slide_wide=Slide(0.3, 5.1, 5.0, 9.0, 0.6)),
            "slide by the wide truth, p95, x",
        ),
    ],
)
def test_each_promise_can_be_broken_alone(bad: Figures, name: str) -> None:
    assert failed(bad) == [name]


def test_slides_of_a_clip_that_is_hardly_planted_are_not_judged() -> None:
    flying = Slide(9.0, 20.0, 9.0, 20.0, 0.05)
    assert failed(replace(GOOD, slide_strict=flying, slide_wide=flying, float_cm=30.0)) == []


@pytest.mark.parametrize("solver", ["copy", "egik", "ukf", "ik", "ik-lowpass"])
def test_nothing_is_promised_of_other_solvers_on_any_clip(solver: str) -> None:
    assert clip_promises(replace(GOOD, solver=solver, pops=100), "x") == []


def test_the_sweeps_walk_is_judged_by_slide_and_jerk() -> None:
    walk = replace(GOOD, solver="ukf")
    assert all(check.passed for check in ukf_walk_promises(walk, "x"))
    jerky = ukf_walk_promises(replace(walk, jerk_ratio=1.2), "x")
    assert [check.name for check in jerky if check.passed is False] == ["jerk ratio, x"]
