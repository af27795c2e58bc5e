"""The options of each client socket, the same for the plain and the asyncio kind."""

from __future__ import annotations

from typing import Any, Final

import zmq

from understudy_client.errors import ClientError
from understudy_protocol import MAX_MESSAGE_BYTES

# A link that stops answering without being closed is asked this often and given up after that long.
HEARTBEAT_MS: Final = 1000
HEARTBEAT_TIMEOUT_MS: Final = 3000

# Live data is dropped rather than kept: about half a second at 120 Hz may wait on either side.
LIVE_MESSAGES: Final = 64

# How long a closed performer may still take to hand over its last frames.
LAST_WORDS_MS: Final = 500


def connect_performer(socket: zmq.Socket[Any], address: str) -> None:
    """Set up an XPUB socket, which hears every subscription, and connect it."""
    # Without a link there is no queue, so that a server which comes back gets no stale frames.
    socket.setsockopt(zmq.IMMEDIATE, 1)
    socket.setsockopt(zmq.XPUB_VERBOSE, 1)
    socket.setsockopt(zmq.SNDHWM, LIVE_MESSAGES)
    _connect(socket, address, LAST_WORDS_MS)


def connect_character(socket: zmq.Socket[Any], address: str, prefix: bytes) -> None:
    """Set up a SUB socket for everything under one topic prefix and connect it."""
    socket.setsockopt(zmq.RCVHWM, LIVE_MESSAGES)
    socket.setsockopt(zmq.SUBSCRIBE, prefix)
    _connect(socket, address)


def connect_control(socket: zmq.Socket[Any], address: str) -> None:
    """Set up a DEALER socket and connect it; it can send only while there is a link."""
    socket.setsockopt(zmq.IMMEDIATE, 1)
    _connect(socket, address)


def has_news(socket: zmq.Socket[Any]) -> bool:
    """Whether a message can be received at once; cheaper than a poll or a failed receive."""
    return bool(int(socket.getsockopt(zmq.EVENTS)) & zmq.POLLIN)


def _connect(socket: zmq.Socket[Any], address: str, linger_ms: int = 0) -> None:
    socket.setsockopt(zmq.LINGER, linger_ms)
    socket.setsockopt(zmq.MAXMSGSIZE, MAX_MESSAGE_BYTES)
    socket.setsockopt(zmq.HEARTBEAT_IVL, HEARTBEAT_MS)
    socket.setsockopt(zmq.HEARTBEAT_TIMEOUT, HEARTBEAT_TIMEOUT_MS)
    try:
        socket.connect(address)
    except zmq.ZMQError as error:
        socket.close()
        raise ClientError(
            f"cannot connect to {address!r}: {error.strerror.lower()};"
            " allowed: an address such as tcp://127.0.0.1:5550"
        ) from None
