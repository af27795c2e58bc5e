"""`understudy retarget`: a clip file to a character, as fast as it goes."""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from understudy.align import Aligner
from understudy.align.profile import Profile, read_profile
from understudy.characters import (
    BUILTIN_CHARACTERS,
    BUILTIN_CLIPS,
    Body,
    Clip,
    ClipError,
    load_clip,
    write_bvh,
)
from understudy.characters.clip import continuous
from understudy.commands.arguments import add_json, add_output
from understudy.commands.enhance import enhance_file
from understudy.commands.terminal import progress
from understudy.config import DEFAULT_SOLVER
from understudy.kinematics import FloatArray
from understudy.kinematics.tasks import Targets
from understudy.runtime.casting import body_roles, cast_character, cast_performer
from understudy.runtime.offline import motion_sample, perform
from understudy.solvers import SOLVERS, Egik, SolverError, create_solver
from understudy.solvers.whole_clip import WholeClipEgik

EXAMPLE = f"""built-in characters: {", ".join(BUILTIN_CHARACTERS)}
built-in clips: {", ".join(BUILTIN_CLIPS)}
example: understudy retarget walk --to short-legs -o short-legs.bvh"""

_PROGRESS_FRAMES: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class Retargeted:
    """The character's motion, residuals (T, k) m of its effectors, seconds the solving took."""

    clip: Clip
    effectors: tuple[str, ...]
    residuals: FloatArray
    seconds: float

    @property
    def frames_per_s(self) -> float:
        """Frames aligned and solved in a second."""
        return self.clip.frame_count / self.seconds

    def error_mm(self, part: str) -> tuple[float, float]:
        """Mean and largest distance (mm) from their goals of the effectors named after a part."""
        columns = [part in name for name in self.effectors]
        chosen = self.residuals[:, columns] * 1e3
        return float(chosen.mean()), float(chosen.max())


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("clip", metavar="IN", help="a BVH file or a built-in clip")
    purpose = parser.add_mutually_exclusive_group(required=True)
    purpose.add_argument(
        "--to", metavar="CHARACTER", help="a rig file, a BVH file or a built-in one"
    )
    purpose.add_argument(
        "--enhance",
        type=Path,
        metavar="C3D",
        help="correct the clip itself by the points of a C3D file measured beside it",
    )
    parser.add_argument(
        "--markers", metavar="A,B,...", help="with --enhance: these points only (default all)"
    )
    add_output(parser)
    parser.add_argument(
        "--profile", type=Path, metavar="FILE", help="who is which joint of the clip (see map)"
    )
    parser.add_argument(
        "--character-profile", type=Path, metavar="FILE", help="the same of the character"
    )
    parser.add_argument(
        "--solver", choices=SOLVERS, default=DEFAULT_SOLVER, help=f"default {DEFAULT_SOLVER}"
    )
    parser.add_argument(
        "--whole", action="store_true", help="solve all frames together, not one by one (egik)"
    )
    parser.add_argument(
        "--hand-contacts",
        action="store_true",
        help="hold hands that rest on something, as planted feet are held",
    )
    add_json(parser, "the figures")


def run(arguments: argparse.Namespace) -> int:
    """Read, retarget, write, tell."""
    clip = load_clip(arguments.clip)
    if arguments.enhance is not None:
        return enhance_file(clip, arguments)
    body = cast_character(arguments.to, arguments.character_profile)
    profile = None if arguments.profile is None else read_profile(arguments.profile)
    name, solver = Path(arguments.to).stem, arguments.solver
    result = retarget(
        clip,
        body,
        name,
        solver,
        profile,
        whole=arguments.whole,
        hand_contacts=arguments.hand_contacts,
    )
    write_bvh(arguments.output, result.clip)
    summary = _summary(result, arguments)
    if arguments.json:
        print(json.dumps(summary))
        return 0
    print(
        f"wrote {arguments.output}: {result.clip.frame_count} frames at {clip.rate_hz:g} Hz,"
        f" {result.frames_per_s:,.0f} frames/s with {arguments.solver}"
    )
    for part in ("hand", "foot"):
        mean, largest = summary[f"{part}_error_mean_mm"], summary[f"{part}_error_max_mm"]
        print(f"{part} error: mean {mean:.2f} mm, max {largest:.2f} mm")
    return 0


def retarget(
    clip: Clip,
    body: Body,
    name: str,
    solver_name: str,
    profile: Profile | None = None,
    *,
    whole: bool = False,
    hand_contacts: bool = False,
) -> Retargeted:
    """Drive a character with a clip: frame by frame, as the server would, or all at once.

    `profile` says which joint of the performer is which, where that needs saying.
    """
    if whole and solver_name != Egik.name:
        raise SolverError(f"solver {solver_name!r}: only {Egik.name!r} solves a clip as a whole")
    frames = clip.frame_count
    if not frames:
        raise ClipError(f"clip {clip.name!r}: it has no frames to retarget")
    character, motion = body.skeleton, motion_sample(clip)
    performer, roles = cast_performer(clip.skeleton, profile=profile, motion=motion)
    aligner = Aligner(
        performer,
        character,
        source_roles=roles,
        target_roles=body_roles(body),
        source_motion=motion,
        target_floor=body.floor_m,
        hand_contacts=hand_contacts,
    )
    solver = create_solver(solver_name, character, aligner.effectors, {})
    roots = np.empty((frames, 3))
    rotations = np.empty((frames, len(character), 4))
    residuals = np.empty((frames, len(aligner.effectors)))
    with progress(f"{clip.name} to {name}", frames) as bar:
        start = time.perf_counter()
        asked: list[Targets] = []
        for frame, (targets, solution) in enumerate(perform(clip, aligner, solver)):
            if whole:
                asked.append(targets.copy())
            roots[frame] = solution.root
            rotations[frame] = solution.rotations_xyzw
            residuals[frame] = solution.residuals
            if bar is not None and frame % _PROGRESS_FRAMES == 0:
                bar.update(bar.task_ids[0], completed=frame)
        if whole:
            found = WholeClipEgik(character, aligner.effectors).solve(asked, 1.0 / clip.rate_hz)
            roots, rotations, residuals = found.roots, found.rotations_xyzw, found.residuals
        seconds = time.perf_counter() - start
    return Retargeted(
        clip=Clip(f"{clip.name}-{name}", character, clip.rate_hz, roots, continuous(rotations)),
        effectors=tuple(effector.name for effector in aligner.effectors),
        residuals=residuals,
        seconds=seconds,
    )


def _summary(result: Retargeted, arguments: argparse.Namespace) -> dict[str, Any]:  # Any: JSON
    hand_mean, hand_max = result.error_mm("Hand")
    foot_mean, foot_max = result.error_mm("Foot")
    return {
        "input": str(arguments.clip),
        "character": str(arguments.to),
        "output": str(arguments.output),
        "solver": arguments.solver,
        "frames": result.clip.frame_count,
        "frames_per_s": round(result.frames_per_s, 1),
        "hand_error_mean_mm": round(hand_mean, 3),
        "hand_error_max_mm": round(hand_max, 3),
        "foot_error_mean_mm": round(foot_mean, 3),
        "foot_error_max_mm": round(foot_max, 3),
    }
