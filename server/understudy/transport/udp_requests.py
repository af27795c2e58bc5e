"""Where a few datagrams now and then arrive: a UDP socket on an asyncio loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from understudy.transport.addresses import AddressError
from understudy.transport.udp_addresses import Resolved, resolve


class RequestPort(asyncio.DatagramProtocol):
    """A bound UDP socket that hands every datagram to `handler`; made by `open`."""

    def __init__(self, handler: Callable[[bytes], None]) -> None:
        self._handler = handler
        self._transport: asyncio.BaseTransport | None = None
        self.bound: Resolved | None = None

    @classmethod
    async def open(cls, host: str, port: int, handler: Callable[[bytes], None]) -> RequestPort:
        """Bind on the running loop; AddressError if that cannot be."""
        where = resolve(host, port)
        loop = asyncio.get_running_loop()
        try:
            transport, opened = await loop.create_datagram_endpoint(
                lambda: cls(handler), local_addr=where.address[:2], family=where.family
            )
        except OSError as error:
            text = (error.strerror or str(error)).lower()
            raise AddressError(f"cannot listen at udp {where}: {text}") from None
        opened.bound = Resolved(where.family, transport.get_extra_info("sockname"))
        return opened

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop once the socket is bound."""
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        """Called by the loop for every datagram; Any: asyncio's own type for a host."""
        self._handler(data)

    def close(self) -> None:
        """Unbind."""
        if self._transport is not None:
            self._transport.close()
