"""`understudy watch`: a live table of what characters' streams are like."""

from __future__ import annotations

import argparse
import time
from typing import Final

from understudy.commands.arguments import (
    add_control,
    add_downlink,
    add_json,
    add_seconds,
    add_wait,
)
from understudy.commands.ending import until_interrupted
from understudy.commands.spectators import COLUMNS, Spectators, json_line, row
from understudy.commands.terminal import LiveTable
from understudy.errors import UnderstudyError
from understudy_client import Control

EXAMPLE = "example: understudy watch giant --seconds 10"

_ONCE_S: Final = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "character", nargs="?", metavar="CHARACTER", help="which one (default: all)"
    )
    parser.add_argument("--once", action="store_true", help="look for one second and end")
    add_seconds(parser, "end")
    add_downlink(parser)
    add_control(parser)
    add_wait(parser, "no pose comes")
    add_json(parser, "one line a second")


def run(arguments: argparse.Namespace) -> int:
    """Watch until told to stop."""
    with Control(arguments.control) as control:
        control.hello()
        known = [str(entry["name"]) for entry in control.request("list")["characters"]]
        offset_ns = control.clock_offset().offset_ns
    names = known if arguments.character is None else [arguments.character]
    if arguments.character is not None and arguments.character not in known:
        raise UnderstudyError(
            f"no character {arguments.character!r} at {arguments.control};"
            f" there are: {', '.join(known) or 'none'}"
        )
    if not names:
        raise UnderstudyError(f"the server at {arguments.control} runs no character")
    seconds = _ONCE_S if arguments.once else arguments.seconds
    # A pose's latency counts from its frame's arrival at the server, in this machine's time.
    watching = Spectators(names, arguments.downlink, lambda pose: pose.arrival_ns - offset_ns)
    with until_interrupted(), watching:
        if not watching.wait_for_pose(arguments.wait):
            raise UnderstudyError(
                f"no pose of {', '.join(names)} from {arguments.downlink}"
                f" within {arguments.wait:g} s; is a performer playing?"
            )
        _show(watching, seconds, arguments.json)
    return 0


def _show(watching: Spectators, seconds: float | None, as_json: bool) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    with LiveTable(COLUMNS, "latency: from the frame's arrival at the server to here") as table:
        while end is None or time.monotonic() < end:
            left = table.refresh_s if end is None else end - time.monotonic()
            time.sleep(max(0.0, min(table.refresh_s, left)))
            readings = watching.readings()
            if as_json:
                print(json_line(readings), flush=True)
            else:
                table.show([row(reading) for reading in readings])
