"""The documents with measured figures: made from runs, and never by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from understudy_bench.cli import main
from understudy_bench.documents import (
    BEGIN,
    END,
    digest,
    measured_section,
    results_document,
    with_section,
)
from understudy_bench.processes import BenchError
from understudy_bench.report import Headline, Report, Table

REPO: Final = Path(__file__).resolve().parents[3]
META: Final = {
    "time": "2026-01-01T00:00:00+00:00",
    "commit": "abc",
    "versions": {"python": "3.11"},
    "cpu": "Some CPU",
    "cores": 2,
    "steal": 0.0,
}


def kept() -> list[dict[str, Any]]:
    """The digests in the repository, in their order."""
    files = sorted((REPO / "bench" / "results").glob("*.json"))
    assert files
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def test_the_readme_shows_what_the_kept_runs_say() -> None:
    text = (REPO / "README.md").read_text(encoding="utf-8")
    assert with_section(text, measured_section(kept())) == text


def test_the_results_are_what_the_kept_runs_say() -> None:
    assert (REPO / "bench" / "RESULTS.md").read_text(encoding="utf-8") == results_document(kept())


def test_kept_runs_are_small() -> None:
    for run in kept():
        assert len(json.dumps(run)) < 100_000


def test_a_digest_of_a_digest_is_the_same() -> None:
    for run in kept():
        assert digest(run) == run


def test_headlines_and_brief_tables_go_between_the_markers(tmp_path: Path) -> None:
    run, readme, out = tmp_path / "run.json", tmp_path / "README.md", tmp_path / "RESULTS.md"
    Report(
        "quality",
        {**META, "noisy": True},
        {},
        (),
        headlines=[Headline("slide of feet", "0.1 cm/s", "understudy bench quality")],
        briefs=[Table("which solver", ("solver", "when", "us"), [["`clik`", "always", "9"]])],
    ).write(run)
    readme.write_text(f"above\n{BEGIN}\nold figures\n{END}\nbelow\n", encoding="utf-8")
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / "02-latency.json").write_text("{}", encoding="utf-8")  # of an earlier time
    words = ["results", str(run), "-o", str(out), "--readme", str(readme), "--keep", str(folder)]
    assert main(words) == 0
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"above\n{BEGIN}\n")
    assert text.endswith(f"\n{END}\nbelow\n")
    assert "old figures" not in text
    for line in (
        "| slide of feet | 0.1 cm/s | `understudy bench quality` |",
        "| solver | when | us |\n|---|---|---:|\n| `clik` | always | 9 |",
        "Some CPU, 2 cores (noisy, by the bench's own probe, in: quality)",
    ):
        assert line in text
    (file,) = folder.iterdir()
    assert file.name == "01-quality.json"
    assert json.loads(file.read_text(encoding="utf-8"))["meta"]["commit"] == "abc"


@pytest.mark.parametrize("text", ["no markers", f"{BEGIN} begun", f"{BEGIN}{END}{BEGIN}{END}"])
def test_a_document_without_one_place_for_figures_is_refused(text: str) -> None:
    with pytest.raises(BenchError, match="<!-- measured -->"):
        with_section(text, "figures")
