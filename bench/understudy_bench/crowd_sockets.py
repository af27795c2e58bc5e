"""The sockets of a crowd: many performers who send the same frame, and the answers to each."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import zmq

from understudy.characters import Clip
from understudy_bench.motion import EndlessMotion
from understudy_bench.processes import BenchError
from understudy_bench.vmc_frames import VmcAnswers, VmcClip
from understudy_bench.ways import bound_socket
from understudy_protocol.wire import Fields

# Both ways, so that the bench's own sockets never drop what a busy process still answers.
_QUEUE: Final = 100_000
_LOOK_MS: Final = 100
_CONNECT_MS: Final = 30_000
_LARGEST: Final = 1 << 16


class CrowdSockets(Protocol):
    """What a crowd needs of its sockets."""

    @property
    def cast(self) -> Sequence[Sequence[int]]:
        """For each performer the rows, numbered through, on which its answers are awaited."""

    def open(self) -> None:
        """Wait until the process listens."""

    def prepare(self, seq: int, capture_ns: int) -> None:
        """Make the frame that every performer sends next."""

    def send(self, performer: int) -> None:
        """Send it."""

    def receive(self) -> tuple[int, int] | None:
        """Row and frame number of the next answer; None if something else came, or nothing."""

    def close(self) -> None:
        """Close the sockets."""


def performer_name(number: int) -> str:
    """All are equally long."""
    return f"performer-{number:03d}"


class ZmqCrowd:
    """Over ZeroMQ: one socket for all performers, one for all answers.

    `answers` names, for each performer, the topics on which its answers come.
    """

    def __init__(
        self,
        endpoints: Mapping[str, str],
        clip: Clip,
        answers: Sequence[Sequence[bytes]],
        seq_field: str,
    ) -> None:
        self._motions = [EndlessMotion(performer_name(i), clip) for i in range(len(answers))]
        self._rows = {topic: row for row, topic in enumerate(t for ts in answers for t in ts)}
        self.cast = [[self._rows[topic] for topic in topics] for topics in answers]
        self._seq_field = seq_field
        self._body = b""
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._up, self._down = self._context.socket(zmq.XPUB), self._context.socket(zmq.SUB)
        for each in (self._up, self._down):
            each.setsockopt(zmq.LINGER, 0)
        self._up.setsockopt(zmq.SNDHWM, _QUEUE)
        self._up.setsockopt(zmq.RCVTIMEO, _CONNECT_MS)
        self._down.setsockopt(zmq.RCVHWM, _QUEUE)
        self._down.setsockopt(zmq.RCVTIMEO, _LOOK_MS)
        self._down.setsockopt(zmq.SUBSCRIBE, b"")
        self._down.connect(endpoints["output"])
        self._up.connect(endpoints["input"])

    def open(self) -> None:
        """Wait for the process's subscription, then announce every performer's skeleton."""
        try:
            self._up.recv()
        except zmq.Again:
            raise BenchError("a process does not listen to frames") from None
        for motion in self._motions:
            self._up.send_multipart(motion.announcement)

    def prepare(self, seq: int, capture_ns: int) -> None:
        """Encode the frame, once for all."""
        self._body = self._motions[0].body(seq, capture_ns)

    def send(self, performer: int) -> None:
        """Send it under the performer's topic."""
        self._up.send_multipart((self._motions[performer].frame_topic, self._body))

    def receive(self) -> tuple[int, int] | None:
        """Whose pose it is, and of which frame."""
        try:
            topic, body, *_ = self._down.recv_multipart()
        except zmq.Again:
            return None
        row = self._rows.get(topic)
        if row is None:
            return None
        return row, Fields.read("answer", body).integer(self._seq_field, 0, 1 << 62)

    def close(self) -> None:
        """Close both sockets."""
        self._up.close()
        self._down.close()
        self._context.term()


class VmcCrowd:
    """Over VMC: a port of the process for each performer, and one of ours for all answers.

    `characters[i]` is how many answers each frame of performer i gets. They carry the performer's
    name; which of its characters one is, the port it is sent from tells.
    """

    def __init__(self, clip: Clip, characters: Sequence[int]) -> None:
        names = [performer_name(i) for i in range(len(characters))]
        rows = iter(range(sum(characters)))
        self.cast = [[next(rows) for _ in range(count)] for count in characters]
        self._numbers = {name: number for number, name in enumerate(names)}
        self._names = names
        self._clip = VmcClip(clip, len(names[0]))
        self._free = [list(rows) for rows in self.cast]
        self._senders: dict[tuple[str, int], tuple[VmcAnswers, list[int]]] = {}
        self._frame = (0, 0.0)
        self._first_ns: int | None = None
        self._down = bound_socket()
        self._down.settimeout(_LOOK_MS * 1e-3)
        # A socket for each: a server listens to one sender at a time.
        self._ups = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in characters]

    @property
    def target(self) -> str:
        """HOST:PORT that answers are to be sent to."""
        return "{}:{}".format(*self._down.getsockname())

    @property
    def performers(self) -> Sequence[str]:
        """Their names."""
        return self._names

    def connect(self, udp: Mapping[str, str]) -> None:
        """Performers send to these, HOST:PORT by their names."""
        for name, up in zip(self._names, self._ups, strict=True):
            host, port = udp[name].rsplit(":", 1)
            up.connect((host, int(port)))

    def open(self) -> None:
        """Nothing to wait for: a datagram's receiver says nothing."""

    def prepare(self, seq: int, capture_ns: int) -> None:
        """Note what the frame is."""
        if self._first_ns is None:
            self._first_ns = capture_ns
        self._frame = (seq, (capture_ns - self._first_ns) * 1e-9)

    def send(self, performer: int) -> None:
        """Send the performer's datagrams."""
        up = self._ups[performer]
        for datagram in self._clip.datagrams(self._names[performer], *self._frame):
            up.send(datagram)

    def receive(self) -> tuple[int, int] | None:
        """Whose pose a datagram completes, and of which frame."""
        try:
            datagram, sender = self._down.recvfrom(_LARGEST)
        except TimeoutError:
            return None
        known = self._senders.get(sender)
        if known is None:
            known = self._senders[sender] = (VmcAnswers(), [])
        answers, row = known
        answer = answers.feed(datagram)
        if answer is None:
            return None
        if not row:
            row.append(self._free[self._numbers[answer.performer]].pop(0))
        return row[0], answer.seq

    def close(self) -> None:
        """Close every socket."""
        for each in (*self._ups, self._down):
            each.close()
