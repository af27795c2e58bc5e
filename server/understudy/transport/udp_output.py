"""Where datagrams leave: one UDP socket per target, so that its source port never changes."""

from __future__ import annotations

import socket
from collections.abc import Iterable

from understudy.transport.udp_addresses import resolve


class UdpOutput:
    """Sends datagrams to one target; never waits, and a target that is not there is no error."""

    def __init__(self, host: str, port: int) -> None:
        self.target = resolve(host, port)
        self._socket = socket.socket(self.target.family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._to = self.target.address
        self.failed = 0
        """Datagrams the system would not take: no route, or no room to send."""

    def send(self, datagrams: Iterable[bytes]) -> None:
        """Send datagrams in their order."""
        for datagram in datagrams:
            try:
                self._socket.sendto(datagram, self._to)
            except OSError:
                self.failed += 1

    def close(self) -> None:
        """Give the port back; nothing may be sent afterwards."""
        self._socket.close()
