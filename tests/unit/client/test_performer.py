"""Performers, plain and asyncio, against a bare socket in the server's place."""

from __future__ import annotations

import numpy as np
import pytest

from support.sockets import Inbox, listening
from understudy_client import (
    AsyncPerformer,
    ClientError,
    Performer,
    ServerUnreachableError,
    make_skeleton,
)
from understudy_protocol import ProtocolError, decode_frame, decode_skeleton

SKELETON = make_skeleton(["hips", "spine"], [-1, 0], [[0.0, 1.0, 0.0], [0.0, 0.5, 0.0]])
OTHER = make_skeleton(["hips", "spine"], [-1, 0], [[0.0, 1.0, 0.0], [0.0, 0.6, 0.0]])
ROOT = np.array([0.0, 1.0, 0.0])
UPRIGHT = np.tile([0.0, 0.0, 0.0, 1.0], (2, 1))
NOBODY = "tcp://127.0.0.1:9"  # the discard port, where no server listens


def next_frame(server: Inbox) -> tuple[list[bytes], int]:
    """The topics that come before the next frame, and that frame's number."""
    before: list[bytes] = []
    while True:
        topic, body = server.get(timeout=10)
        if topic.endswith(b"/frame"):
            return before, decode_frame(body).seq
        before.append(topic)


def test_the_skeleton_comes_before_the_first_frame() -> None:
    with listening() as (server, address), Performer("anna", SKELETON, address) as performer:
        performer.wait_ready(10)
        performer.send(ROOT, UPRIGHT)
        topic, body = server.get(timeout=10)
        assert topic == b"anna/skeleton"
        assert decode_skeleton(body).id == SKELETON.id
        assert next_frame(server)[1] == 0


def test_a_server_that_comes_back_is_told_the_skeleton_again_and_gets_no_stale_frame() -> None:
    with listening() as (first, address):
        performer = Performer("anna", SKELETON, address)
        performer.wait_ready(10)
        performer.send(ROOT, UPRIGHT)
        assert next_frame(first)[1] == 0
    with performer:
        assert performer._socket.poll(10_000)  # the news that nobody listens any more
        for _ in range(10):
            performer.send(ROOT, UPRIGHT)
        with listening(address) as (second, _):
            performer.wait_ready(10)
            performer.send(ROOT, UPRIGHT)
            assert next_frame(second) == ([b"anna/skeleton"], 11)


def test_a_change_of_skeleton_is_announced_before_the_next_frame() -> None:
    with listening() as (server, address), Performer("anna", SKELETON, address) as performer:
        performer.wait_ready(10)
        performer.send(ROOT, UPRIGHT)
        next_frame(server)
        performer.announce(OTHER)
        performer.send(ROOT, UPRIGHT)
        topic, body = server.get(timeout=10)
        assert topic == b"anna/skeleton"
        assert decode_skeleton(body).id == OTHER.id
        assert decode_frame(server.get(timeout=10)[1]).skeleton_id == OTHER.id


def test_goals_are_sent_under_the_name_of_the_character() -> None:
    with listening() as (server, address), Performer("anna", SKELETON, address) as performer:
        performer.wait_ready(10)
        performer.goal("giant", "leftHand", [0, 1, 0])
        topics = [server.get(timeout=10)[0] for _ in range(2)]
        assert topics == [b"anna/skeleton", b"giant/goal"]


def test_sending_without_a_server_does_not_wait() -> None:
    with Performer("anna", SKELETON, NOBODY) as performer:
        for _ in range(200):
            performer.send(ROOT, UPRIGHT)
        assert performer.frames == 200


def test_waiting_for_a_server_that_never_comes_ends_with_its_address() -> None:
    with (
        Performer("anna", SKELETON, NOBODY) as performer,
        pytest.raises(ServerUnreachableError, match=r"performer 'anna': .*:9 within 0.05 s"),
    ):
        performer.wait_ready(0.05)


def test_an_address_that_is_none_is_refused_in_one_line() -> None:
    with pytest.raises(ClientError, match="cannot connect to 'nowhere'"):
        Performer("anna", SKELETON, "nowhere")


def test_a_name_with_a_slash_is_refused() -> None:
    with pytest.raises(ProtocolError, match="'/'"):
        Performer("anna/b", SKELETON, NOBODY)


async def test_the_asyncio_performer_announces_and_sends() -> None:
    with listening() as (server, address):
        async with AsyncPerformer("anna", SKELETON, address) as performer:
            await performer.wait_ready(10)
            await performer.send(ROOT, UPRIGHT)
            before, seq = next_frame(server)
            assert before == [b"anna/skeleton"]
            assert seq == 0
            await performer.announce(OTHER)
            await performer.goal("giant", "leftHand", [0, 1, 0])
            assert server.get(timeout=10)[0] == b"anna/skeleton"
            assert server.get(timeout=10)[0] == b"giant/goal"


async def test_the_asyncio_performer_gives_up_waiting_too() -> None:
    async with AsyncPerformer("anna", SKELETON, NOBODY) as performer:
        with pytest.raises(ServerUnreachableError, match="performer 'anna'"):
            await performer.wait_ready(0.05)
