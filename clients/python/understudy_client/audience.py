"""An audience: everything that happens in a show, of all performers and characters at once."""

from __future__ import annotations

from typing import NamedTuple

import zmq

from understudy_client.links import Link
from understudy_client.sockets import connect_character, has_news
from understudy_protocol import (
    DEFAULT_DOWNLINK,
    EventMessage,
    FrameMessage,
    PoseMessage,
    ProtocolError,
    SkeletonMessage,
    decode_message,
    open_envelope,
)
from understudy_protocol.inspection import INSPECTION_PREFIX, GoalsMessage, read_inspection


class Seen(NamedTuple):
    """One message: about the performer or the character `name`."""

    name: str
    of_performer: bool
    message: SkeletonMessage | FrameMessage | PoseMessage | EventMessage | GoalsMessage


class Audience(Link):
    """Receives every character's stream, every performer's frames and the effectors' goals.

    Only for tools that show a running session: the server sends performers and goals to nobody
    else. An audience that falls behind loses messages. One thread at a time may use it.
    """

    def __init__(self, address: str = DEFAULT_DOWNLINK) -> None:
        self.skipped = 0
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        connect_character(self._socket, address, b"")
        self._socket.setsockopt(zmq.SUBSCRIBE, INSPECTION_PREFIX)

    def receive(self, timeout: float) -> Seen | None:
        """The next message, or None when none came within `timeout` seconds."""
        if not has_news(self._socket) and not self._socket.poll(round(timeout * 1e3)):
            return None
        parts = self._socket.recv_multipart()
        try:
            if parts[0].startswith(INSPECTION_PREFIX):
                name, shown = read_inspection(parts)
                return Seen(name, not isinstance(shown, GoalsMessage), shown)
            name, kind, body = open_envelope(parts)
            message = decode_message(kind, body)
        except ProtocolError:
            self.skipped += 1
            return None
        if isinstance(message, SkeletonMessage | PoseMessage | EventMessage):
            return Seen(name, False, message)
        self.skipped += 1
        return None
