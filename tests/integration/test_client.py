"""The client against a real server."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest

from support.live import serving
from understudy.characters import load_clip
from understudy.ingest import message_from_skeleton
from understudy_client import (
    AsyncCharacter,
    AsyncPerformer,
    Character,
    Control,
    Performer,
    RequestRefusedError,
)
from understudy_protocol import PoseMessage

SESSION = {"performer": "anna", "character": "giant"}
CLIP = load_clip("walk", 60.0)
SKELETON = message_from_skeleton(CLIP.skeleton)
TIMEOUT_S = 20.0


def send(performer: Performer, frame: int) -> None:
    frame %= CLIP.frame_count
    performer.send(CLIP.roots[frame], CLIP.rotations_xyzw[frame])


def perform_until(performer: Performer, seen: Callable[[], PoseMessage | None]) -> PoseMessage:
    """Send frames until a pose is seen: the first ones may come before the server is ready."""
    for frame in range(2000):
        send(performer, frame)
        pose = seen()
        if pose is not None:
            return pose
    raise AssertionError("no pose came")


def test_frames_go_in_and_poses_of_another_body_come_out() -> None:
    with (
        serving(SESSION) as server,
        Character("giant", server.endpoints.output) as character,
        Performer("anna", SKELETON, server.endpoints.input) as performer,
    ):
        performer.wait_ready(TIMEOUT_S)
        first = perform_until(performer, lambda: character.receive(0.02))
        for frame in range(first.source_seq + 1, first.source_seq + 6):
            send(performer, frame)
        poses = list(islice(character, 5))
        assert [pose.seq for pose in poses] == list(range(first.seq + 1, first.seq + 6))
        assert character.skeleton.joints == SKELETON.joints
        assert poses[0].root[1] > 1.3 * CLIP.roots[0][1]  # hips of a giant
        assert np.isfinite(poses[-1].rotations_xyzw).all()
        assert character.skipped == 0


def test_performer_and_character_survive_a_server_that_is_started_anew() -> None:
    with serving(SESSION) as server:
        endpoints = server.endpoints
        performer = Performer("anna", SKELETON, endpoints.input)
        heard: list[str] = []
        character = Character("giant", endpoints.output, lambda event: heard.append(event.kind))
        performer.wait_ready(TIMEOUT_S)
        perform_until(performer, lambda: character.receive(0.02))
    addresses = {key: getattr(endpoints, key) for key in ("input", "output", "control")}
    with performer, character:
        while character.receive(0.1) is not None:
            pass  # what the first server still said
        with serving(SESSION, server=addresses):
            perform_until(performer, lambda: character.receive(0.02))
            assert character.skeleton.joints == SKELETON.joints


def test_control_asks_and_is_refused() -> None:
    with serving(SESSION) as server, Control(server.endpoints.control, TIMEOUT_S) as control:
        hello = control.hello()
        assert hello["server"] == "understudy"
        assert hello["uplink"] == server.endpoints.input
        assert [entry["name"] for entry in control.request("list")["characters"]] == ["giant"]
        with pytest.raises(RequestRefusedError, match="'elf'") as caught:
            control.request("reset", character="elf")
        assert caught.value.reason == "unknown-character"
        measured = control.clock_offset()
        # One machine, two clocks of one kind: they differ by less than the way between them.
        assert abs(measured.offset_ns) <= measured.round_trip_ns / 2 + 1_000_000


async def test_the_asyncio_twins_do_the_same() -> None:
    with serving(SESSION) as server:
        async with (
            AsyncCharacter("giant", server.endpoints.output) as character,
            AsyncPerformer("anna", SKELETON, server.endpoints.input) as performer,
        ):
            await performer.wait_ready(TIMEOUT_S)
            pose = None
            for frame in range(2000):
                place = frame % CLIP.frame_count
                await performer.send(CLIP.roots[place], CLIP.rotations_xyzw[place])
                pose = await character.receive(0.02)
                if pose is not None:
                    break
            assert pose is not None
            assert character.skeleton.joints == SKELETON.joints
