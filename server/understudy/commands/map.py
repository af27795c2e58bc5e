"""`understudy map`: which joint plays which part, how sure that is, and a profile to correct it."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from understudy.align import MotionSample, RoleMap
from understudy.align.confidence import ACCEPT, WARN
from understudy.align.humanoid import BODY_ROLES, FINGER_ROLES
from understudy.align.profile import Profile, profile_of, read_profile, write_profile
from understudy.characters import BUILTIN_CLIPS, load_body, load_clip
from understudy.characters.library import CLIP_SUFFIXES
from understudy.commands.arguments import add_json
from understudy.kinematics import Skeleton
from understudy.runtime.casting import body_roles, cast_performer
from understudy.runtime.offline import motion_sample

EXAMPLE = """a profile is used by a show file ([[session]] profile = "FILE" for a performer,
[characters.NAME] profile = "FILE" for a character) and by retarget --profile
example: understudy map walk giant"""

_NONE: Final = "-"


@dataclass(frozen=True, slots=True, eq=False)
class Mapped:
    """A body and who is who in it."""

    name: str
    skeleton: Skeleton
    roles: RoleMap

    def joint(self, role: str) -> str:
        """The name of the joint that plays a role, or a dash."""
        joint = self.roles.joint(role)
        return _NONE if joint < 0 else self.skeleton.names[joint]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE|BUILTIN", help="a performer's clip, or any body")
    parser.add_argument(
        "character", nargs="?", metavar="CHARACTER", help="a character to show beside it"
    )
    parser.add_argument(
        "--profile", type=Path, metavar="FILE", help="a profile of the first that has the last word"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE.toml", help="write the map as a profile"
    )
    add_json(parser, "the map")


def run(arguments: argparse.Namespace) -> int:
    """Find, show, write; 1 if a body cannot be used as it is."""
    profile = None if arguments.profile is None else read_profile(arguments.profile)
    bodies = [mapped(arguments.file, profile)]
    if arguments.character is not None:
        bodies.append(mapped(arguments.character))
    if arguments.json:
        print(json.dumps([_json(body) for body in bodies]))
    else:
        print(table(bodies))
        for body in bodies:
            for line in remarks(body):
                print(line)
    if arguments.output is not None:
        first = bodies[0]
        written = profile_of(first.skeleton, first.roles)
        if profile is not None:
            written = Profile(written.roles, profile.root, profile.rotations_xyzw)
        write_profile(arguments.output, written, first.roles)
        if not arguments.json:
            print(f"wrote {arguments.output}: edit the names, then use it as a profile")
    return 1 if any(body.roles.refused is not None for body in bodies) else 0


def mapped(name_or_path: str, profile: Profile | None = None) -> Mapped:
    """Who is who in a clip, a rig or a built-in body; a clip's motion is looked at too."""
    path = Path(name_or_path)
    if name_or_path in BUILTIN_CLIPS or path.suffix.lower() in CLIP_SUFFIXES:
        clip = load_clip(name_or_path)
        motion: MotionSample | None = motion_sample(clip) if clip.frame_count else None
        _, roles = cast_performer(clip.skeleton, profile=profile, motion=motion)
        return Mapped(path.name, clip.skeleton, roles)
    body = load_body(name_or_path)
    if profile is not None:
        _, roles = cast_performer(
            body.skeleton, humanoid=body.humanoid, profile=profile, motion=None
        )
        return Mapped(path.name, body.skeleton, roles)
    return Mapped(path.name, body.skeleton, body_roles(body))


def table(bodies: list[Mapped]) -> str:
    """Roles in rows, bodies in columns, with a percentage where the map is not sure."""
    shown = [
        role
        for role in BODY_ROLES + FINGER_ROLES
        if role in BODY_ROLES or any(body.roles.joint(role) >= 0 for body in bodies)
    ]
    rows = [["role", *(body.name for body in bodies)]]
    for role in shown:
        cells = [body.joint(role) + _doubt(body.roles.confidence.get(role)) for body in bodies]
        rows.append([role, *cells])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def remarks(body: Mapped) -> list[str]:
    """What to know and to do about a map, a line each."""
    lines = [f"{body.name}: {problem}" for problem in body.roles.problems]
    if body.roles.refused is not None:
        lines.append(f"{body.name}: cannot be used: {body.roles.refused}")
    return lines


def _doubt(confidence: float | None) -> str:
    if confidence is None or confidence >= ACCEPT:
        return ""
    return f" ({confidence:.0%}{'' if confidence >= WARN else ', ask'})"


def _json(body: Mapped) -> dict[str, Any]:  # Any: JSON
    return {
        "name": body.name,
        "roles": {
            role: {
                "joint": body.skeleton.names[joint],
                "confidence": round(body.roles.confidence[role], 3),
            }
            for role, joint in body.roles.roles.items()
        },
        "problems": list(body.roles.problems),
        "refused": body.roles.refused,
    }
