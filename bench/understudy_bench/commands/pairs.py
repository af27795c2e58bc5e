"""`bench pairs`: does any performer fit any character, without help and without a bent limb."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Final

from understudy.align import AlignmentError
from understudy.characters import BUILTIN_CHARACTERS, BUILTIN_CLIPS, load_body, load_clip
from understudy_bench.checks import Check, judge
from understudy_bench.machine import describe_machine
from understudy_bench.pairs import Pair, PairFigures, Performance
from understudy_bench.report import Report, Table, metered

EXAMPLE = f"""built-in clips: {", ".join(BUILTIN_CLIPS)}
built-in characters: {", ".join(BUILTIN_CHARACTERS)}
example: understudy bench pairs walk wave --to giant short-legs"""

LIMB_DEG: Final = 0.5
FLEXION_DEG: Final = 3.0
TRUNK_DEG: Final = 10.3
TRUNK_MEAN_DEG: Final = 2.8
TOE_DEG: Final = 6.0
SWUNG_MEAN_DEG: Final = 4.9
ANKLE: Final = 0.02

_FRAMES: Final = 200
_COLUMNS: Final = (
    "pair", "limb", "flexion", "chest", "trunk", "neck", "toe", "ankle line", "swung", "ankle",
    "standing",
)  # fmt: skip
_NOTE: Final = (
    "copied as it is, no solver; degrees, but ankle: % of the leg; limb: bones of arms and legs,"
    " worst; flexion: knees and elbows, worst; chest: how it is turned, worst; trunk, neck: where"
    " they point, mean, but for how the bodies are built; toe: footprints, mean; ankle line: the"
    " same from the ankle, of feet that stand flat; swung: of feet tilted by up to 30 degrees;"
    " ankle: height of standing ankles, mean; standing: how many there were"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument("clip", nargs="+", metavar="CLIP", help="built-in clips or BVH files")
    parser.add_argument(
        "--to",
        nargs="+",
        default=["giant"],
        metavar="CHARACTER",
        help="built-in characters or rigs (default giant)",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_pairs(arguments.clip, arguments.to)


def run_pairs(clips: Sequence[str], characters: Sequence[str]) -> Report:
    """Copy every clip to every character."""
    rows: list[list[str]] = []
    results: list[dict[str, object]] = []
    checks: list[Check] = []
    measured: list[PairFigures] = []
    bodies = {Path(name).stem: load_body(name) for name in characters}
    with metered("pairs", len(clips) * len(bodies)) as meter:
        for clip in clips:
            performance = Performance.of(load_clip(clip), _FRAMES)
            for character, body in bodies.items():
                pair = f"{Path(clip).stem} to {character}"
                try:
                    figures = Pair(performance, body).figures()
                except AlignmentError as error:
                    rows.append([f"{pair}: {error}", *[""] * (len(_COLUMNS) - 1)])
                    results.append({"pair": pair, "refused": str(error)})
                else:
                    rows.append([pair, *_cells(figures)])
                    results.append({"pair": pair, **asdict(figures)})
                    checks += _checks(pair, figures)
                    measured.append(figures)
                meter.advance()
    checks += _mean_checks(measured)
    table = Table("pairs", _COLUMNS, rows)
    return Report("pairs", describe_machine(), {"pairs": results}, checks, [table], [_NOTE])


def _cells(figures: PairFigures) -> list[str]:
    return [
        f"{figures.limb_deg:.2f}",
        f"{figures.flexion_deg:.2f}",
        f"{figures.chest_deg:.2f}",
        f"{figures.trunk_deg:.1f}",
        f"{figures.neck_deg:.1f}",
        f"{figures.toe_deg:.1f}",
        f"{figures.ankle_line_deg:.1f}",
        f"{figures.swung_line_deg:.1f}",
        f"{100.0 * figures.ankle:.2f}",
        f"{figures.standing}",
    ]


def _checks(pair: str, figures: PairFigures) -> list[Check]:
    return [
        judge(f"{pair}: limbs", figures.limb_deg, "deg", "<=", LIMB_DEG),
        judge(f"{pair}: knees and elbows", figures.flexion_deg, "deg", "<=", FLEXION_DEG),
        judge(f"{pair}: chest", figures.chest_deg, "deg", "<=", LIMB_DEG),
        judge(f"{pair}: trunk", figures.trunk_deg, "deg", "<=", TRUNK_DEG),
        judge(f"{pair}: neck", figures.neck_deg, "deg", "<=", TRUNK_DEG),
        judge(f"{pair}: toes", figures.toe_deg, "deg", "<=", TOE_DEG),
        judge(f"{pair}: toes from the ankle", figures.ankle_line_deg, "deg", "<=", TOE_DEG),
        judge(f"{pair}: ankles", figures.ankle, "of the leg", "<=", ANKLE),
    ]


def _mean_checks(measured: Sequence[PairFigures]) -> list[Check]:
    if not measured:
        return []
    return [
        judge(f"all pairs: {what}, mean", fmean(values), "deg", "<=", limit)
        for what, values, limit in (
            ("trunk", [figures.trunk_deg for figures in measured], TRUNK_MEAN_DEG),
            ("neck", [figures.neck_deg for figures in measured], TRUNK_MEAN_DEG),
            ("swung toes", [figures.swung_line_deg for figures in measured], SWUNG_MEAN_DEG),
        )
    ]
