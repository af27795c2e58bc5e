"""Where performers' messages arrive: one SUB socket that a single thread blocks on."""

from __future__ import annotations

import time
from typing import Final, NamedTuple, Self

import zmq

from understudy.transport.addresses import bind

# Ten seconds of one performer at 100 Hz may wait here before libzmq drops new messages.
RECEIVE_HWM: Final = 1000


class Arrival(NamedTuple):
    """A message as it came: its parts, and when (ns, `time.perf_counter_ns`)."""

    parts: list[bytes]
    time_ns: int


class FrameInput:
    """A bound SUB socket; `receive` blocks, so it belongs to one thread.

    A peer that sends more than `max_message_bytes` in one part is cut off by libzmq and reconnects.
    """

    def __init__(
        self,
        context: zmq.Context[zmq.Socket[bytes]],
        address: str,
        max_message_bytes: int,
        timeout_ms: int,
    ) -> None:
        socket = context.socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVHWM, RECEIVE_HWM)
        socket.setsockopt(zmq.MAXMSGSIZE, max_message_bytes)
        socket.setsockopt(zmq.RCVTIMEO, timeout_ms)
        socket.setsockopt(zmq.SUBSCRIBE, b"")
        self._socket = socket
        self._own_context: zmq.Context[zmq.Socket[bytes]] | None = None
        try:
            self.endpoint = bind(socket, address)
        except BaseException:
            socket.close()
            raise

    @classmethod
    def alone(cls, address: str, max_message_bytes: int, timeout_ms: int) -> Self:
        """An input with a context of its own, which ends with it."""
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        try:
            opened = cls(context, address, max_message_bytes, timeout_ms)
        except BaseException:
            context.term()
            raise
        opened._own_context = context
        return opened

    def receive(self) -> Arrival | None:
        """The next message, or None when none came within the time-out."""
        try:
            part = self._socket.recv(copy=False)
        except zmq.Again:
            return None
        # Twice as fast as recv_multipart, which asks the socket after every part for more.
        parts = [part.bytes]
        while part.more:
            part = self._socket.recv(copy=False)
            parts.append(part.bytes)
        return Arrival(parts, time.perf_counter_ns())

    def close(self) -> None:
        """Unbind; only by the thread that receives, or after it has ended."""
        self._socket.close()
        if self._own_context is not None:
            self._own_context.term()
