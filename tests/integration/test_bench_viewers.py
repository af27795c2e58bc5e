"""`bench viewers` against a real server, its monitor, and viewers of the page."""

from __future__ import annotations

import pytest

pytest.importorskip("viser", reason="viser is not installed", exc_type=ImportError)

from understudy_bench.commands.viewers import ViewersOptions, run_viewers


def test_the_stream_goes_on_while_somebody_looks() -> None:
    report = run_viewers(ViewersOptions(seconds=1.0, viewers=2, block_s=0.5))
    results = report.results
    assert results["frames"] == 120
    assert results["lost"] == [0, 0]
    assert results["dropped"] == 0
    assert results["ratio"] == pytest.approx(results["watched_p50_us"] / results["alone_p50_us"])
    assert {check.name: check.limit for check in report.checks} == {
        "2 viewers / none, p50": 1.05,
        "frames lost, 2 viewers": 0,
        "frames dropped by the server": 0,
    }
