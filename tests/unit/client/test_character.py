"""Characters, plain and asyncio, against a bare publisher in the server's place."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import numpy as np
import pytest
import zmq

from support.sockets import bound
from understudy_client import AsyncCharacter, Character, ClientError, make_skeleton
from understudy_protocol import (
    EventMessage,
    PoseMessage,
    encode_event,
    encode_pose,
    encode_skeleton,
)

SKELETON = make_skeleton(["hips"], [-1], [[0, 1, 0]])


def greet(server: zmq.Socket[bytes]) -> None:
    """Wait for the subscription and answer it as a server does: with the skeleton."""
    assert server.recv() == b"\x01giant/"
    server.send_multipart([b"giant/skeleton", encode_skeleton(SKELETON)])


def publish(server: zmq.Socket[bytes], seq: int) -> None:
    pose = PoseMessage(
        seq=seq,
        skeleton_id=SKELETON.id,
        source_seq=seq,
        root=np.zeros(3),
        rotations_xyzw=np.array([[0.0, 0.0, 0.0, 1.0]]),
        angles_rad=None,
        contacts=b"",
        residual_m=0.0,
        status=0,
        capture_ns=0,
        arrival_ns=0,
        publish_ns=0,
    )
    server.send_multipart([b"giant/pose", encode_pose(pose)])


def greet_and_publish(server: zmq.Socket[bytes], seq: int) -> None:
    greet(server)
    publish(server, seq)


def test_poses_are_iterated_in_order_and_have_a_skeleton() -> None:
    with bound(zmq.XPUB) as (server, address), Character("giant", address) as character:
        greet(server)
        for seq in range(3):
            publish(server, seq)
        poses = list(islice(character, 3))
        assert [pose.seq for pose in poses] == [0, 1, 2]
        assert character.skeleton.joints == ("hips",)
        assert character.skipped == 0


def test_receiving_gives_up_after_its_time_out() -> None:
    with bound(zmq.XPUB) as (server, address), Character("giant", address) as character:
        greet(server)
        assert character.receive(0.0) is None
        assert character.receive(0.02) is None
        publish(server, 4)
        pose = character.receive(10)
        assert pose is not None
        assert pose.seq == 4


def test_there_is_no_skeleton_before_the_first_pose() -> None:
    with (
        bound(zmq.XPUB) as (_, address),
        Character("giant", address) as character,
        pytest.raises(ClientError, match="'giant': nothing has been received yet"),
    ):
        _ = character.skeleton


def test_events_between_poses_reach_the_listener() -> None:
    heard: list[str] = []
    with (
        bound(zmq.XPUB) as (server, address),
        Character("giant", address, lambda event: heard.append(event.text)) as character,
    ):
        greet(server)
        event = EventMessage(kind="stale", text="anna is silent", time_ns=0)
        server.send_multipart([b"giant/event", encode_event(event)])
        publish(server, 0)
        assert character.receive(10) is not None
        assert heard == ["anna is silent"]


def test_a_character_survives_the_server_going_away_and_coming_back() -> None:
    with bound(zmq.XPUB) as (first, address):
        character = Character("giant", address)
        greet(first)
        publish(first, 0)
        assert character.receive(10) is not None
    # It subscribes again while it waits for a pose, so the server is another thread here.
    with character, bound(zmq.XPUB, address) as (second, _), ThreadPoolExecutor(1) as pool:
        greeting = pool.submit(greet_and_publish, second, 100)
        pose = character.receive(10)
        greeting.result(10)
        assert pose is not None
        assert pose.seq == 100


async def test_the_asyncio_character_iterates_and_times_out() -> None:
    with bound(zmq.XPUB) as (server, address):
        async with AsyncCharacter("giant", address) as character:
            greet(server)
            assert await character.receive(0.02) is None
            for seq in range(3):
                publish(server, seq)
            seen: list[int] = []
            async for pose in character:
                seen.append(pose.seq)
                if len(seen) == 3:
                    break
            assert seen == [0, 1, 2]
            assert character.skeleton.joints == ("hips",)
            publish(server, 3)
            last = await character.receive(10)
            assert last is not None
            assert last.seq == 3
