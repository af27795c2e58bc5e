"""Bare ZeroMQ sockets that stand where a server's would, to see exactly what a client says."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import zmq

TIMEOUT_MS = 10_000

Inbox = queue.Queue[list[bytes]]


@contextmanager
def bound(kind: int, address: str = "tcp://127.0.0.1:*") -> Iterator[tuple[zmq.Socket[bytes], str]]:
    """A bound socket of a kind and its endpoint; receiving gives up after a while."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    socket = context.socket(kind)
    try:
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.RCVTIMEO, TIMEOUT_MS)
        if kind == zmq.SUB:
            socket.setsockopt(zmq.SUBSCRIBE, b"")
        socket.bind(address)
        yield socket, socket.getsockopt_string(zmq.LAST_ENDPOINT)
    finally:
        socket.close()
        context.term()  # waits until the port is free again


@contextmanager
def listening(address: str = "tcp://127.0.0.1:*") -> Iterator[tuple[Inbox, str]]:
    """A bound SUB socket that a thread reads, as a server does; what came and its endpoint.

    A subscriber sends its subscriptions only while somebody is receiving from it.
    """
    ended = threading.Event()

    def receive(server: zmq.Socket[bytes], inbox: Inbox) -> None:
        server.setsockopt(zmq.RCVTIMEO, 20)
        while not ended.is_set():
            with suppress(zmq.Again):
                inbox.put(server.recv_multipart())

    with bound(zmq.SUB, address) as (server, endpoint):
        inbox: Inbox = queue.Queue()
        thread = threading.Thread(target=receive, args=(server, inbox))
        thread.start()
        try:
            yield inbox, endpoint
        finally:
            ended.set()
            thread.join()
