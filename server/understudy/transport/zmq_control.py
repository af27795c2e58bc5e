"""Where control requests arrive and are answered: a ROUTER socket on an asyncio loop."""

from __future__ import annotations

from typing import Final

import zmq
import zmq.asyncio

from understudy.transport.addresses import bind

# Requests are small; a client that sends more is cut off.
MAX_REQUEST_BYTES: Final = 1 << 16


class ControlSocket:
    """A bound ROUTER socket; it belongs to the loop it is made in."""

    def __init__(self, context: zmq.Context[zmq.Socket[bytes]], address: str) -> None:
        socket = zmq.asyncio.Context.shadow(context).socket(zmq.ROUTER)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.MAXMSGSIZE, MAX_REQUEST_BYTES)
        self._socket = socket
        try:
            self.endpoint = bind(socket, address)
        except BaseException:
            socket.close()
            raise

    async def receive(self) -> tuple[list[bytes], bytes]:
        """The next request: the way back (peer, delimiter if there was one) and its body."""
        parts = await self._socket.recv_multipart()
        return parts[:-1], parts[-1]

    async def reply(self, way_back: list[bytes], body: bytes) -> None:
        """Answer a request; a peer that has gone is ignored by the socket."""
        await self._socket.send_multipart([*way_back, body])

    def close(self) -> None:
        """Unbind."""
        self._socket.close()
