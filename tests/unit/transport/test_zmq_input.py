"""A bound input, and peers of libzmq and others that send to it."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
import zmq

from understudy.transport import AddressError, FrameInput

MAX_BYTES = 1 << 16
TIMEOUT_S = 10.0
SMALL = [b"alice/frame", b"body"]
VERSION_TWO = b"\xff" + bytes(8) + b"\x7f\x01" + b"\x01\x00\x00"
"""The handshake of a publisher of version 2.0 that has no name."""
VERSION_THREE = b"\xff" + bytes(8) + b"\x7f\x03"


@contextmanager
def publishing(source: FrameInput) -> Iterator[zmq.Socket[bytes]]:
    """An XPUB socket of libzmq that has heard the input's subscription."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    publisher = context.socket(zmq.XPUB)
    try:
        publisher.setsockopt(zmq.LINGER, 0)
        publisher.setsockopt(zmq.XPUB_VERBOSE, 1)
        publisher.connect(source.endpoint)
        look_until(source, lambda: bool(publisher.poll(0)))
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


def look_until(source: FrameInput, condition: Callable[[], bool]) -> None:
    end = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < end
        source.receive()


def next_parts(source: FrameInput) -> list[bytes]:
    for _ in range(500):
        arrival = source.receive()
        if arrival is not None:
            return arrival[0]
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
        peer.sendall(VERSION_TWO + b"\x00\x01a\x00\x01b")
        assert next_parts(source) == [b"a"]
        assert source.more
        assert next_parts(source) == [b"b"]
        assert not source.more


def test_a_peer_that_sends_too_much_is_cut_off_and_may_come_again(source: FrameInput) -> None:
    with publishing(source) as calm, publishing(source) as big:
        big.send_multipart((b"big", bytes(MAX_BYTES + 1)))
        # libzmq connects again and is told again what is wanted.
        look_until(source, lambda: bool(big.poll(0)))
        assert source.refused == {"not-zmtp": 1}
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


def test_a_peer_that_asks_whether_we_live_is_answered(source: FrameInput) -> None:
    with raw(source) as peer:
        peer.sendall(VERSION_TWO + b"\x00\x01a")
        assert next_parts(source) == [b"a"]
        peer.sendall(b"\x04\x07\x04PING\x00\x0a" + b"\x00\x01b")
        assert next_parts(source) == [b"b"]
        stream = peer.makefile("rb")
        assert stream.read(14 + 3) == VERSION_THREE + b"\x02\x00\x00" + b"\x00\x01\x01"
        assert stream.read(7) == b"\x04\x05\x04PONG"


def test_who_never_says_what_it_is_is_dropped_after_a_while(source: FrameInput) -> None:
    with publishing(source) as publisher, raw(source) as silent:
        look_until(source, lambda: len(source._selector.get_map()) == 3)
        source._look_around(time.perf_counter_ns() + 11_000_000_000)
        assert len(source._selector.get_map()) == 2
        while silent.recv(100):
            pass
        publisher.send_multipart(SMALL)
        assert next_parts(source) == SMALL


def test_a_performer_that_goes_leaves_nothing_behind(source: FrameInput) -> None:
    for i in range(20):
        with publishing(source) as publisher:
            publisher.send_multipart((b"who", bytes((i,))))
            assert next_parts(source) == [b"who", bytes((i,))]
    look_until(source, lambda: len(source._selector.get_map()) == 1)


def test_a_port_that_is_taken_is_named(source: FrameInput) -> None:
    with pytest.raises(AddressError, match=r"cannot bind .*: address already in use"):
        FrameInput(source.endpoint, MAX_BYTES, 0.02)


@pytest.mark.parametrize(
    "where", ["no-such-host.invalid:7000", "a..b:7000", "127.0.0.1:65536", f"{'a' * 64}:7000"]
)
def test_an_address_nobody_has_is_named(where: str) -> None:
    with pytest.raises(AddressError, match=f"cannot bind tcp://{re.escape(where)}: "):
        FrameInput(f"tcp://{where}", MAX_BYTES, 0.02)


def test_a_name_stands_for_its_first_address_of_version_four() -> None:
    with closing(FrameInput("tcp://localhost:*", MAX_BYTES, 0.02)) as source:
        assert source.endpoint.startswith("tcp://127.0.0.1:")
        with publishing(source) as publisher:
            publisher.send_multipart(SMALL)
            assert next_parts(source) == SMALL


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this system has no IPv6")
def test_an_address_of_version_six_is_taken_as_it_is() -> None:
    with closing(FrameInput("tcp://[::1]:*", MAX_BYTES, 0.02)) as source:
        assert source.endpoint.startswith("tcp://[::1]:")


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no ipc")
def test_a_file_that_is_no_socket_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "precious"
    path.write_text("data", encoding="utf-8")
    with pytest.raises(AddressError, match="in use"):
        FrameInput(f"ipc://{path}", MAX_BYTES, 0.02)
    assert path.read_text(encoding="utf-8") == "data"


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no ipc")
def test_frames_come_over_ipc_and_the_path_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "frames"
    for _ in range(2):
        with closing(FrameInput(f"ipc://{path}", MAX_BYTES, 0.02)) as source:
            with publishing(source) as publisher:
                publisher.send_multipart(SMALL)
                assert next_parts(source) == SMALL
        assert not path.exists()
