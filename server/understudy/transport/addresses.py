"""Binding a ZeroMQ socket to an address a person wrote."""

from __future__ import annotations

from typing import Any

import zmq

from understudy.errors import UnderstudyError


class AddressError(UnderstudyError):
    """An address that cannot be bound."""


def bind(socket: zmq.Socket[Any], address: str) -> str:
    """Bind `socket` to `address`; the endpoint in force, with the real port where `*` was given."""
    try:
        socket.bind(address)
    except zmq.ZMQError as error:
        raise AddressError(f"cannot bind {address}: {error.strerror.lower()}") from None
    return socket.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")
