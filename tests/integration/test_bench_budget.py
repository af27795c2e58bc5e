"""`bench budget` against a real server: one cell per solver and rate, and overruns are seen."""

from __future__ import annotations

from dataclasses import replace

from support.regressions import SLOW_SOLVE, VMC_DROPS
from understudy_bench.commands.budget import BudgetOptions, run_budget


def test_every_solver_and_rate_has_a_cell_with_its_own_frames() -> None:
    options = BudgetOptions(
        seconds=1.0,
        tries=1,
        clock_seconds=0.5,
        transports=("zmq",),
        rates_hz=(60.0, 120.0),
        solvers=("copy", "clik"),
    )
    results = run_budget(options).results
    cells = results["cells"]
    assert [(cell["solver"], cell["rate_hz"], cell["frames"]) for cell in cells] == [
        ("copy", 60.0, 60), ("copy", 120.0, 120), ("clik", 60.0, 60), ("clik", 120.0, 120),
    ]  # fmt: skip
    assert [each["rate_hz"] for each in results["clock"]] == [60.0, 120.0]
    assert all(each["poses"] > 0 for each in results["clock"])
    for cell in cells:
        assert cell["lost"] == 0
        assert cell["server"]["count"] == cell["frames"]
        assert cell["cpu_us"] > 0.0
        assert 0 <= cell["missed_best"] <= cell["missed"]


OVERRUN = BudgetOptions(
    seconds=1.0,
    tries=1,
    clock_seconds=0.0,
    transports=("zmq",),
    rates_hz=(600.0,),
    solvers=("clik",),
    server_command=SLOW_SOLVE,
)


def test_a_solve_longer_than_the_period_misses_its_deadlines() -> None:
    assert run_budget(OVERRUN).results["cells"][0]["missed_best"] > 0


def test_there_are_more_runs_while_none_is_clean() -> None:
    options = replace(OVERRUN, seconds=0.2, tries=3)
    assert run_budget(options).results["cells"][0]["frames"] == 3 * 120


def test_a_frame_that_goes_over_vmc_is_answered_over_vmc() -> None:
    options = BudgetOptions(
        seconds=1.0,
        tries=1,
        clock_seconds=0.0,
        transports=("vmc",),
        rates_hz=(60.0,),
        solvers=("ukf",),
    )
    report = run_budget(options)
    (cell,) = report.results["cells"]
    assert (cell["transport"], cell["solver"], cell["frames"]) == ("vmc", "ukf", 60)
    assert cell["lost"] == 0
    assert cell["server"]["count"] == cell["echo"]["count"] == 60
    assert all("over VMC" in check.name for check in report.checks)


def test_a_datagram_lost_of_a_hundred_poses_is_caught() -> None:
    options = BudgetOptions(
        seconds=2.0,
        tries=1,
        clock_seconds=0.0,
        transports=("vmc",),
        rates_hz=(120.0,),
        solvers=("copy",),
        server_command=VMC_DROPS,
    )
    report = run_budget(options)
    assert report.results["cells"][0]["lost"] >= 1
    assert report.exit_code == 1
