"""Where datagrams arrive: one bound UDP socket that a single thread blocks on."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import Final, NamedTuple

from understudy.transport.addresses import AddressError
from understudy.transport.udp_addresses import Resolved, resolve

# As much as the system lets a socket keep: a burst must outlast a busy moment of this process.
RECEIVE_BUFFER_BYTES: Final = 1 << 20
_LARGEST: Final = 1 << 16


class Datagram(NamedTuple):
    """What came, from whom (host, port), and when (ns, `time.perf_counter_ns`)."""

    data: bytes
    sender: tuple[str, int]
    time_ns: int


class UdpInput:
    """A bound UDP socket; `receive` blocks, so it belongs to one thread."""

    def __init__(self, host: str, port: int) -> None:
        where = resolve(host, port)
        self._socket = socket.socket(where.family, socket.SOCK_DGRAM)
        try:
            with suppress(OSError):  # some systems refuse what others cut to size
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            self._socket.bind(where.address)
        except OSError as error:
            self._socket.close()
            text = (error.strerror or str(error)).lower()
            raise AddressError(f"cannot listen at udp {where}: {text}") from None
        self.bound = Resolved(where.family, self._socket.getsockname())
        self._buffer = bytearray(_LARGEST)
        self._view = memoryview(self._buffer)

    def receive(self, timeout_s: float) -> Datagram | None:
        """The next datagram, or None when none came within the time-out."""
        self._socket.settimeout(timeout_s)
        try:
            size, sender = self._socket.recvfrom_into(self._buffer)
        except (TimeoutError, BlockingIOError):
            return None
        except ConnectionResetError:  # Windows: about something that was sent, not received
            return None
        arrival_ns = time.perf_counter_ns()
        return Datagram(bytes(self._view[:size]), (sender[0], sender[1]), arrival_ns)

    def close(self) -> None:
        """Unbind; only by the thread that receives, or after it has ended."""
        self._socket.close()
