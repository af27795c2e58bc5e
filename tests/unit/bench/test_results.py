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


def test_of_many_checks_only_those_that_did_not_pass_are_listed(tmp_path: Path) -> None:
    run, out = tmp_path / "quality.json", tmp_path / "RESULTS.md"
    kept = [judge(f"kept {number}", 1.0, "cm", "<=", 2.0) for number in range(100)]
    long = Table("every take", ("take", "us"), [[str(number), "1"] for number in range(50)])
    short = Table("by solver", ("solver", "us"), [["clik", "20"]])
    checks = [*kept, judge("missed", 3.0, "cm", "<=", 2.0)]
    Report("quality", describe_machine(), {}, checks, [long, short]).write(run)
    assert main(["results", str(run), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    assert "100 of 101 passed" in text
    assert "| missed | 3 cm | <= 2 | **fail** |" in text
    assert "kept 7" not in text
    assert "every take" not in text
    assert "| clik | 20 |" in text
