from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from understudy_bench.cli import main
from understudy_bench.commands.compare import band, compare, figures
from understudy_bench.processes import BenchError


def run_of(p50_us: float, passed: bool = True, *, steal: float = 0.0) -> dict[str, Any]:
    return {
        "meta": {"bench": "budget", "commit": "abc", "steal": steal},
        "results": {"cells": [{"solver": "clik", "rate_hz": 60.0, "p50_us": p50_us, "lost": 0}]},
        "checks": [{"name": "deadlines", "passed": passed}],
    }


def test_figures_are_named_by_what_they_are_about() -> None:
    names = dict(figures(run_of(300.0)["results"]))
    assert names["cells[clik 60.0].p50_us"] == 300.0


def test_only_changes_beyond_the_noise_are_told() -> None:
    small = compare(run_of(300.0), run_of(330.0))
    assert small.results["changed"] == []
    large = compare(run_of(300.0), run_of(450.0))
    assert [change["name"] for change in large.results["changed"]] == ["cells[clik 60.0].p50_us"]
    on_a_noisy_machine = compare(run_of(300.0), run_of(450.0, steal=0.05))
    assert on_a_noisy_machine.results["changed"] == []


def test_noise_widens_the_band_of_times_alone() -> None:
    assert band("solve.p50_us", noisy=True) > band("solve.p50_us", noisy=False)
    assert band("error_max_cm", noisy=True) == band("error_max_cm", noisy=False)


def test_a_check_that_has_begun_to_fail_is_a_failure() -> None:
    assert compare(run_of(300.0), run_of(300.0, passed=False)).exit_code == 1
    assert compare(run_of(300.0, passed=False), run_of(300.0, passed=False)).exit_code == 0


def test_runs_of_two_benches_cannot_be_compared() -> None:
    other = run_of(300.0)
    other["meta"]["bench"] = "latency"
    with pytest.raises(BenchError, match="'budget' with one of 'latency'"):
        compare(run_of(300.0), other)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"meta": {}, "results": {}, "checks": []}'])
def test_a_file_that_is_no_run_is_refused_in_one_line(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(run_of(300.0)), encoding="utf-8")
    bad.write_text(text, encoding="utf-8")
    assert main(["compare", str(good), str(bad)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "bad.json: is not the --json file of a bench" in error
