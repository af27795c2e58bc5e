"""A bound output, and subscribers of libzmq that come, go, sleep and talk nonsense."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest
import zmq

from support.audience import open_output, subscribed
from understudy.transport.subscriber import Subscriber

TIMEOUT_S = 10.0
WELCOME = b"\xff" + bytes(8) + b"\x7f\x03" + b"\x01\x00\x00"
"""What a publisher says to a subscriber of version 2.0."""


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
    with open_output() as (output, changes), raw_subscriber(output.endpoint) as peer:
        changes.wait_for_one()
        assert peer.recv(14, socket.MSG_WAITALL) == WELCOME
        peer.setblocking(False)
        output.gather(True)
        for _ in range(7):
            output.send(b"a", b"gathered")
        with pytest.raises(BlockingIOError):
            peer.recv(1)
        # Another thread's messages wait for nobody, and take along what was gathered.
        other = threading.Thread(target=output.send, args=(b"b", b"at once"))
        other.start()
        other.join()
        peer.setblocking(True)
        gathered, at_once = b"\x01\x01a\x00\x08gathered", b"\x01\x01b\x00\x07at once"
        assert peer.recv(1000) == 7 * gathered + at_once
        for _ in range(32):
            output.send(b"a", b"gathered")
        assert peer.recv(1000) == 32 * gathered
        output.send(b"a", b"gathered")
        output.flush()
        assert peer.recv(1000) == gathered
        output.send(b"a", b"gathered")
        output.gather(False)
        output.send(b"b", b"at once")
        assert peer.recv(1000) == gathered + at_once


def test_who_asks_again_is_not_greeted_again() -> None:
    def numbered(number: int) -> bytes:
        return number.to_bytes(4, "big") + bytes(300)

    with (
        open_output(lambda prefix: [(b"t", numbered(7))]) as (output, changes),
        raw_subscriber(output.endpoint) as peer,
    ):
        peer.sendall(b"\x00\x01\x01" * 1000 + b"\x00\x02\x01t")
        changes.wait_until(lambda: output.wants(b"t"))
        output.send(b"t", numbered(9))
        assert bodies(peer, 9) == [numbered(7), numbered(7), numbered(9)]


def test_who_asks_for_too_much_is_cut_off() -> None:
    with open_output() as (output, changes), raw_subscriber(output.endpoint) as peer:
        peer.sendall(b"".join(b"\x00\x03\x01" + i.to_bytes(2, "big") for i in range(300)))
        while peer.recv(1000):
            pass
        changes.wait_until(lambda: not output.wants(b"\0\1"))


def test_what_is_not_taken_in_time_is_dropped_oldest_first() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setblocking(False)
        one = Subscriber(ours)
        one.put(bytes(1 << 22), 0)
        assert not one.flush()
        for i in range(100):
            one.put(b"%03d" % i, i * 10_000_000)
        assert [message for _, message in one._waiting] == [b"%03d" % i for i in range(74, 100)]
        for i in range(100):
            one.put(bytes(1 << 20), 990_000_000 + i)
        assert sum(len(message) for _, message in one._waiting) <= 6 << 20


def test_who_reads_late_gets_whole_messages_in_their_order() -> None:
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
    assert stream.read(14) == WELCOME
    found: list[bytes] = []
    while not found or int.from_bytes(found[-1][:4], "big") != last:
        assert stream.read(3) == b"\x01\x01t"
        flags = stream.read(1)
        assert flags == b"\x02"
        size = int.from_bytes(stream.read(8), "big")
        found.append(stream.read(size))
        assert len(found[-1]) == size
    return found
