"""Where characters leave: a bound PUB socket whose subscribers are greeted before anything else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from typing import Final

from understudy.transport.listener import HANDSHAKE_S, MOST_PEERS, PAUSE_S, Listener
from understudy.transport.subscriber import Subscriber
from understudy.transport.zmtp import ZmtpError, encode

_READ_BYTES: Final = 1 << 12
# So many messages are sent together at most while others are being made.
_GATHERED: Final = 32
_MOST_ROUTES: Final = 4096
# More subscriptions of one peer are a mistake and cut it off.
_MOST_PREFIXES: Final = 256

Message = tuple[bytes, bytes]
_Route = tuple[bytes, tuple[Subscriber, ...]]


class PoseOutput:
    """Any thread may send; a loop lets subscribers in, from `open_doors` to `close_doors`.

    A subscription and its greeting (the skeletons under that prefix) are one step under the lock,
    so no pose comes first.
    """

    def __init__(self, address: str) -> None:
        self._listener = Listener(address)
        self.endpoint = self._listener.endpoint
        self._lock = threading.Lock()
        self._subscribers: set[Subscriber] = set()
        self._routes: dict[bytes, _Route] = {}
        self._gatherer: int | None = None
        self._gathered = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._greeting: Callable[[bytes], Iterable[Message]] = lambda prefix: ()
        self._changed: Callable[[], None] = lambda: None

    def send(self, topic: bytes, body: bytes) -> None:
        """Publish one message; never waits for a subscriber."""
        with self._lock:
            head, takers = self._routes.get(topic) or self._route(topic)
            if not takers:
                return
            message = head + encode(body)
            at_ns = time.perf_counter_ns()
            for subscriber in takers:
                subscriber.put(message, at_ns)
            self._gathered += 1
            if self._gatherer != threading.get_ident() or self._gathered == _GATHERED:
                self._flush()

    def gather(self, more: bool) -> None:
        """Whether messages of the calling thread may wait for those it makes next, a few at most.

        To be called before each of them is made, `more` False for the last.
        """
        self._gatherer = threading.get_ident() if more else None

    def flush(self) -> None:
        """Send what was gathered."""
        if self._gathered:
            with self._lock:
                self._flush()

    def _flush(self) -> None:
        self._gathered = 0
        for subscriber in self._subscribers:
            if not subscriber.blocked and not subscriber.flush() and self._loop is not None:
                self._loop.call_soon_threadsafe(self._await_room, subscriber)

    def _route(self, topic: bytes) -> _Route:
        """A topic as it is sent, and who gets it; kept until subscriptions change."""
        if len(self._routes) >= _MOST_ROUTES:  # characters came and went
            self._routes.clear()
        takers = tuple(s for s in self._subscribers if s.wants(topic))
        route = self._routes[topic] = encode(topic, more=True), takers
        return route

    # What follows is done by the loop.

    def open_doors(
        self,
        loop: asyncio.AbstractEventLoop,
        greeting: Callable[[bytes], Iterable[Message]],
        changed: Callable[[], None],
    ) -> None:
        """Let subscribers in; to be called in the running loop's thread.

        `greeting` says what a subscriber to a prefix is sent first; `changed` is called whenever
        subscriptions came or went.
        """
        self._loop, self._greeting, self._changed = loop, greeting, changed
        loop.add_reader(self._listener.socket.fileno(), self._accept)

    def close_doors(self) -> None:
        """Let nobody in any more; those inside are still sent to."""
        with self._lock:
            loop, self._loop = self._loop, None
        if loop is None:
            return
        loop.remove_reader(self._listener.socket.fileno())
        for subscriber in self._subscribers:
            loop.remove_reader(subscriber.socket.fileno())
            loop.remove_writer(subscriber.socket.fileno())

    def wants(self, topic: bytes) -> bool:
        """Whether somebody has asked for `topic` in particular: by a prefix that is not empty."""
        with self._lock:
            return any(
                prefix and topic.startswith(prefix)
                for subscriber in self._subscribers
                for prefix in subscriber.prefixes
            )

    def _accept(self) -> None:
        loop = self._loop
        assert loop is not None
        try:
            peer = self._listener.accept()
        except OSError:
            loop.remove_reader(self._listener.socket.fileno())
            loop.call_later(PAUSE_S, self._listen_again)
            return
        if peer is None:
            return
        if len(self._subscribers) >= MOST_PEERS:
            peer.close()
            return
        subscriber = Subscriber(peer)
        with self._lock:
            self._subscribers.add(subscriber)
            self._answer(subscriber)
        loop.add_reader(peer.fileno(), self._read, subscriber)
        loop.call_later(HANDSHAKE_S, self._drop_stranger, subscriber)

    def _listen_again(self) -> None:
        if self._loop is not None:
            self._loop.add_reader(self._listener.socket.fileno(), self._accept)

    def _read(self, subscriber: Subscriber) -> None:
        try:
            data = subscriber.socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        try:
            requests = subscriber.conversation.hear(data) if data else []
        except ZmtpError:
            data = b""
        if not data:
            self._drop(subscriber)
            return
        with self._lock:
            self._answer(subscriber)
            for request, *_ in requests:
                self._grant(subscriber, request)
        if requests:
            self._changed()

    def _answer(self, subscriber: Subscriber) -> None:
        unsent = subscriber.conversation.unsent
        if unsent:
            subscriber.put(bytes(unsent), time.perf_counter_ns())
            unsent.clear()
            self._flush()

    def _grant(self, subscriber: Subscriber, request: bytes) -> None:
        prefix = request[1:]
        prefixes = subscriber.prefixes
        if request[:1] == b"\x01":
            prefixes[prefix] += 1
            if len(prefixes) > _MOST_PREFIXES:
                subscriber.hang_up()
            elif prefixes[prefix] == 1:
                at_ns = time.perf_counter_ns()
                for topic, body in self._greeting(prefix):
                    subscriber.put(encode(topic, more=True) + encode(body), at_ns)
                self._flush()
        elif request[:1] == b"\x00":
            prefixes[prefix] -= 1
            if prefixes[prefix] <= 0:
                del prefixes[prefix]
        self._routes.clear()

    def _await_room(self, subscriber: Subscriber) -> None:
        if self._loop is not None and subscriber in self._subscribers:
            self._loop.add_writer(subscriber.socket.fileno(), self._resume, subscriber)

    def _resume(self, subscriber: Subscriber) -> None:
        with self._lock:
            unblocked = subscriber.flush()
        if unblocked and self._loop is not None:
            self._loop.remove_writer(subscriber.socket.fileno())

    def _drop_stranger(self, subscriber: Subscriber) -> None:
        if subscriber in self._subscribers and not subscriber.conversation.open:
            self._drop(subscriber)

    def _drop(self, subscriber: Subscriber) -> None:
        if self._loop is not None:
            self._loop.remove_reader(subscriber.socket.fileno())
            self._loop.remove_writer(subscriber.socket.fileno())
        with self._lock:
            self._subscribers.discard(subscriber)
            self._routes.clear()
        subscriber.socket.close()
        self._changed()

    def close(self) -> None:
        """Unbind; later sends are ignored."""
        with self._lock:
            for subscriber in self._subscribers:
                subscriber.socket.close()
            self._subscribers.clear()
            self._routes.clear()
            self._listener.close()
