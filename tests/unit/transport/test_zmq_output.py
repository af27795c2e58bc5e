"""A bound output, and subscribers of libzmq that come, go, sleep and talk nonsense."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
import zmq

from support.audience import open_output, subscribed

TIMEOUT_S = 10.0


def test_a_subscriber_gets_what_it_asked_for_after_its_greeting() -> None:
    def greeting(prefix: bytes) -> Iterable[tuple[bytes, bytes]]:
        return [(b"hero/skeleton", b"for " + prefix)]

    with open_output(greeting) as (output, changes), subscribed(output.endpoint, b"hero/") as one:
        changes.wait_for_one()
        output.send(b"giant/pose", b"no")
        output.send(b"hero/pose", b"yes")
        output.send(b"hero/pose", bytes(1000))
        assert one.recv_multipart() == [b"hero/skeleton", b"for hero/"]
        assert one.recv_multipart() == [b"hero/pose", b"yes"]
        assert one.recv_multipart() == [b"hero/pose", bytes(1000)]


def test_subscriptions_are_given_back_one_by_one() -> None:
    with open_output() as (output, changes), subscribed(output.endpoint, b"a", b"b") as one:
        changes.wait_until(lambda: output.wants(b"a") and output.wants(b"b"))
        one.setsockopt(zmq.UNSUBSCRIBE, b"a")
        changes.wait_until(lambda: not output.wants(b"a"))
        output.send(b"a", b"1")
        output.send(b"b", b"2")
        assert one.recv_multipart() == [b"b", b"2"]


def test_what_is_no_subscription_changes_nothing() -> None:
    with open_output() as (output, changes), raw_subscriber(output.endpoint) as peer:
        peer.sendall(b"\x00\x01\x07" + b"\x00\x00" + b"\x00\x02\x00b" + b"\x00\x02\x01c")
        changes.wait_until(lambda: output.wants(b"c"))
        output.send(b"t", (1).to_bytes(4, "big") + bytes(300))
        assert len(bodies(peer, 1)) == 1


def test_who_wants_everything_wants_nothing_in_particular() -> None:
    with open_output() as (output, changes), subscribed(output.endpoint, b"") as one:
        changes.wait_for_one()
        assert not output.wants(b"a")
        output.send(b"a", b"1")
        assert one.recv_multipart() == [b"a", b"1"]


def test_what_is_gathered_leaves_together_and_soon() -> None:
    with open_output() as (output, changes), subscribed(output.endpoint, b"") as one:
        changes.wait_for_one()
        output.gather(True)
        output.send(b"a", b"0")
        assert not one.poll(50)
        output.flush()
        assert one.recv_multipart() == [b"a", b"0"]
        for i in range(8):
            output.send(b"a", bytes((i,)))
        assert [one.recv_multipart()[1] for _ in range(8)] == [bytes((i,)) for i in range(8)]
        output.send(b"a", b"waits")
        output.gather(False)
        output.send(b"a", b"last")
        assert [one.recv_multipart()[1] for _ in range(2)] == [b"waits", b"last"]


def test_a_sleeper_gets_whole_messages_and_the_newest_when_it_wakes() -> None:
    with open_output() as (output, changes), raw_subscriber(output.endpoint) as sleeper:
        changes.wait_for_one()
        count = 60
        for i in range(count):
            output.send(b"t", i.to_bytes(4, "big") + bytes(100_000))
        heard = [int.from_bytes(body[:4], "big") for body in bodies(sleeper, count - 1)]
        assert heard == sorted(heard)
        assert heard[-1] == count - 1


def test_threads_that_send_at_once_do_not_mix_their_messages() -> None:
    with open_output() as (output, changes), subscribed(output.endpoint, b"") as one:
        changes.wait_for_one()
        one.setsockopt(zmq.RCVHWM, 0)

        def work(name: bytes) -> None:
            for i in range(500):
                output.send(name, name * (100 + i))

        threads = [threading.Thread(target=work, args=(bytes((65 + i,)),)) for i in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(2000):
            topic, body = one.recv_multipart()
            assert set(body) == {topic[0]}
        for thread in threads:
            thread.join()


def test_a_hundred_come_and_go() -> None:
    with open_output(lambda prefix: [(b"t", b"hello")]) as (output, changes):
        for _ in range(100):
            with subscribed(output.endpoint, b"t") as one:
                assert one.recv_multipart() == [b"t", b"hello"]
        changes.wait_until(lambda: not output.wants(b"t"))
        output.send(b"t", b"nobody hears this")


def test_what_is_no_zmtp_is_cut_off_and_disturbs_nobody() -> None:
    with open_output() as (output, changes), subscribed(output.endpoint, b"") as one:
        changes.wait_for_one()
        with connected(output.endpoint) as stranger:
            stranger.sendall(b"\x16\x03\x01hello over TLS")
            while stranger.recv(100):
                pass
        output.send(b"a", b"1")
        assert one.recv_multipart() == [b"a", b"1"]


@pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="this system has no ipc")
def test_poses_leave_over_ipc(tmp_path: Path) -> None:
    with (
        open_output(address=f"ipc://{tmp_path / 'poses'}") as (output, changes),
        subscribed(output.endpoint, b"") as one,
    ):
        changes.wait_for_one()
        output.send(b"a", b"1")
        assert one.recv_multipart() == [b"a", b"1"]


def connected(endpoint: str) -> socket.socket:
    host, port = endpoint.removeprefix("tcp://").split(":")
    return socket.create_connection((host, int(port)), TIMEOUT_S)


def raw_subscriber(endpoint: str) -> socket.socket:
    """A subscriber of version 2.0 to everything, which reads nothing."""
    peer = connected(endpoint)
    peer.sendall(b"\xff" + bytes(8) + b"\x7f\x01" + b"\x02\x00\x00" + b"\x00\x01\x01")
    return peer


def bodies(peer: socket.socket, last: int) -> list[bytes]:
    """What such a subscriber reads, up to the message that is numbered `last`."""
    stream = peer.makefile("rb")
    assert stream.read(14) == b"\xff" + bytes(8) + b"\x7f\x03" + b"\x01\x00\x00"
    found: list[bytes] = []
    while not found or int.from_bytes(found[-1][:4], "big") != last:
        assert stream.read(3) == b"\x01\x01t"
        flags = stream.read(1)
        assert flags == b"\x02"
        size = int.from_bytes(stream.read(8), "big")
        found.append(stream.read(size))
        assert len(found[-1]) == size
    return found
