"""`understudy play`: a performer whose frames come from a clip."""

from __future__ import annotations

import argparse
import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from understudy.characters import BUILTIN_CLIPS, Clip, ClipError, load_clip
from understudy.commands.arguments import (
    add_json,
    add_seconds,
    add_uplink,
    add_wait,
    number,
    udp_target,
)
from understudy.commands.ending import until_interrupted
from understudy.commands.pacing import Metronome
from understudy.commands.vmc_performer import VmcPerformer
from understudy.ingest import message_from_skeleton
from understudy.kinematics import FloatArray
from understudy_client import Performer

EXAMPLE = f"""built-in clips: {", ".join(BUILTIN_CLIPS)}
example: understudy play walk --loop --rate 60 --name anna"""


@dataclass(slots=True)
class Played:
    """What was sent: frames, those sent more than a period late, and how long it took (s)."""

    frames: int = 0
    late: int = 0
    seconds: float = 0.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("clip", metavar="FILE|BUILTIN", help="a BVH file or a built-in clip")
    parser.add_argument("--name", default="performer", help="the performer's name in the show")
    parser.add_argument(
        "--rate",
        type=number(1.0, 1000.0, "Hz"),
        metavar="HZ",
        help="frames a second (default: the clip's own)",
    )
    parser.add_argument(
        "--speed",
        type=number(0.01, 100.0, "times"),
        default=1.0,
        metavar="X",
        help="how fast the motion goes (default 1)",
    )
    parser.add_argument("--loop", action="store_true", help="begin again at the end, for ever")
    add_seconds(parser, "end")
    add_uplink(parser)
    parser.add_argument(
        "--vmc",
        type=udp_target,
        metavar="HOST:PORT",
        help="send VMC to this UDP address instead (a server's performer, or any VMC receiver)",
    )
    add_wait(parser, "no server answers")
    add_json(parser, "a summary at the end")


def run(arguments: argparse.Namespace) -> int:
    """Play the clip."""
    rate_hz = arguments.rate or load_clip(arguments.clip).rate_hz
    clip = load_clip(arguments.clip, rate_hz / arguments.speed)
    if not clip.frame_count:
        raise ClipError(f"clip {clip.name!r}: it has no frames to play")
    played = Played()
    frames = _frames(clip, rate_hz, arguments.loop, arguments.seconds)
    with until_interrupted(), _performer(clip, arguments) as performer:
        if not arguments.json:
            where = arguments.vmc or f"{arguments.name!r}"
            print(f"playing {clip.name!r} as {where}, {rate_hz:g} Hz", flush=True)
        play(clip, performer, rate_hz, played, frames)
    if arguments.json:
        print(json.dumps({"clip": clip.name, "name": arguments.name, **_json(played)}))
    else:
        print(f"sent {played.frames} frames in {played.seconds:.1f} s, {played.late} of them late")
    return 0


class SendsPoses(Protocol):
    """What a clip is played to."""

    def send(self, root: FloatArray, rotations_xyzw: FloatArray) -> object:
        """Send a pose: `root` (3,) m and full rotations (n, 4)."""


@contextmanager
def _performer(clip: Clip, arguments: argparse.Namespace) -> Iterator[SendsPoses]:
    """A performer that is heard: over VMC if asked for, else by a server that answers."""
    if arguments.vmc is not None:
        with VmcPerformer(clip, arguments.vmc) as performer:
            yield performer
        return
    skeleton = message_from_skeleton(clip.skeleton)
    with Performer(arguments.name, skeleton, arguments.to) as native:
        native.wait_ready(arguments.wait)
        yield native


def play(
    clip: Clip,
    performer: SendsPoses,
    rate_hz: float,
    played: Played,
    frames: int | None = None,
    stop: threading.Event | None = None,
) -> None:
    """Send the clip, over and over, `rate_hz` frames a second, until `frames` are sent or `stop`.

    `played` is kept up to date all the while.
    """
    metronome = Metronome(rate_hz)
    start = time.perf_counter()
    for beat in metronome.beats():
        played.seconds = time.perf_counter() - start
        if beat == frames or (stop is not None and stop.is_set()):
            return
        frame = beat % clip.frame_count
        performer.send(clip.roots[frame], clip.rotations_xyzw[frame])
        played.frames += 1
        played.late = metronome.late


def _frames(clip: Clip, rate_hz: float, loop: bool, seconds: float | None) -> int | None:
    """How many frames to send; None for no end."""
    limits = [] if loop else [clip.frame_count]
    if seconds is not None:
        limits.append(math.ceil(seconds * rate_hz))
    return min(limits, default=None)


def _json(played: Played) -> dict[str, float]:
    return {"frames": played.frames, "late": played.late, "seconds": round(played.seconds, 3)}
