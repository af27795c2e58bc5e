from __future__ import annotations

from pathlib import Path

from understudy_bench.checks import judge, judge_unless_noisy
from understudy_bench.cli import main
from understudy_bench.machine import describe_machine
from understudy_bench.report import Report, Table


def test_a_document_holds_every_figure_of_the_runs_it_is_made_from(tmp_path: Path) -> None:
    run, out = tmp_path / "latency.json", tmp_path / "RESULTS.md"
    Report(
        "latency",
        {**describe_machine(), "steal": 0.02},
        {},
        [
            judge("ratio", 2.5, "", "<=", 2.0),
            judge_unless_noisy("p50", 400.0, "us", "<=", 300.0, noisy=True),
        ],
        [Table("round trip", ("", "p50"), [["server", "321"], ["echo", "123"]])],
        ["half a period apart"],
    ).write(run)
    assert main(["results", str(run), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    for line in (
        "## bench latency",
        "| server | 321 |",
        "| echo | 123 |",
        "- half a period apart",
        "| ratio | 2.5 | <= 2 | **fail** |",
        "| p50 | 400 us | <= 300 | too noisy to say |",
        "2.0 % stolen",
    ):
        assert line in text
