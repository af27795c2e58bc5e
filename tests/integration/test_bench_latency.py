"""`bench latency` against real servers: sound ones and ones with a planted fault."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from support.regressions import DROPS, SLOW_SOLVE
from understudy_bench.checks import Check
from understudy_bench.cli import main
from understudy_bench.commands.latency import LatencyOptions, run_latency
from understudy_bench.processes import BenchError

STAGES = (
    "receive", "decode", "ingest", "wait", "align", "solve", "condition", "encode", "send",
    "deliver", "work",
)  # fmt: skip


def find(checks: list[Check] | tuple[Check, ...], words: str) -> Check:
    return next(check for check in checks if words in check.name)


def test_the_file_has_every_figure_and_no_frame_is_lost(tmp_path: Path) -> None:
    file = tmp_path / "latency.json"
    code = main(["latency", "--seconds", "2", "--json", str(file)])
    content = json.loads(file.read_text(encoding="utf-8"))
    results, checks = content["results"], content["checks"]
    assert results["frames"] == 240
    assert results["lost"] == 0
    assert results["ratio"] == pytest.approx(results["rt_p50_us"] / results["echo_p50_us"])
    assert 0.0 < results["echo_p50_us"] <= results["echo_p99_us"] <= results["echo_max_us"]
    assert 0.0 < results["rt_p50_us"] <= results["rt_p99_us"] <= results["rt_max_us"]
    assert results["from_send"]["rt_p50_us"] <= results["rt_p50_us"]
    assert tuple(results["stages_us"]) == STAGES
    assert HdrHistogram.decode(results["histograms"]["server"]).get_total_count() == 240
    assert {"commit", "versions", "cpu", "steal", "noise"} <= content["meta"].keys()
    assert all(
        set(check) == {"name", "value", "unit", "sense", "limit", "passed"} for check in checks
    )
    assert code == int(any(check["passed"] is False for check in checks))


def test_a_sleep_of_two_milliseconds_in_the_solve_is_caught() -> None:
    report = run_latency(LatencyOptions(seconds=1.0, server_command=SLOW_SOLVE))
    assert report.results["stages_us"]["solve"]["p50"] >= 2000.0
    assert find(list(report.checks), "bare echo").passed is False
    assert report.exit_code == 1


def test_one_frame_lost_in_a_thousand_is_caught() -> None:
    report = run_latency(LatencyOptions(seconds=2.5, rate_hz=480.0, server_command=DROPS))
    assert report.results["lost"] >= 1
    assert find(list(report.checks), "lost").passed is False
    assert report.exit_code == 1


def test_a_solver_that_does_not_exist_is_refused_in_one_line() -> None:
    with pytest.raises(BenchError, match=r"the server did not start: .*solver"):
        run_latency(LatencyOptions(seconds=1.0, solver="clikk"))
