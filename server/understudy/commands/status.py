"""`understudy status`: what a server runs; also a check that it is alive."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from understudy.commands.arguments import add_control, add_json, number
from understudy_client import Control

EXAMPLE = "example: understudy status --control tcp://127.0.0.1:5552"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_control(parser)
    parser.add_argument(
        "--wait",
        type=number(0.1, 1e4, "s"),
        default=2.0,
        metavar="N",
        help="give up when no server answers for N seconds (default 2)",
    )
    add_json(parser, "it")


def run(arguments: argparse.Namespace) -> int:
    """Ask and tell."""
    with Control(arguments.control, arguments.wait) as control:
        hello = control.hello()
        listed = control.request("list")
        stats = control.request("stats")
    if arguments.json:
        print(json.dumps({"hello": hello, "list": listed, "stats": stats}))
    else:
        print("\n".join(_lines(hello, listed, stats)))
    return 0


def _lines(
    hello: Mapping[str, Any], listed: Mapping[str, Any], stats: Mapping[str, Any]
) -> list[str]:
    performers = {entry["name"]: entry for entry in stats["performers"]}
    characters = {entry["name"]: entry for entry in stats["characters"]}
    lines = [f"{hello['server']} {hello['version']}, up {stats['uptime_s']:.0f} s"]
    for entry in listed["performers"]:
        counted = performers.get(entry["name"], {})
        lines.append(
            f"performer {entry['name']}: {entry['state']}, {counted.get('rate_hz', 0):.1f} Hz,"
            f" {counted.get('frames', 0)} frames, {counted.get('lost', 0)} lost"
        )
    for entry in listed["sessions"]:
        counted = characters.get(entry["character"], {})
        work = counted.get("work_us", {})
        clock = "every frame" if entry["rate_hz"] is None else f"{entry['rate_hz']:g} Hz clock"
        lines.append(
            f"character {entry['character']}: driven by {entry['performer']} through"
            f" {entry['solver']}, {clock}, {counted.get('rate_hz', 0):.1f} Hz,"
            f" {counted.get('poses', 0)} poses, work p50 {work.get('p50', 0):.0f} us"
        )
    return lines
