"""Where performers' messages arrive: a bound SUB socket that a single thread blocks on."""

from __future__ import annotations

import selectors
import socket
import time
from collections import Counter, deque
from typing import Final

from understudy.transport.listener import HANDSHAKE_S, MOST_PEERS, PAUSE_S, Listener
from understudy.transport.zmtp import SUBSCRIBER, Conversation, ZmtpError, encode

# What is read from a peer at once: nobody's burst may keep the others waiting for long.
_READ_BYTES: Final = 1 << 14
_EVERYTHING: Final = encode(b"\x01")
"""A subscription to every topic."""
_HANDSHAKE_NS: Final = int(HANDSHAKE_S * 1e9)
_PAUSE_NS: Final = int(PAUSE_S * 1e9)


Arrival = tuple[list[bytes], int]
"""A message: its parts, and when it was taken up (ns, `time.perf_counter_ns`)."""


class _Sender:
    """A peer that connected at `since_ns`."""

    __slots__ = ("conversation", "since_ns", "socket", "welcomed")

    def __init__(self, peer: socket.socket, max_part_bytes: int, since_ns: int) -> None:
        self.socket = peer
        self.conversation = Conversation(SUBSCRIBER, max_part_bytes)
        self.since_ns = since_ns
        self.welcomed = False

    def answer(self) -> None:
        """Send what is due; OSError if the peer does not take these few bytes."""
        conversation = self.conversation
        if conversation.open and not self.welcomed:
            self.welcomed = True
            conversation.unsent += _EVERYTHING
        if conversation.unsent:
            self.socket.sendall(conversation.unsent)
            conversation.unsent.clear()


class FrameInput:
    """`receive` blocks, so all of it belongs to one thread.

    A peer that sends more than `max_part_bytes` in one part, or what is not ZMTP from a publisher,
    is cut off, and `refused` counts it. Peers that ask whether we live are answered by `receive`.
    """

    def __init__(
        self,
        address: str,
        max_part_bytes: int,
        timeout_s: float,
        refused: Counter[str] | None = None,
    ) -> None:
        self.refused: Counter[str] = Counter() if refused is None else refused
        self._max_part_bytes = max_part_bytes
        self._timeout_s = timeout_s
        self._listener = Listener(address)
        self.endpoint = self._listener.endpoint
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._listener.socket, selectors.EVENT_READ)
        self._paused_ns = 0
        self._strangers: set[_Sender] = set()
        self._arrived: deque[list[bytes]] = deque()
        self._buffer = bytearray(_READ_BYTES)
        self._view = memoryview(self._buffer)

    @property
    def more(self) -> bool:
        """Whether another message has come along with the last one."""
        return bool(self._arrived)

    def receive(self) -> Arrival | None:
        """The next message, or None when there is none yet, after the time-out at the latest."""
        if not self._arrived:
            self._look()
            if not self._arrived:
                return None
        return self._arrived.popleft(), time.perf_counter_ns()

    def _look(self) -> None:
        """Read once from every peer that has something to say, or let new ones in."""
        if self._strangers or self._paused_ns:
            self._look_around(time.perf_counter_ns())
        if not self._selector.get_map():  # which Windows cannot wait for
            time.sleep(self._timeout_s)
            return
        for key, _ in self._selector.select(self._timeout_s):
            if key.data is None:
                self._accept()
            else:
                self._read(key.data)

    def _read(self, sender: _Sender) -> None:
        try:
            size = sender.socket.recv_into(self._buffer)
        except BlockingIOError:
            return
        except OSError:
            size = 0
        if not size:
            self._drop(sender)
            return
        conversation = sender.conversation
        try:
            self._arrived += conversation.hear(bytes(self._view[:size]))
            if conversation.unsent or not sender.welcomed:
                sender.answer()
                if conversation.open:
                    self._strangers.discard(sender)
        except ZmtpError:
            self.refused["not-zmtp"] += 1
            self._drop(sender)
        except OSError:
            self._drop(sender)

    def _accept(self) -> None:
        try:
            peer = self._listener.accept()
        except OSError:
            self._selector.unregister(self._listener.socket)
            self._paused_ns = time.perf_counter_ns()
            return
        if peer is None:
            return
        if len(self._selector.get_map()) > MOST_PEERS:
            self.refused["too-many-peers"] += 1
            peer.close()
            return
        sender = _Sender(peer, self._max_part_bytes, time.perf_counter_ns())
        self._strangers.add(sender)
        self._selector.register(peer, selectors.EVENT_READ, sender)
        try:
            sender.answer()
        except OSError:
            self._drop(sender)

    def _look_around(self, at_ns: int) -> None:
        """Drop those who never say who they are; listen again after a pause."""
        for sender in [s for s in self._strangers if at_ns - s.since_ns > _HANDSHAKE_NS]:
            self._drop(sender)
        if self._paused_ns and at_ns - self._paused_ns > _PAUSE_NS:
            self._paused_ns = 0
            self._selector.register(self._listener.socket, selectors.EVENT_READ)

    def _drop(self, sender: _Sender) -> None:
        self._strangers.discard(sender)
        self._selector.unregister(sender.socket)
        sender.socket.close()

    def close(self) -> None:
        """Unbind; only by the thread that receives, or after it has ended."""
        for key in list(self._selector.get_map().values()):
            if key.data is not None:
                key.data.socket.close()
        self._selector.close()
        self._listener.close()
