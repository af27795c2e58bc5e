"""`bench capacity` against a real server, on a small scale."""

from __future__ import annotations

from understudy_bench.commands.capacity import CapacityOptions, run_capacity


def test_server_and_echo_are_searched_in_one_run() -> None:
    results = run_capacity(CapacityOptions(most=3, seconds=0.5)).results
    trials = results["trials"]
    assert {trial["what"] for trial in trials} == {"server", "echo"}
    for trial in trials:
        assert 1 <= trial["characters"] <= 3
        assert 0.0 <= trial["late"] <= 1.0
        assert trial["p50_us"] > 0.0
    assert 0 <= results["characters"]["server"] <= 3
    assert results["cpu_us_per_frame"]["server"] > results["cpu_us_per_frame"]["echo"] > 0.0
