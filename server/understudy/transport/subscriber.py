"""One subscriber of a PUB socket: what it wants, and what waits until it takes it."""

from __future__ import annotations

import socket
from collections import Counter, deque
from contextlib import suppress
from typing import Final

from understudy.transport.zmtp import PUBLISHER, Conversation

_SEND_BYTES: Final = 1 << 16
# Subscribers send nothing but subscriptions; more than this is a mistake and cuts them off.
_SUBSCRIPTION_BYTES: Final = 1024
# What a subscriber has not taken by then is dropped: live data is of no use later.
_PATIENCE_NS: Final = 250_000_000
# So much may wait at most, bytes, whatever it is.
_MOST_BYTES: Final = 1 << 22


class Subscriber:
    """A connected peer that never blocks who publishes; every call is made under one lock."""

    def __init__(self, peer: socket.socket) -> None:
        self.socket = peer
        self.conversation = Conversation(PUBLISHER, _SUBSCRIPTION_BYTES)
        self.prefixes: Counter[bytes] = Counter()
        self.blocked = False
        """Whether it must take what was sent before it can be sent more."""
        self._begun = b""
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._size = 0

    def wants(self, topic: bytes) -> bool:
        """Whether it has subscribed to a prefix of `topic`."""
        return any(topic.startswith(prefix) for prefix in self.prefixes)

    def put(self, message: bytes, at_ns: int) -> None:
        """Send a whole message next; `at_ns` is now."""
        waiting = self._waiting
        if self.blocked:
            while waiting and (at_ns - waiting[0][0] > _PATIENCE_NS or self._size > _MOST_BYTES):
                self._size -= len(waiting.popleft()[1])
        waiting.append((at_ns, message))
        self._size += len(message)

    def flush(self) -> bool:
        """Send what waits; False if it did not take all of it, and is blocked from here on.

        What waits for a peer that has gone is forgotten.
        """
        self.blocked = False
        while self._begun or self._waiting:
            data = self._next()
            try:
                sent = self.socket.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self.hang_up()
                return True
            if sent < len(data):
                self._begun = data[sent:]
                self.blocked = True
                return False
            self._begun = b""
        return True

    def _next(self) -> bytes:
        """What is sent at once: as many messages as one call of the system should take."""
        if self._begun:
            return self._begun
        waiting = self._waiting
        data = waiting.popleft()[1]
        if waiting:
            together, size = [data], len(data)
            while waiting and size < _SEND_BYTES:
                together.append(waiting.popleft()[1])
                size += len(together[-1])
            data = b"".join(together)
        self._size -= len(data)
        return data

    def hang_up(self) -> None:
        """Send nothing more; who reads from the socket sees its end."""
        self._begun = b""
        self._waiting.clear()
        self._size = 0
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
