"""`bench quality` on the built-in walk: its file, its pictures, and that it tells bad from good."""

from __future__ import annotations

import json
from pathlib import Path

from understudy_bench.cli import main
from understudy_bench.commands.quality import QualityOptions, run_quality


def test_every_promise_is_checked_and_the_worst_instants_are_drawn(tmp_path: Path) -> None:
    file, pictures = tmp_path / "quality.json", tmp_path / "pictures"
    words = ["quality", "walk", "--to", "short-legs", "--solver", "copy", "clik"]
    code = main([*words, "--json", str(file), "--pictures", str(pictures)])
    content = json.loads(file.read_text(encoding="utf-8"))
    copy, clik = content["results"]["figures"]
    assert (copy["solver"], clik["solver"]) == ("copy", "clik")
    assert clik["error_max_cm"] < 0.1 < copy["error_max_cm"]
    assert clik["slide_strict"]["mean"] < copy["slide_strict"]["mean"]
    assert all("clik" in check["name"] for check in content["checks"])
    assert len(content["checks"]) == 9
    assert code == int(any(check["passed"] is False for check in content["checks"]))
    assert sorted(path.name for path in pictures.iterdir()) == sorted(
        f"walk-short-legs-{solver}-{what}.png"
        for solver in ("copy", "clik")
        for what in ("error", "slide", "step")
    )


def test_clips_and_characters_are_combined() -> None:
    report = run_quality(QualityOptions(clips=("walk", "wave"), characters=("child", "giant")))
    pairs = [(each["clip"], each["character"]) for each in report.results["figures"]]
    assert pairs == [
        ("walk", "child"), ("walk", "giant"), ("wave", "child"), ("wave", "giant"),
    ]  # fmt: skip


def test_takes_are_summed_up_by_solver() -> None:
    options = QualityOptions(
        clips=("walk",),
        characters=("child", "giant"),
        solvers=("copy", "ik"),
        collection="Built-in",
    )
    report = run_quality(options)
    _, goals, motion = report.tables
    assert [row[:2] for row in goals.rows] == [["copy", "2"], ["ik", "2"]]
    assert [row[0] for row in motion.rows] == ["copy", "ik"]
    assert motion.rows[0][1] == "1.00 / 1.00"  # copying jerks as much as copying
    assert not report.checks
    assert any("Built-in walk" in note for note in report.notes)
