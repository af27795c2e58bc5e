"""`understudy demo`: a whole show on this machine, to see it work."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from understudy.characters import BUILTIN_CLIPS, Clip, load_clip
from understudy.commands.arguments import add_json, add_seconds, number
from understudy.commands.ending import until_interrupted
from understudy.commands.meters import Reading
from understudy.commands.monitor import add_monitor, monitoring
from understudy.commands.play import Played, play
from understudy.commands.spectators import COLUMNS, Spectators, row
from understudy.commands.terminal import LiveTable, plain_row
from understudy.errors import UnderstudyError
from understudy.ingest import message_from_skeleton
from understudy_client import Performer

EXAMPLE = "example: understudy demo --seconds 10"

_PERFORMER: Final = "actor"
_CHARACTERS: Final = ("short-legs", "giant")
_READY_S: Final = 30.0
_STOP_S: Final = 5.0

# Any free port, so that a demo never stands in the way of a real show.
_SHOW: Final = """\
[server]
input = "tcp://127.0.0.1:*"
output = "tcp://127.0.0.1:*"
control = "tcp://127.0.0.1:*"
""" + "".join(
    f"""
[[session]]
performer = "{_PERFORMER}"
character = "{character}"
"""
    for character in _CHARACTERS
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("--clip", choices=BUILTIN_CLIPS, default="walk", help="default walk")
    parser.add_argument(
        "--rate",
        type=number(1.0, 240.0, "Hz"),
        default=60.0,
        metavar="HZ",
        help="frames a second (default 60)",
    )
    add_seconds(parser, "end")
    add_monitor(parser)
    add_json(parser, "the summary")


def run(arguments: argparse.Namespace) -> int:
    """Run the show until told to stop, then tell how it went."""
    clip = load_clip(arguments.clip, arguments.rate)
    played = Played()
    readings: list[Reading] = []
    if not arguments.json:
        names = " and ".join(_CHARACTERS)
        print(f"starting a server, an actor who plays {clip.name!r}, and {names}", flush=True)
    with until_interrupted(), _server() as addresses:
        skeleton = message_from_skeleton(clip.skeleton)
        # Frames and poses are stamped by one clock here: latency is the whole way, there and back.
        watching = Spectators(_CHARACTERS, addresses["output"], lambda pose: pose.capture_ns)
        page = monitoring(arguments.monitor, addresses["output"], addresses["control"])
        with page, Performer(_PERFORMER, skeleton, addresses["input"]) as performer, watching:
            performer.wait_ready(_READY_S)
            try:
                with _performing(clip, performer, arguments.rate, played):
                    if not watching.wait_for_pose(_READY_S):
                        raise UnderstudyError("the demo's server published no pose")
                    _show(watching, arguments)
            finally:  # Ctrl-C is an end like any other
                readings = watching.readings()
    _summarise(readings, played, arguments)
    return 0


@contextmanager
def _server() -> Iterator[dict[str, str]]:
    """A server in a process of its own, as in a real show; its addresses."""
    command = [sys.executable, "-m", "understudy", "serve", "-", "--json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            with process.stdin as show:
                show.write(_SHOW)
            ready = process.stdout.readline()
            if not ready:  # it has said why, on the same terminal
                raise UnderstudyError("the demo's server did not start")
            yield json.loads(ready)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()


@contextmanager
def _performing(clip: Clip, performer: Performer, rate_hz: float, played: Played) -> Iterator[None]:
    """The clip, over and over, by a thread."""
    stop = threading.Event()
    thread = threading.Thread(
        target=play, args=(clip, performer, rate_hz, played), kwargs={"stop": stop}, daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _show(watching: Spectators, arguments: argparse.Namespace) -> None:
    end = None if arguments.seconds is None else time.monotonic() + arguments.seconds
    title = "latency: from the frame's capture to its pose; Ctrl-C ends the show"
    with LiveTable(COLUMNS, title) as table:
        while end is None or time.monotonic() < end:
            left = table.refresh_s if end is None else end - time.monotonic()
            time.sleep(max(0.0, min(table.refresh_s, left)))
            if not arguments.json:
                table.show([row(reading) for reading in watching.readings()])


def _summarise(readings: list[Reading], played: Played, arguments: argparse.Namespace) -> None:
    if arguments.json:
        summary = {
            "clip": arguments.clip,
            "rate_hz": arguments.rate,
            "seconds": round(played.seconds, 3),
            "frames": played.frames,
            "late": played.late,
            "characters": [reading.to_json() for reading in readings],
        }
        print(json.dumps(summary))
        return
    print(f"{arguments.clip!r} at {arguments.rate:g} Hz for {played.seconds:.1f} s made")
    for reading in readings:
        print(f"  {reading.poses} poses of {plain_row(COLUMNS, row(reading))}")
