from __future__ import annotations

import io
import json
import math
from pathlib import Path

from rich.console import Console

from understudy_bench.checks import judge
from understudy_bench.report import Report, Table


def report() -> Report:
    return Report(
        "latency",
        {"commit": "abc"},
        {"ratio": 1.5, "nothing": math.nan, "list": [1, math.inf]},
        [judge("ratio", 1.5, "", "<=", 2.0), judge("lost", 3, "frames", "==", 0)],
        [Table("times", ("what", "us"), [["server", "300"]])],
        ["a note"],
    )


def test_the_file_is_strict_json(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    report().write(file)
    content = json.loads(file.read_text(encoding="utf-8"), parse_constant=lambda name: 1 / 0)
    assert content["meta"] == {"bench": "latency", "commit": "abc"}
    assert content["results"] == {"ratio": 1.5, "nothing": None, "list": [1, None]}
    assert [check["passed"] for check in content["checks"]] == [True, False]


def test_tables_notes_and_verdicts_are_shown() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    report().show(console)
    text = console.export_text()
    for words in ("server", "300", "a note", "pass", "FAIL", "3 frames"):
        assert words in text
