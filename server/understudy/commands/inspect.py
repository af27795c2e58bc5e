"""`understudy inspect`: what a clip or rig holds, and how its unit and axes were told."""

from __future__ import annotations

import argparse
import json

from understudy.characters import describe
from understudy.characters.units import AXES
from understudy.commands.arguments import add_json, number

EXAMPLE = "example: understudy inspect walk"


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
    add_json(parser, "it")


def run(arguments: argparse.Namespace) -> int:
    """Describe the file."""
    description = describe(arguments.file, unit_m=arguments.unit, up=arguments.up)
    print(json.dumps(description.to_json()) if arguments.json else description.to_text())
    return 0
