"""What the two ways of waiting, plain and asyncio, have in common: a socket and its end."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import zmq
import zmq.asyncio

from understudy_client.errors import ClientError
from understudy_client.streams import CharacterStream, PerformerStream
from understudy_protocol import SkeletonMessage


class Link:
    """A link to a server, open until it is closed; used in a `with` it ends with the block."""

    _socket: zmq.Socket[bytes]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the link; calling it again does nothing."""
        self._socket.close()


class AsyncLink:
    """A link to a server that belongs to one event loop; used in an `async with`."""

    _socket: zmq.asyncio.Socket

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the link; calling it again does nothing."""
        self._socket.close()


class PerformerFacts:
    """What is known of a performer's stream."""

    _stream: PerformerStream

    @property
    def name(self) -> str:
        """The name under which the server knows this performer."""
        return self._stream.name

    @property
    def skeleton(self) -> SkeletonMessage:
        """The body that frames speak about."""
        return self._stream.skeleton

    @property
    def frames(self) -> int:
        """How many frames were sent so far, dropped ones included."""
        return self._stream.frames


class CharacterFacts:
    """What is known of a character's stream."""

    _stream: CharacterStream

    @property
    def name(self) -> str:
        """The name under which the server knows this character."""
        return self._stream.name

    @property
    def skeleton(self) -> SkeletonMessage:
        """The body of the last pose; there is one as soon as there is a pose."""
        if self._stream.skeleton is None:
            raise ClientError(f"character {self.name!r}: nothing has been received yet")
        return self._stream.skeleton

    @property
    def skipped(self) -> int:
        """How many messages could not be used: malformed ones, poses of an unknown skeleton."""
        return self._stream.skipped
