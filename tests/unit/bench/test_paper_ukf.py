"""The Kalman sweep on its tasks: errors and agreement; times are for the bench to tell."""

from __future__ import annotations

import pytest

from support.shared import shared_path
from understudy.characters import load_clip
from understudy.solvers import Ukf
from understudy_bench.paper.ukf import WALKERS, race_filterpy, run_task, walk_figures
from understudy_bench.task import SolverTask, build_task


@pytest.fixture(scope="module", name="task")
def task_fixture() -> SolverTask:
    return build_task("walk", 120.0)


def test_two_passes_reach_the_goals_of_78_degrees_of_freedom(task: SolverTask) -> None:
    assert task.degrees_of_freedom == 78
    solver = Ukf(task.skeleton, task.effectors)
    assert solver.parameters()["passes"] == 2
    result = run_task(task, solver, repetitions=1)
    assert result.max_error_cm <= 0.06


def test_the_published_form_answers_as_filterpy_does(task: SolverTask) -> None:
    assert race_filterpy(task, frames=3).difference_rad < 1e-9


def test_feet_stand_and_nothing_jerks_in_the_live_walk() -> None:
    """A recorded walk at 120 Hz, to a body with shorter limbs and to one with longer."""
    figures = walk_figures(load_clip(str(shared_path("cmu/07_01.bvh"))))
    assert [f.character for f in figures] == list(WALKERS)
    for f in figures:
        assert f.rate_hz == 120.0
        assert f.slide_strict.judged
        assert f.slide_strict.mean <= 0.5
        assert f.slide_strict.p95 <= 2.0
        assert f.jerk_ratio <= 1.1
