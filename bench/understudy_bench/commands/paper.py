"""`bench paper`: the published figures of the papers behind the solvers, beside ours."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from understudy.characters import load_clip
from understudy_bench.checks import Check, judge
from understudy_bench.machine import describe_machine
from understudy_bench.noise import NoiseWatch
from understudy_bench.paper.egik_section import egik_section
from understudy_bench.paper.enhancement_section import LAYOUT, enhancement_section
from understudy_bench.paper.swing import BODIES, SwingResult, run_swing
from understudy_bench.paper.ukf_section import ukf_section
from understudy_bench.paper.walking import PUBLISHED_MAX_ERROR_CM, WalkingResult, run_walking
from understudy_bench.report import Headline, Report, Table
from understudy_bench.task import build_task

EXAMPLE = "example: understudy bench paper --json paper.json"

# The published form: predict by the goals' own increment, one step, no further correction.
PAPER_FORM: Final = {"paper": 1, "corrections": 0}
DEFAULT_LIMIT_CM: Final = 0.02
LOW_RATE_HZ: Final = 10.0
TASK_HZ: Final = 120.0
LOW_RATE_LIMIT_CM: Final = 0.25
SWING_LIMIT_CM: Final = 0.05
# The pelvis counts as even if its speed varies by no more than this beyond the performer's own.
EVENNESS: Final = 0.01


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments: the experiments are what was published, but for the walk."""
    parser.add_argument(
        "--walk",
        metavar="FILE",
        help="a recorded walk at 120 Hz, BVH: the sweep's slide and jerk on it",
    )
    parser.add_argument(
        "--collection", default="", metavar="NAME", help="where the walk is from, for the report"
    )
    parser.add_argument(
        "--paired", type=Path, metavar="FOLDER", help=f"enhancement of real takes: {LAYOUT}"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Run every experiment and set the figures beside the published ones."""
    watch = NoiseWatch()
    recorded = None
    if arguments.walk is not None:
        clip = load_clip(arguments.walk)
        recorded = replace(clip, name=f"{arguments.collection} {clip.name}".strip())
    walks = {
        "published form": run_walking(PAPER_FORM),
        "published form, pelvis free": run_walking(PAPER_FORM, hold_pelvis=False),
        "default": run_walking({}),
        "default, 10 Hz": run_walking({}, rate_hz=LOW_RATE_HZ),
    }
    swings = [run_swing(body, {}) for body in BODIES]
    task = build_task("walk", TASK_HZ)
    noisy = watch.noise().noisy
    sections = (
        egik_section(task, noisy=noisy),
        ukf_section(task, recorded, noisy=noisy),
        enhancement_section(arguments.paired),
    )
    noise = watch.noise()
    results = {
        "walking": {name: asdict(each) for name, each in walks.items()},
        "swing": [asdict(each) for each in swings],
        "published": {"walking_max_error_cm": PUBLISHED_MAX_ERROR_CM},
        **{section.name: section.results for section in sections},
    }
    tables = [_walking_table(walks), _swing_table(swings)]
    checks = _checks(walks, swings)
    notes = [
        "walking: 390 frames at 30 Hz, 8 rows of 30 degrees of freedom; published maximum"
        f" {PUBLISHED_MAX_ERROR_CM} cm",
        "swing: 136 frames at 30 Hz, 9 rows of 42 degrees of freedom; lean and shift of the neck"
        " against the performer's, bend summed over the torso joints, twist of the shoulder line"
        " against the pelvis, largest minus smallest",
    ]
    for section in sections:
        tables += section.tables
        checks += section.checks
        notes += section.notes
    notes.append(noise.sentence())
    meta = {**describe_machine(), **noise.meta()}
    return Report("paper", meta, results, checks, tables, notes, _headlines(walks))


def _headlines(walks: dict[str, WalkingResult]) -> list[Headline]:
    paper, default = walks["published form"], walks["default"]
    return [
        Headline(
            "largest toe error in the published walking experiment",
            f"{paper.max_error_cm:.2f} cm in the published form, {default.max_error_cm:.3f} cm by"
            f" default; published: {PUBLISHED_MAX_ERROR_CM:.2f} cm",
            "understudy bench paper",
        ),
        Headline(
            "slide of the planted toe in that experiment",
            f"{default.stance_slide_cm:.0e} cm a frame",
            "understudy bench paper",
        ),
    ]


def _checks(walks: dict[str, WalkingResult], swings: Sequence[SwingResult]) -> list[Check]:
    paper, default, low = walks["published form"], walks["default"], walks["default, 10 Hz"]
    free = walks["published form, pelvis free"]
    a, b, c = swings
    checks = [
        judge(
            "walking, toe error of the published form, max",
            paper.max_error_cm,
            "cm",
            "<=",
            PUBLISHED_MAX_ERROR_CM,
        ),
        judge(
            "walking, toe error by default, max", default.max_error_cm, "cm", "<=", DEFAULT_LIMIT_CM
        ),
        judge("walking at 10 Hz, toe error, max", low.max_error_cm, "cm", "<=", LOW_RATE_LIMIT_CM),
        judge("walking, planted toe, slide a frame", default.stance_slide_cm, "cm", "<=", 1e-9),
        judge(
            "walking, unevenness of the pelvis added",
            default.pelvis_speed_spread - default.source_pelvis_speed_spread,
            "of its speed",
            "<=",
            EVENNESS,
        ),
        judge(
            "walking, unevenness of a free pelvis, times a held one's",
            free.pelvis_speed_spread / paper.pelvis_speed_spread,
            "times",
            ">=",
            2.0,
        ),
        judge(
            "swing, shorter arms lean the torso forward", a.lean_deg - b.lean_deg, "deg", ">=", 1.0
        ),
        judge("swing, longer arms lean it back", b.lean_deg - c.lean_deg, "deg", ">=", 1.0),
    ]
    checks += [
        judge(
            f"swing of {each.body}, hand error, max", each.max_error_cm, "cm", "<=", SWING_LIMIT_CM
        )
        for each in swings
    ]
    return checks


def _walking_table(walks: dict[str, WalkingResult]) -> Table:
    rows = [
        [
            name,
            f"{each.max_error_cm:.4f}",
            f"{each.mean_error_cm:.4f}",
            f"{each.stance_slide_cm:.1e}",
            f"{100 * each.pelvis_speed_spread:.1f} %",
            f"{100 * each.source_pelvis_speed_spread:.1f} %",
        ]
        for name, each in walks.items()
    ]
    return Table(
        "walking, cm",
        ("form", "toe error max", "mean", "stance slide", "pelvis speed varies", "performer's"),
        rows,
    )


def _swing_table(swings: Sequence[SwingResult]) -> Table:
    rows = [
        [
            each.body,
            f"{each.max_error_cm:.4f}",
            f"{each.mean_error_cm:.4f}",
            f"{each.lean_deg:+.1f}",
            f"{each.shift_cm:+.1f}",
            f"{each.bend_deg:.1f}",
            f"{each.twist_deg:.1f}",
        ]
        for each in swings
    ]
    return Table(
        "bat swing",
        ("body", "hand error max cm", "mean cm", "lean deg", "shift cm", "bend deg", "twist deg"),
        rows,
    )
