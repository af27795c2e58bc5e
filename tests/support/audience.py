"""An output with a loop of its own that lets subscribers in, and libzmq's subscribers of it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import zmq

from understudy.transport import PoseOutput

TIMEOUT_MS = 10_000


class Changes:
    """Tells when subscriptions come and go."""

    def __init__(self) -> None:
        self._count = 0
        self._news = threading.Condition()

    def note(self) -> None:
        with self._news:
            self._count += 1
            self._news.notify_all()

    def wait_for_one(self) -> None:
        """Until there was one."""
        self.wait_until(lambda: self._count > 0)

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Until something that only subscriptions can change is so."""
        with self._news:
            assert self._news.wait_for(condition, TIMEOUT_MS * 1e-3)


@contextmanager
def open_output(
    greeting: Callable[[bytes], Iterable[tuple[bytes, bytes]]] = lambda prefix: (),
    address: str = "tcp://127.0.0.1:*",
) -> Iterator[tuple[PoseOutput, Changes]]:
    """An output whose doors are open."""
    output, changes = PoseOutput(address), Changes()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def in_loop(work: Callable[[], None]) -> None:
        done = threading.Event()

        def run() -> None:
            work()
            done.set()

        loop.call_soon_threadsafe(run)
        assert done.wait(TIMEOUT_MS * 1e-3)

    in_loop(lambda: output.open_doors(loop, greeting, changes.note))
    try:
        yield output, changes
    finally:
        in_loop(output.close_doors)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        output.close()


@contextmanager
def subscribed(endpoint: str, *prefixes: bytes) -> Iterator[zmq.Socket[bytes]]:
    """A SUB socket of libzmq; receiving gives up after a while."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(zmq.SUB)
    try:
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
        socket.setsockopt(zmq.RCVHWM, 0)
        for prefix in prefixes:
            socket.setsockopt(zmq.SUBSCRIBE, prefix)
        socket.connect(endpoint)
        yield socket
    finally:
        socket.close()
        context.term()
