"""A bound input, and peers of libzmq and others that send to it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import zmq

from understudy.transport import AddressError, FrameInput

MAX_BYTES = 1 << 16
TIMEOUT_S = 10.0
SMALL = [b"alice/frame", b"body"]


@contextmanager
def publishing(source: FrameInput) -> Iterator[zmq.Socket[bytes]]:
    """An XPUB socket of libzmq that has heard the input's subscription."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    try:
        publisher.setsockopt(zmq.LINGER, 0)
        publisher.setsockopt(zmq.HEARTBEAT_IVL, 50)
        publisher.setsockopt(zmq.XPUB_VERBOSE, 1)
        publisher.connect(source.endpoint)
        while not publisher.poll(0):
            source.receive()
        assert publisher.recv() == b"\x01"
        yield publisher
    finally:
        publisher.close()
        context.term()


def raw(source: FrameInput) -> socket.socket:
    host, port = source.endpoint.removeprefix("tcp://").split(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


@pytest.fixture
def source() -> Iterator[FrameInput]:
    with closing(FrameInput("tcp://127.0.0.1:*", MAX_BYTES, 0.02)) as source:
        yield source


def next_parts(source: FrameInput) -> list[bytes]:
    for _ in range(500):
        arrival = source.receive()
        if arrival is not None:
            return arrival.parts
    raise AssertionError("nothing came")


def test_messages_of_several_performers_come_whole_and_in_order(source: FrameInput) -> None:
    with publishing(source) as one, publishing(source) as two:
        for i in range(200):
            one.send_multipart((b"one", bytes(i)))
            two.send_multipart((b"two", bytes(2 * i)))
        heard: dict[bytes, list[bytes]] = {b"one": [], b"two": []}
        while len(heard[b"one"]) + len(heard[b"two"]) < 400:
            name, body = next_parts(source)
            heard[name].append(body)
    assert heard == {
        b"one": [bytes(i) for i in range(200)],
        b"two": [bytes(2 * i) for i in range(200)],
    }


def test_more_says_whether_another_message_is_there_already(source: FrameInput) -> None:
    with raw(source) as peer:
        peer.sendall(b"\xff" + bytes(8) + b"\x7f\x01" + b"\x01\x00\x00" + b"\x00\x01a\x00\x01b")
        assert next_parts(source) == [b"a"]
        assert source.more
        assert next_parts(source) == [b"b"]
        assert not source.more


def test_a_peer_that_sends_too_much_is_cut_off_and_may_come_again(source: FrameInput) -> None:
    with publishing(source) as calm, publishing(source) as big:
        big.send_multipart((b"big", bytes(MAX_BYTES + 1)))
        # libzmq connects again and is told again what is wanted.
        while not big.poll(0):
            source.receive()
        assert big.recv() == b"\x01"
        calm.send_multipart(SMALL)
        assert next_parts(source) == SMALL


def test_what_is_no_zmtp_is_cut_off_and_disturbs_nobody(source: FrameInput) -> None:
    with publishing(source) as publisher, raw(source) as stranger:
        stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
        publisher.send_multipart(SMALL)
        assert next_parts(source) == SMALL
        source.receive()
        stranger.settimeout(TIMEOUT_S)
        answer = stranger.recv(100)
        assert answer == b"" or (answer.startswith(b"\xff") and stranger.recv(100) == b"")


def test_a_performer_that_goes_leaves_nothing_behind(source: FrameInput) -> None:
    for i in range(20):
        with publishing(source) as publisher:
            publisher.send_multipart((b"who", bytes((i,))))
            assert next_parts(source) == [b"who", bytes((i,))]
    while len(source._selector.get_map()) > 1:
        source.receive()


def test_a_port_that_is_taken_is_named(source: FrameInput) -> None:
    with pytest.raises(AddressError, match=r"cannot bind .*: address already in use"):
        FrameInput(source.endpoint, MAX_BYTES, 0.02)


def test_a_host_nobody_has_is_named() -> None:
    with pytest.raises(AddressError, match=r"cannot bind tcp://no-such-host\.invalid:7000: "):
        FrameInput("tcp://no-such-host.invalid:7000", MAX_BYTES, 0.02)


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no ipc")
def test_frames_come_over_ipc_and_the_path_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "frames"
    for _ in range(2):
        with closing(FrameInput(f"ipc://{path}", MAX_BYTES, 0.02)) as source:
            with publishing(source) as publisher:
                publisher.send_multipart(SMALL)
                assert next_parts(source) == SMALL
        assert not path.exists()
