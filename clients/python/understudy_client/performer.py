"""A performer: the body that is captured, sending its frames to a server."""

from __future__ import annotations

import time

import zmq
from numpy.typing import ArrayLike

from understudy_client.clock import now_ns
from understudy_client.errors import ServerUnreachableError
from understudy_client.links import Link, PerformerFacts
from understudy_client.sockets import connect_performer, has_news
from understudy_client.streams import PerformerStream
from understudy_protocol import DEFAULT_UPLINK, SkeletonMessage


class Performer(PerformerFacts, Link):
    """Announces a skeleton and sends frames; never waits for the server.

    Frames sent while there is no server are dropped. The link is made again by itself, and every
    server that (re)appears is told the skeleton before the next frame. One thread at a time may
    use it.
    """

    def __init__(self, name: str, skeleton: SkeletonMessage, address: str = DEFAULT_UPLINK) -> None:
        self._stream = PerformerStream(name, skeleton)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.XPUB)
        connect_performer(self._socket, address)
        self._address = address

    def announce(self, skeleton: SkeletonMessage) -> None:
        """Change the body in mid-stream: the next frame speaks about this skeleton."""
        self._stream.change_skeleton(skeleton)
        self._admit()

    def wait_ready(self, timeout: float = 5.0) -> None:
        """Return once a server listens and has been told the skeleton; at once if one does.

        `timeout` is in seconds; `ServerUnreachableError` is raised when it has passed.
        """
        deadline = time.monotonic() + timeout
        self._admit()
        while not self._stream.wanted:
            left = deadline - time.monotonic()
            if left <= 0.0:
                raise ServerUnreachableError(f"performer {self.name!r}", self._address, timeout)
            self._socket.poll(int(left * 1e3) + 1)
            self._admit()

    def send(
        self,
        root: ArrayLike,
        rotations_xyzw: ArrayLike,
        points: ArrayLike | None = None,
        capture_ns: int | None = None,
    ) -> None:
        """Send one frame.

        `root` (3,) m is where the root is in the world, `rotations_xyzw` (n, 4) are full
        parent_from_joint rotations, `points` (k, 3) m the skeleton's markers (three NaN: not seen).
        `capture_ns` is when it was captured, in ns since the epoch; now, unless given.
        """
        captured_ns = now_ns() if capture_ns is None else capture_ns
        parts = self._stream.frame(root, rotations_xyzw, points, captured_ns)
        self._admit()
        self._socket.send_multipart(parts)

    def goal(
        self,
        character: str,
        effector: str,
        position: ArrayLike | None,
        *,
        orientation_xyzw: ArrayLike | None = None,
        weight: float = 1.0,
        ease_s: float = 0.2,
        capture_ns: int | None = None,
    ) -> None:
        """Ask for an effector of a character to be at `position` (3,) m in the world.

        The goal fades in over `ease_s` seconds and must be repeated at least once a second;
        a position of None releases it.
        """
        captured_ns = now_ns() if capture_ns is None else capture_ns
        self._admit()
        self._socket.send_multipart(
            self._stream.goal(
                character, effector, position, orientation_xyzw, weight, ease_s, captured_ns
            )
        )

    def _admit(self) -> None:
        """Tell the skeleton to whoever has come, and repeat it when it is time to."""
        while has_news(self._socket):
            self._stream.heed(self._socket.recv())
        time_ns = now_ns()
        if self._stream.announcement_due(time_ns):
            self._socket.send_multipart(self._stream.announcement(time_ns))
