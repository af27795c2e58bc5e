"""A listening socket at an address a person wrote: tcp://HOST:PORT or ipc://PATH."""

from __future__ import annotations

import errno
import os
import socket
import sys
from pathlib import Path
from typing import Any, Final

from understudy.transport.addresses import AddressError

MOST_PEERS: Final = 256
HANDSHAKE_S: Final = 10.0
"""How long a peer may take to say who it is."""
PAUSE_S: Final = 1.0
"""How long nobody is let in when the system refuses to, for want of file handles."""

_WAITING: Final = 100
_HIGHEST_PORT: Final = 65535
_SEND_BUFFER_BYTES: Final = 1 << 16


class Listener:
    """Bound and listening, never blocking; `endpoint` has the real port where `*` was given."""

    def __init__(self, address: str) -> None:
        self._path: Path | None = None
        scheme, _, where = address.partition("://")
        try:
            if scheme == "ipc":
                self.socket = self._open_ipc(where)
                self.endpoint = address
            else:
                self.socket = self._open_tcp(where)
                host, port = self.socket.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                self.endpoint = f"tcp://{shown}:{port}"
        except (OSError, ValueError) as error:  # ValueError: a host no resolver is asked for
            raise AddressError(f"cannot bind {address}: {_reason(error)}") from None

    def _open_tcp(self, where: str) -> socket.socket:
        host, _, port = where.rpartition(":")
        host = "0.0.0.0" if host == "*" else host.strip("[]")
        number = 0 if port == "*" else int(port)
        if number > _HIGHEST_PORT:
            raise ValueError(f"port {number}; allowed: up to {_HIGHEST_PORT}")
        found = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)
        # ZeroMQ's peers look for the IPv4 address of a name unless they are told otherwise.
        found.sort(key=lambda each: each[0] != socket.AF_INET)
        family, kind, protocol, _, target = found[0]
        opened = socket.socket(family, kind, protocol)
        # Windows would let a second server have the same port.
        option = "SO_EXCLUSIVEADDRUSE" if sys.platform == "win32" else "SO_REUSEADDR"
        opened.setsockopt(socket.SOL_SOCKET, getattr(socket, option), 1)
        return _listening(opened, target)

    def _open_ipc(self, where: str) -> socket.socket:
        if not hasattr(socket, "AF_UNIX"):
            raise OSError(None, "this system has no ipc")
        path = Path(where)
        if path.is_socket():  # left behind by a server that was killed
            path.unlink()
        opened = _listening(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM), where)
        self._path = path
        return opened

    def accept(self) -> socket.socket | None:
        """The next peer that has connected, if there is one; OSError if it cannot be had."""
        try:
            peer, _ = self.socket.accept()
        except (BlockingIOError, ConnectionError):  # nobody, or gone again
            return None
        try:
            peer.setblocking(False)
            # Small kernel buffers keep a slow reader from being seconds behind.
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
            if peer.family in (socket.AF_INET, socket.AF_INET6):
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                # A peer whose machine has gone is noticed some day.
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        except OSError:  # gone again
            peer.close()
            return None
        return peer

    def close(self) -> None:
        """Listen no longer."""
        self.socket.close()
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, ValueError):
        return str(error)
    # Windows forbids what others call taken.
    taken = error.errno == errno.EACCES and sys.platform == "win32"
    text = os.strerror(errno.EADDRINUSE) if taken else error.strerror or str(error)
    return text.lower()


def _listening(opened: socket.socket, target: str | tuple[Any, ...]) -> socket.socket:
    try:
        opened.bind(target)
        opened.listen(_WAITING)
        opened.setblocking(False)
    except OSError:
        opened.close()
        raise
    return opened
