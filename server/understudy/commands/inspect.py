"""`understudy inspect`: what a clip or rig holds, and how its unit and axes were told."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from understudy.characters import describe, load_clip
from understudy.characters.units import AXES
from understudy.commands.arguments import add_json, number
from understudy.config import DEFAULT_SOLVER
from understudy.errors import UnderstudyError

EXAMPLE = """example: understudy inspect walk
example: understudy inspect walk --to giant --picture walk.png"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", metavar="FILE|BUILTIN", help="a clip, a rig or a built-in one")
    parser.add_argument(
        "--unit",
        type=number(1e-6, 1e3, "m"),
        metavar="METRES",
        help="metres per unit of a BVH file (default: judged from the body)",
    )
    parser.add_argument(
        "--up", choices=AXES, help="up axis of a BVH file (default: judged from the body)"
    )
    parser.add_argument(
        "--to",
        nargs="+",
        metavar="CHARACTER",
        help="the characters of the picture, files or built-in ones, each in a row of its own",
    )
    parser.add_argument(
        "--picture",
        type=Path,
        metavar="OUT.png",
        help="draw the clip's performer and each character side by side at five instants",
    )
    add_json(parser, "it")


def run(arguments: argparse.Namespace) -> int:
    """Describe the file, or draw it beside a character."""
    if (arguments.to is None) != (arguments.picture is None):
        raise UnderstudyError("a picture needs both --to CHARACTER and --picture OUT.png")
    if arguments.picture is not None:
        # Only who wants a picture waits for what it needs.
        from understudy.commands.picture import draw_pairs

        draw_pairs(load_clip(arguments.file), arguments.to, DEFAULT_SOLVER, arguments.picture)
        print(f"wrote {arguments.picture}")
        return 0
    description = describe(arguments.file, unit_m=arguments.unit, up=arguments.up)
    print(json.dumps(description.to_json()) if arguments.json else description.to_text())
    return 0
