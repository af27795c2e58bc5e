"""Where characters leave: one XPUB socket whose subscribers get a greeting before anything else."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

import zmq

from understudy.transport.addresses import bind

# What may wait for one subscriber before newer messages to it are dropped: a quarter of a second
# of two characters at 120 Hz. Small kernel buffers keep a slow reader from being seconds behind.
SEND_HWM: Final = 64
SEND_BUFFER_BYTES: Final = 1 << 16

# Subscribers send nothing but subscriptions; more than this is a mistake and cuts them off.
SUBSCRIPTION_BYTES: Final = 1024

Message = tuple[bytes, bytes]

_MORE: Final = int(zmq.SNDMORE)


class PoseOutput:
    """A bound XPUB socket, used by several threads under one lock.

    With XPUB_MANUAL a subscription takes effect only when it is granted here; the grant and the
    greeting (the skeletons under that prefix) are one step under the lock, so no pose comes first.
    """

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        socket = context.socket(zmq.XPUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.SNDHWM, SEND_HWM)
        socket.setsockopt(zmq.SNDBUF, SEND_BUFFER_BYTES)
        socket.setsockopt(zmq.MAXMSGSIZE, SUBSCRIPTION_BYTES)
        socket.setsockopt(zmq.XPUB_MANUAL, 1)
        self._socket = socket
        # The compiled method beneath pyzmq's own, which looks at options that are not used here.
        self._send = super(zmq.Socket, socket).send
        self._lock = threading.Lock()
        self._closed = False
        self._prefixes: Counter[bytes] = Counter()
        try:
            self.endpoint = bind(socket, address)
        except BaseException:
            socket.close()
            raise

    def send(self, topic: bytes, body: bytes) -> None:
        """Publish one message; never waits for a subscriber."""
        with self._lock:
            if not self._closed:
                # A third of the time of send_multipart, which looks at every part twice.
                self._send(topic, _MORE)
                self._send(body)

    def admit_subscribers(self, greeting: Callable[[bytes], Iterable[Message]]) -> int:
        """Grant the subscriptions that have come in; how many came and went.

        `greeting` says what a subscriber to a prefix is sent first.
        """
        changes = 0
        with self._lock:
            while not self._closed and int(self._socket.get(zmq.EVENTS)) & zmq.POLLIN:
                request = self._socket.recv()
                changes += 1
                prefix = request[1:]
                if request[:1] == b"\x01":
                    self._socket.setsockopt(zmq.SUBSCRIBE, prefix)
                    for topic, body in greeting(prefix):
                        self._socket.send_multipart((topic, body))
                    self._prefixes[prefix] += 1
                elif request[:1] == b"\x00":
                    self._socket.setsockopt(zmq.UNSUBSCRIBE, prefix)
                    self._prefixes[prefix] -= 1
                    if not self._prefixes[prefix]:
                        del self._prefixes[prefix]
        return changes

    def wants(self, topic: bytes) -> bool:
        """Whether somebody has asked for `topic` in particular: by a prefix that is not empty.

        To be called by the thread that admits subscribers.
        """
        return any(prefix and topic.startswith(prefix) for prefix in self._prefixes)

    def close(self) -> None:
        """Unbind; later sends are ignored."""
        with self._lock:
            self._closed = True
            self._socket.close()
