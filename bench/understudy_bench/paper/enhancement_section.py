"""Enhancement of captured motion in a report: the built-in walk, and real takes where given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from understudy.characters import read_bvh
from understudy.characters.c3d import read_c3d
from understudy_bench.checks import Check, judge
from understudy_bench.paper.enhancement import (
    NOISE_DEG,
    Change,
    EnhancementResult,
    run_enhancement,
    run_synthetic_enhancement,
)
from understudy_bench.paper.section import Section
from understudy_bench.processes import BenchError
from understudy_bench.report import Table

LAYOUT: Final = (
    "a folder of takes captured twice: NAME.c3d with optical markers beside NAME.bvh (or"
    " NAME.full.bvh) with the joint angles of the same take at the same rate"
)
_IMPROVE: Final = ("wrists", "toes", "elbows")  # knees are reported


def enhancement_section(folder: Path | None) -> Section:
    """The built-in walk with noise, and every take of `folder`, if one is given."""
    synthetic = run_synthetic_enhancement()
    takes: dict[str, list[EnhancementResult]] = {}
    for name, angles, markers in [] if folder is None else find_pairs(folder):
        takes[name] = run_enhancement(read_bvh(angles).clip, read_c3d(markers))
    return section_of(synthetic, takes)


def section_of(
    synthetic: EnhancementResult, takes: Mapping[str, Sequence[EnhancementResult]]
) -> Section:
    """What the built-in walk's and the takes' figures say."""
    notes = [
        "enhancement: measured angles corrected by a few measured points; deviation of markers from"
        " a constant offset to their bone, rms over a take's second half, before -> after; noise of"
        f" {NOISE_DEG:g} degrees about each axis, new in every frame (white) or slow; knees are"
        " reported only"
    ]
    if not takes:
        notes.append(
            f"enhancement of real takes was left out; --paired FOLDER shows it: {LAYOUT}",
        )
    rows = [_row("built-in walk", synthetic)]
    checks = [
        _falls("built-in walk, slow noise, joint angles", synthetic.angle_deg),
        _falls("built-in walk, slow noise, points not fed", synthetic.not_fed_cm),
    ]
    for name, results in takes.items():
        rows += [_row(name, result) for result in results]
        checks += _take_checks(name, results)
    table = Table(
        "enhancement, before -> after",
        (
            "take, noise",
            "wrists cm",
            "toes cm",
            "elbows cm",
            "knees cm",
            "not fed cm",
            "angles deg",
        ),
        rows,
    )
    return Section(
        "enhancement",
        {
            "synthetic": asdict(synthetic),
            "takes": {name: [asdict(each) for each in results] for name, results in takes.items()},
        },
        [table],
        checks,
        notes,
    )


def find_pairs(folder: Path) -> list[tuple[str, Path, Path]]:
    """Name, angles and markers of every take in a folder; BenchError if there is none."""
    pairs = []
    for markers in sorted(folder.glob("*.c3d")):
        for angles in (markers.with_suffix(".full.bvh"), markers.with_suffix(".bvh")):
            if angles.is_file():
                pairs.append((markers.stem, angles, markers))
                break
    if not pairs:
        raise BenchError(f"--paired {str(folder)!r}: no take is there; allowed: {LAYOUT}")
    return pairs


def _take_checks(name: str, results: Sequence[EnhancementResult]) -> list[Check]:
    clean, *noisy = results
    checks = [
        _falls(f"{name}, {group}", clean.groups_cm[group])
        for group in _IMPROVE
        if group in clean.groups_cm
    ]
    for result in noisy:
        what = f"{name}, {result.noise} noise"
        checks += [
            _falls(f"{what}, joint angles", result.angle_deg),
            _falls(f"{what}, markers not fed", result.not_fed_cm),
        ]
    return checks


def _falls(what: str, change: Change | None) -> Check:
    assert change is not None  # there is a truth wherever noise was added
    return judge(
        f"enhancement, {what}, after / before", change.after / change.before, "", "<=", 1.0
    )


def _row(name: str, result: EnhancementResult) -> list[str]:
    groups = list(result.groups_cm.values())
    return [
        f"{name}, {result.noise}",
        *(_arrow(group) for group in groups),
        _arrow(result.not_fed_cm),
        "" if result.angle_deg is None else _arrow(result.angle_deg),
    ]


def _arrow(change: Change) -> str:
    return f"{change.before:.2f} -> {change.after:.2f}"
