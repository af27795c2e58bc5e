"""A character: who is animated, its poses arriving from a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import zmq

from understudy_client.links import CharacterFacts, Link
from understudy_client.sockets import connect_character
from understudy_client.streams import CharacterStream
from understudy_protocol import DEFAULT_DOWNLINK, EventMessage, PoseMessage


class Character(CharacterFacts, Link):
    """Iterates over the poses of a character, for ever; the link is made again by itself.

    Events about the character are given to `on_event` as they are met between poses. A reader that
    falls behind loses poses, which shows as gaps in their `seq`. One thread at a time may use it.
    """

    def __init__(
        self,
        name: str,
        address: str = DEFAULT_DOWNLINK,
        on_event: Callable[[EventMessage], None] | None = None,
    ) -> None:
        self._stream = CharacterStream(name, on_event)
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        connect_character(self._socket, address, self._stream.prefix)

    def __iter__(self) -> Iterator[PoseMessage]:
        return self

    def __next__(self) -> PoseMessage:
        pose = self.receive()
        assert pose is not None  # without a time-out it waits
        return pose

    def receive(self, timeout: float | None = None) -> PoseMessage | None:
        """The next pose, or None when none came within `timeout` seconds (0: do not wait)."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            left_ms = None
            if deadline is not None:
                left_ms = max(0, round((deadline - time.monotonic()) * 1e3))
            if not self._socket.poll(left_ms):
                return None
            pose = self._stream.read(self._socket.recv_multipart())
            if pose is not None:
                return pose
