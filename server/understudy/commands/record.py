"""`understudy record`: a character's stream as a BVH file."""

from __future__ import annotations

import argparse
import json
import time

from understudy.characters import write_bvh
from understudy.commands.arguments import (
    add_downlink,
    add_json,
    add_output,
    add_seconds,
    add_wait,
    count,
    number,
)
from understudy.commands.ending import until_interrupted
from understudy.errors import UnderstudyError
from understudy.takes import clip_from_poses
from understudy_client import Character
from understudy_protocol import PoseMessage

EXAMPLE = "example: understudy record giant -o giant.bvh --seconds 5"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("character", metavar="CHARACTER", help="whose stream")
    add_output(parser)
    parser.add_argument("--frames", type=count, metavar="N", help="end after N poses")
    add_seconds(parser, "end")
    parser.add_argument(
        "--rate",
        type=number(1.0, 1000.0, "Hz"),
        metavar="HZ",
        help="frames a second in the file (default: as they come)",
    )
    add_downlink(parser)
    add_wait(parser, "no pose comes")
    add_json(parser, "a summary at the end")


def run(arguments: argparse.Namespace) -> int:
    """Record until told to stop, then write."""
    poses: list[PoseMessage] = []
    with Character(arguments.character, arguments.downlink) as character:
        with until_interrupted():
            _collect(character, poses, arguments)
        if not poses:
            raise UnderstudyError(
                f"no pose of {arguments.character!r} came from {arguments.downlink};"
                " nothing was written"
            )
        clip = clip_from_poses(arguments.character, character.skeleton, poses, arguments.rate)
    write_bvh(arguments.output, clip)
    lost = poses[-1].seq - poses[0].seq + 1 - len(poses)
    if arguments.json:
        summary = {
            "output": str(arguments.output),
            "frames": clip.frame_count,
            "rate_hz": clip.rate_hz,
            "seconds": round(clip.duration_s, 3),
            "lost": lost,
        }
        print(json.dumps(summary))
    else:
        print(
            f"wrote {arguments.output}: {clip.frame_count} frames at {clip.rate_hz:g} Hz,"
            f" {clip.duration_s:.2f} s, {lost} poses lost on the way"
        )
    return 0


def _collect(character: Character, poses: list[PoseMessage], arguments: argparse.Namespace) -> None:
    """Append poses until enough have come, the stream ends, or the body changes."""
    end = None
    joints: tuple[str, ...] = ()
    while arguments.frames is None or len(poses) < arguments.frames:
        left = arguments.wait if end is None else min(arguments.wait, end - time.monotonic())
        pose = character.receive(max(0.0, left))
        if pose is None:
            return
        if not poses:
            joints = character.skeleton.joints
            end = None if arguments.seconds is None else time.monotonic() + arguments.seconds
        if character.skeleton.joints != joints or (poses and pose.seq <= poses[-1].seq):
            return
        poses.append(pose)
        if end is not None and time.monotonic() >= end:
            return
