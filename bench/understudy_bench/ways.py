"""The sockets to a process and back, for each transport."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

import zmq

from understudy_bench.processes import BenchError
from understudy_bench.vmc_frames import VmcAnswers
from understudy_client.sockets import connect_character, connect_performer
from understudy_protocol import decode_frame, decode_pose

HERE: Final = "127.0.0.1"
_LOOK_MS: Final = 100
_CONNECT_S: Final = 10.0
_RECEIVE_BYTES: Final = 4 << 20
_LARGEST: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Receipt:
    """What an answer tells: the frame it is about, and moments on the server's wall clock (ns).

    Over VMC `publish_ns` counts from the server's first pose, and there is no `arrival_ns`.
    """

    seq: int
    arrival_ns: int = 0
    publish_ns: int = 0


class Way(Protocol):
    """How frames get to a process, and its answers back; `receive` and `read` are one thread's."""

    def open(self) -> None:
        """Wait until the process listens; BenchError if it does not."""

    def send(self, parts: Sequence[bytes]) -> None:
        """Send one frame."""

    def receive(self) -> Sequence[bytes] | None:
        """What comes next, None if nothing does for a while."""

    def read(self, parts: Sequence[bytes]) -> Receipt | None:
        """Which frame is answered by what came, if any."""

    def close(self) -> None:
        """Close the sockets."""


Reader = Callable[[bytes, bytes], Receipt | None]


def read_echo(topic: bytes, body: bytes) -> Receipt | None:
    """A frame that came back as it was; the echo returns skeletons too."""
    return Receipt(decode_frame(body).seq) if topic.endswith(b"/frame") else None


def read_pose(topic: bytes, body: bytes) -> Receipt | None:
    """A pose; skeletons and events are passed over."""
    if not topic.endswith(b"/pose"):
        return None
    pose = decode_pose(body)
    return Receipt(pose.source_seq, pose.arrival_ns, pose.publish_ns)


class ZmqWay:
    """ZeroMQ: a performer's socket up, a subscriber's down."""

    def __init__(
        self,
        endpoints: Mapping[str, str],
        announcement: Sequence[bytes],
        prefix: bytes,
        read: Reader,
    ) -> None:
        self._announcement = announcement
        self._read = read
        self._down: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        self._down.setsockopt(zmq.RCVTIMEO, _LOOK_MS)
        connect_character(self._down, endpoints["output"], prefix)
        self._up: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.XPUB)
        self._up.setsockopt(zmq.RCVTIMEO, int(_CONNECT_S * 1e3))
        connect_performer(self._up, endpoints["input"])

    def open(self) -> None:
        """Wait for the process's subscription, then announce the skeleton."""
        try:
            self._up.recv()
        except zmq.Again:
            raise BenchError("a process does not listen to frames") from None
        self._up.send_multipart(self._announcement)

    def send(self, parts: Sequence[bytes]) -> None:
        """Send topic and body."""
        self._up.send_multipart(parts)

    def receive(self) -> Sequence[bytes] | None:
        """Topic and body of the next message."""
        try:
            return self._down.recv_multipart()
        except zmq.Again:
            return None

    def read(self, parts: Sequence[bytes]) -> Receipt | None:
        """Which frame a message answers."""
        return self._read(parts[0], parts[1])

    def close(self) -> None:
        """Close both sockets."""
        self._up.close(0)
        self._down.close(0)


class VmcWay:
    """VMC: datagrams to a performer's port, and back to one of ours, bound from the beginning."""

    def __init__(self) -> None:
        self._up = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._down = bound_socket()
        self._down.settimeout(_LOOK_MS * 1e-3)
        self._to: tuple[str, int] | None = None
        self._answers = VmcAnswers()

    @property
    def target(self) -> str:
        """HOST:PORT that answers are to be sent to."""
        return f"{HERE}:{self._down.getsockname()[1]}"

    def connect(self, address: str) -> None:
        """Send to HOST:PORT from here on."""
        host, port = address.rsplit(":", 1)
        self._to = (host, int(port))

    def open(self) -> None:
        """Nothing to wait for: a datagram's receiver says nothing."""

    def send(self, parts: Sequence[bytes]) -> None:
        """Send a frame's datagrams."""
        assert self._to is not None
        for part in parts:
            self._up.sendto(part, self._to)

    def receive(self) -> Sequence[bytes] | None:
        """The next datagram."""
        try:
            return (self._down.recv(_LARGEST),)
        except TimeoutError:
            return None

    def read(self, parts: Sequence[bytes]) -> Receipt | None:
        """Which frame a datagram completes."""
        answer = self._answers.feed(parts[0])
        return None if answer is None else Receipt(answer.seq, 0, int(answer.time_s * 1e9))

    def close(self) -> None:
        """Close both sockets."""
        self._up.close()
        self._down.close()


def bound_socket() -> socket.socket:
    """A UDP socket on a free port of this machine, with room for a burst."""
    bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with suppress(OSError):  # some systems refuse what others cut to size
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_BYTES)
    bound.bind((HERE, 0))
    return bound
