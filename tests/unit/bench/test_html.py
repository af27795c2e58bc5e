from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy_bench.checks import judge
from understudy_bench.html import write_page
from understudy_bench.latencies import Latencies
from understudy_bench.machine import describe_machine
from understudy_bench.plots import plots
from understudy_bench.report import Report, Table


def latency_results() -> dict[str, object]:
    values = np.random.default_rng(1).lognormal(12.5, 0.4, 5000).astype(np.int64)
    stage = {"p50": 20.0, "p99": 80.0, "max": 300.0}
    return {
        "histograms": {"server": Latencies.of(values).histogram},
        "stages_us": {"decode": stage, "solve": stage, "work": stage},
    }


def test_a_page_holds_plots_tables_and_checks_and_nothing_from_elsewhere(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    report = Report(
        "latency",
        describe_machine(),
        latency_results(),
        [judge("a <ratio>", 1.5, "", "<=", 2.0), judge("lost", 3, "frames", "==", 0)],
        [Table("round trip", ("", "p50"), [["server", "300"]])],
        ["said & done"],
    )
    write_page(report, file)
    page = file.read_text(encoding="utf-8")
    assert page.count("data:image/png;base64,") == len(plots("latency", latency_results())) == 2
    for words in ("round trip", "300", "a &lt;ratio&gt;", "said &amp; done", "FAIL"):
        assert words in page
    assert "1 of 2 checks passed, 1 failed" in page
    assert "http" not in page


def test_long_lists_are_folded_away_but_for_what_did_not_pass(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    kept = [judge(f"kept {number}", 1.0, "cm", "<=", 2.0) for number in range(50)]
    missed = judge("missed", 3.0, "cm", "<=", 2.0)
    long = Table("every take", ("take", "us"), [[str(number), "1"] for number in range(50)])
    write_page(Report("compare", describe_machine(), {}, [*kept, missed], [long]), file)
    page = file.read_text(encoding="utf-8")
    open_part = page.partition("<details>")[0]
    assert "missed" in open_part
    assert "kept 7" not in open_part
    assert "kept 7" in page
    assert "every take, 50 rows" in page


def test_percentiles_of_a_histogram_match_the_values() -> None:
    values = np.arange(1, 10_001, dtype=np.int64) * 1000
    latencies = Latencies.of(values)
    assert latencies.count == 10_000
    assert abs(latencies.p50_us - 5000.0) < 5.0
    assert abs(latencies.p99_us - 9900.0) < 5.0
    assert latencies.max_us == 10_000.0
