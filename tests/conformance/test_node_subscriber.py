"""A subscriber written in another language from the specification alone reads our bytes."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import zmq

from support.node import node_subscriber, parse_lines
from understudy_protocol import topic
from understudy_protocol.topics import DOWNLINK_KINDS
from understudy_protocol.vectors import INVALID, VALID, ValidVector

WIDE = ("seq", "source_seq", "t_capture", "t_arrival", "t_publish", "delay", "t")
SKELETON = "skeleton-full"
TIMEOUT_MS = 60_000


@pytest.fixture
def publisher() -> Iterator[zmq.Socket[bytes]]:
    context = zmq.Context()
    socket = context.socket(zmq.XPUB)
    socket.setsockopt(zmq.LINGER, 0)
    socket.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
    socket.bind("tcp://127.0.0.1:*")
    yield socket
    socket.close()
    context.term()


def by_name(name: str) -> ValidVector:
    return next(vector for vector in VALID if vector.name == name)


def expected(vector: ValidVector) -> dict[str, Any]:
    """A vector's content as the subscriber prints it: 64-bit integers are text."""
    content = {key: str(x) if key in WIDE else x for key, x in vector.content.items()}
    return {"kind": vector.kind, "content": content}


def test_every_message_of_the_downlink_is_read_by_the_node_subscriber(
    publisher: zmq.Socket[bytes],
) -> None:
    skeleton = by_name(SKELETON)
    poses = [vector for vector in VALID if vector.kind == "pose"]
    others = [vector for vector in VALID if vector.kind in ("skeleton", "event")]
    fits = skeleton.content["id"]
    assert all(pose.content["skeleton"] == fits for pose in poses)
    messages = [*others, skeleton, *poses]

    address = publisher.getsockopt_string(zmq.LAST_ENDPOINT)
    command = node_subscriber(address, "anna", len(poses))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert publisher.recv() == b"\x01anna/"
            for vector in messages:
                assert vector.kind in DOWNLINK_KINDS
                publisher.send_multipart([topic("anna", vector.kind), vector.data])
            out, err = process.communicate(timeout=TIMEOUT_MS / 1000)
        finally:
            process.kill()
    assert process.returncode == 0, err.decode()
    assert parse_lines(out.decode()) == [expected(vector) for vector in messages]


def test_the_node_subscriber_skips_what_it_cannot_use_and_goes_on(
    publisher: zmq.Socket[bytes],
) -> None:
    pose, skeleton = by_name("pose"), by_name(SKELETON)
    address = publisher.getsockopt_string(zmq.LAST_ENDPOINT)
    with subprocess.Popen(
        node_subscriber(address, "anna", 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        try:
            assert publisher.recv() == b"\x01anna/"
            # A pose before its skeleton, another character, broken bytes, an unknown kind.
            publisher.send_multipart([b"anna/pose", pose.data])
            publisher.send_multipart([b"anna2/skeleton", skeleton.data])
            for name in ("frame-truncated", "skeleton-version-2", "skeleton-short-parents"):
                broken = next(vector for vector in INVALID if vector.name == name)
                publisher.send_multipart([b"anna/skeleton", broken.data])
            publisher.send_multipart([b"anna/future", pose.data])
            publisher.send_multipart([b"anna/skeleton", skeleton.data])
            publisher.send_multipart([b"anna/pose", pose.data])
            out, err = process.communicate(timeout=TIMEOUT_MS / 1000)
        finally:
            process.kill()
    assert process.returncode == 0, err.decode()
    assert parse_lines(out.decode()) == [expected(skeleton), expected(pose)]


def test_the_node_subscriber_explains_its_arguments() -> None:
    command = node_subscriber("tcp://127.0.0.1:1", "anna", 0)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("usage: ")
