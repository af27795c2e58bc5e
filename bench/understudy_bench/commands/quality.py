"""`bench quality`: every figure of quality for clips, characters and solvers."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from understudy.align.limits import anatomical_limits
from understudy.align.roles import find_roles
from understudy.characters import BUILTIN_CHARACTERS, BUILTIN_CLIPS, load_character, load_clip
from understudy.characters.anatomy import joint_range
from understudy.kinematics.limits import JointLimits
from understudy.solvers import SOLVERS
from understudy_bench.checks import Check
from understudy_bench.choosing import choosing_table
from understudy_bench.machine import describe_machine
from understudy_bench.noise import NoiseWatch
from understudy_bench.pictures import draw_worst_instants
from understudy_bench.promises import clip_promises
from understudy_bench.quality import Figures, motion_limits, retarget_clip, score
from understudy_bench.quality.baselines import BASELINES, CUTOFF_HZ
from understudy_bench.quality.figures import Slide
from understudy_bench.quality.summary import NOTES as SUMMARY_NOTES
from understudy_bench.quality.summary import summary_tables
from understudy_bench.report import Headline, Report, Table, metered

EXAMPLE = f"""built-in clips: {", ".join(BUILTIN_CLIPS)}
built-in characters: {", ".join(BUILTIN_CHARACTERS)}
example: understudy bench quality walk --to short-legs giant --solver clik"""

MARGIN_RAD: Final = math.radians(5.0)
_MOST_NAMED: Final = 4

_COLUMNS: Final = (
    "take", "error cm", "strict slide", "wide slide", "source's", "float", "below", "jerk", "pops",
    "beyond", "us",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """What to run: every clip on every character by every solver."""

    clips: Sequence[str] = ("walk",)
    characters: Sequence[str] = ("short-legs",)
    solvers: Sequence[str] = ("clik",)
    rate_hz: float | None = None
    limits: str = "motion"
    pictures: Path | None = None
    collection: str = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument("clip", nargs="+", metavar="CLIP", help="built-in clips or BVH files")
    parser.add_argument(
        "--to", nargs="+", default=["short-legs"], metavar="CHARACTER", help="default short-legs"
    )
    parser.add_argument(
        "--solver",
        nargs="+",
        choices=(*SOLVERS, *BASELINES),
        default=["clik"],
        help="default clik; ik and ik-lowpass are simple approaches to compare with",
    )
    parser.add_argument(
        "--rate", type=float, metavar="HZ", help="resample the clips (default: their own rate)"
    )
    parser.add_argument(
        "--limits",
        choices=("motion", "anatomy", "none"),
        default="motion",
        help="joint limits of the characters: the clip's own range and 5 degrees more (default),"
        " a healthy adult's, or none",
    )
    parser.add_argument(
        "--pictures", type=Path, metavar="FOLDER", help="draw the worst instants into FOLDER"
    )
    parser.add_argument(
        "--collection", default="", metavar="NAME", help="where the clips are from, for the report"
    )


def run(arguments: argparse.Namespace) -> Report:
    """Measure and judge."""
    return run_quality(
        QualityOptions(
            clips=arguments.clip,
            characters=arguments.to,
            solvers=arguments.solver,
            rate_hz=arguments.rate,
            limits=arguments.limits,
            pictures=arguments.pictures,
            collection=arguments.collection,
        )
    )


def run_quality(options: QualityOptions) -> Report:
    """Retarget everything and score it."""
    watch = NoiseWatch()
    figures: list[Figures] = []
    notes = [
        "error: effectors where no limit binds, mean / max; slide: planted pivots by the strict and"
        " the wide truth, cm/s, mean / p95; source's: the performer's own by the wide truth, scaled"
        " to the character; below: deepest under the floor, cm; us: align and solve, p50",
    ]
    total = len(options.clips) * len(options.characters) * len(options.solvers)
    with metered("quality", total) as meter:
        for clip_name in options.clips:
            clip = load_clip(clip_name, options.rate_hz)
            for character in options.characters:
                target = load_character(character)
                limits: JointLimits | None = None
                if options.limits == "anatomy":
                    limits = anatomical_limits(target, find_roles(target), joint_range)
                elif options.limits == "motion":
                    limits = motion_limits(clip, target, MARGIN_RAD)
                for solver in options.solvers:
                    name = Path(character).stem
                    take = retarget_clip(clip, name, target, solver, limits=limits)
                    figures.append(score(take))
                    if options.pictures is not None:
                        draw_worst_instants(take, options.pictures)
                    meter.advance()
    if options.pictures is not None:
        notes.append(f"the worst instants are drawn in {options.pictures}")
    noise = watch.noise()
    notes.append(noise.sentence())
    meta = {**describe_machine(), **noise.meta()}
    results = {"limits": options.limits, "figures": [asdict(each) for each in figures]}
    checks = {each: clip_promises(each, _take(each, options.collection)) for each in figures}
    tables = [_table(figures)]
    if len(figures) > len(options.solvers):
        tables += summary_tables(figures)
        notes += [_scope(options, figures), *SUMMARY_NOTES, *_kept(checks)]
    judged = [check for each in checks.values() for check in each]
    return Report(
        "quality",
        meta,
        results,
        judged,
        tables,
        notes,
        _headlines(options, figures),
        [choosing_table(figures)],
    )


def _headlines(options: QualityOptions, figures: Sequence[Figures]) -> list[Headline]:
    own = [each for each in figures if each.solver == "clik"]
    planted = [each.slide_strict for each in own if each.slide_strict.judged]
    if not planted:
        return []
    return [
        Headline(
            f"slide of planted feet, `clik`, {len(options.clips)}"
            f" {options.collection or 'built-in'} clips to {len(options.characters)} characters,"
            " mean (the performer's own, scaled)",
            f"{sum(s.mean for s in planted) / len(planted):.2f} cm/s"
            f" ({sum(s.source_mean for s in planted) / len(planted):.1f})",
            _command(options),
        )
    ]


def _command(options: QualityOptions) -> str:
    """What to type for the same; of many clips the notes have the names."""
    clips = [Path(clip).name for clip in options.clips]
    named = " ".join(clips) if len(clips) <= _MOST_NAMED else "CLIP.bvh ..."
    return f"understudy bench quality {named} --to {' '.join(options.characters)}"


def _scope(options: QualityOptions, figures: Sequence[Figures]) -> str:
    """What the summary is made of."""
    clips = dict.fromkeys(_label(each, options.collection) for each in figures)
    characters = dict.fromkeys(each.character for each in figures)
    seconds = sum(each.frames / each.rate_hz for each in figures) / len(options.solvers)
    return (
        f"by solver: {len(clips)} clips ({', '.join(clips)}), each to {', '.join(characters)};"
        f" {seconds:.0f} s of motion, joint limits: {options.limits}; every solver with its"
        " defaults gets the same goals. ik: each frame by itself, planted feet only; ik-lowpass:"
        f" the same, smoothed at {CUTOFF_HZ:g} Hz; both are plain Python around compiled parts"
    )


def _kept(checks: Mapping[Figures, Sequence[Check]]) -> list[str]:
    """How many of the promises each solver kept."""
    verdicts: dict[str, list[bool]] = {}
    for each, judged in checks.items():
        if judged:
            verdicts.setdefault(each.solver, []).extend(check.passed is True for check in judged)
    counts = [f"{solver} {sum(kept)} of {len(kept)}" for solver, kept in verdicts.items()]
    return [f"promises kept: {', '.join(counts)}"] if counts else []


def _label(figures: Figures, collection: str) -> str:
    return f"{collection} {figures.clip}".strip()


def _take(figures: Figures, collection: str) -> str:
    return f"{_label(figures, collection)} to {figures.character}, {figures.solver}"


def _table(figures: Sequence[Figures]) -> Table:
    rows = [
        [
            f"{each.clip} to {each.character}, {each.solver}",
            f"{each.error_mean_cm:.3f} / {each.error_max_cm:.2f}",
            _pair(each.slide_strict),
            _pair(each.slide_wide),
            f"{each.slide_wide.source_mean:.1f}",
            f"{each.float_cm:.2f}",
            f"{each.penetration_cm:.2f}",
            f"{each.jerk_ratio:.2f}",
            f"{each.pops}",
            f"{each.violations}",
            f"{each.solve_p50_us:.0f}",
        ]
        for each in figures
    ]
    return Table("quality", _COLUMNS, rows)


def _pair(slide: Slide) -> str:
    return f"{slide.mean:.2f} / {slide.p95:.2f}" if slide.judged else "not planted"
