"""What `bench paper` says about the sweep and about example-guided inverse kinematics."""

from __future__ import annotations

import pytest

from understudy_bench.paper.egik import ALPHAS, PUBLISHED
from understudy_bench.paper.egik_section import egik_section
from understudy_bench.paper.ukf_section import ukf_section
from understudy_bench.task import SolverTask, build_task


@pytest.fixture(scope="module", name="task")
def task_fixture() -> SolverTask:
    return build_task("walk", 120.0)


def test_the_published_errors_stand_beside_ours(task: SolverTask) -> None:
    section = egik_section(task, noisy=True)
    (table,) = section.tables
    assert [float(row[0]) for row in table.rows] == list(ALPHAS)
    for body, column in zip(PUBLISHED, (1, 4), strict=True):
        assert table.columns[column] == f"{body} published"
        assert [float(row[column]) for row in table.rows] == list(PUBLISHED[body])
    errors = [check for check in section.checks if check.unit != "us"]
    assert all(check.passed for check in errors)
    assert [check.limit for check in section.checks if "alpha 0.9" in check.name] == [
        published[cell] for published in PUBLISHED.values() for cell in (2, 3)
    ]


def test_the_sweep_is_shown_without_a_recorded_walk(task: SolverTask) -> None:
    section = ukf_section(task, None, noisy=True)
    assert section.tables[0].rows[0][0] == "two passes"
    assert section.results["walks"] == []
    assert any("--walk" in note for note in section.notes)
    names = [check.name for check in section.checks]
    assert "filterpy / ukf, one published update" in names
    exact = [check for check in section.checks if check.unit in ("cm", "rad")]
    assert len(exact) == 2
    assert all(check.passed for check in exact)
