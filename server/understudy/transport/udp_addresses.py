"""UDP addresses a person wrote: resolved once, and told from our own."""

from __future__ import annotations

import socket
from typing import Any, NamedTuple

from understudy.transport.addresses import AddressError


class Resolved(NamedTuple):
    """An address as the socket functions want it: its family, and host and port as numbers."""

    family: socket.AddressFamily
    address: tuple[Any, ...]  # Any: two items for IPv4, four for IPv6

    @property
    def port(self) -> int:
        """The port number."""
        return int(self.address[1])

    def __str__(self) -> str:
        host = str(self.address[0])
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"


def resolve(host: str, port: int) -> Resolved:
    """Look up a host, its name or number; AddressError if there is none."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        raise AddressError(f"cannot find {host!r}: {error.strerror}") from None
    family, _, _, _, address = found[0]
    return Resolved(socket.AddressFamily(family), address)


def is_ours(target: Resolved, bound: Resolved) -> bool:
    """Whether what is sent to `target` arrives at a socket of this machine bound to `bound`."""
    if target.port != bound.port:
        return False
    if target.address[0] == bound.address[0]:
        return True
    if bound.address[0] not in ("0.0.0.0", "::"):
        return False
    # The socket takes every address of this machine; only those can be bound to.
    with socket.socket(target.family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((target.address[0], 0))
        except OSError:
            return False
    return True
