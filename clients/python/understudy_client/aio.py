"""The asyncio twins of `Performer` and `Character`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import zmq
import zmq.asyncio
from numpy.typing import ArrayLike

from understudy_client.clock import now_ns
from understudy_client.errors import ServerUnreachableError
from understudy_client.links import AsyncLink, CharacterFacts, PerformerFacts
from understudy_client.sockets import connect_character, connect_performer, has_news
from understudy_client.streams import CharacterStream, PerformerStream
from understudy_protocol import (
    DEFAULT_DOWNLINK,
    DEFAULT_UPLINK,
    EventMessage,
    PoseMessage,
    SkeletonMessage,
)


class AsyncPerformer(PerformerFacts, AsyncLink):
    """Announces a skeleton and sends frames, as `Performer` does; belongs to one event loop."""

    def __init__(self, name: str, skeleton: SkeletonMessage, address: str = DEFAULT_UPLINK) -> None:
        self._stream = PerformerStream(name, skeleton)
        self._socket = zmq.asyncio.Context.instance().socket(zmq.XPUB)
        connect_performer(self._socket, address)
        self._address = address

    async def announce(self, skeleton: SkeletonMessage) -> None:
        """Change the body in mid-stream: the next frame speaks about this skeleton."""
        self._stream.change_skeleton(skeleton)
        await self._admit()

    async def wait_ready(self, timeout: float = 5.0) -> None:
        """Return once a server listens and has been told the skeleton (see `Performer`)."""
        try:
            async with asyncio.timeout(timeout):
                await self._admit()
                while not self._stream.wanted:
                    await self._socket.poll()
                    await self._admit()
        except TimeoutError:
            what = f"performer {self.name!r}"
            raise ServerUnreachableError(what, self._address, timeout) from None

    async def send(
        self,
        root: ArrayLike,
        rotations_xyzw: ArrayLike,
        points: ArrayLike | None = None,
        capture_ns: int | None = None,
    ) -> None:
        """Send one frame; the arguments are those of `Performer.send`."""
        captured_ns = now_ns() if capture_ns is None else capture_ns
        parts = self._stream.frame(root, rotations_xyzw, points, captured_ns)
        await self._admit()
        await self._socket.send_multipart(parts)

    async def goal(
        self,
        character: str,
        effector: str,
        position: ArrayLike | None,
        *,
        orientation_xyzw: ArrayLike | None = None,
        weight: float = 1.0,
        ease_s: float = 0.2,
        capture_ns: int | None = None,
    ) -> None:
        """Ask for an effector of a character to be at a place, as `Performer.goal` does."""
        captured_ns = now_ns() if capture_ns is None else capture_ns
        await self._admit()
        await self._socket.send_multipart(
            self._stream.goal(
                character, effector, position, orientation_xyzw, weight, ease_s, captured_ns
            )
        )

    async def _admit(self) -> None:
        """Tell the skeleton to whoever has come, and repeat it when it is time to."""
        while has_news(self._socket):
            self._stream.heed(await self._socket.recv())
        time_ns = now_ns()
        if self._stream.announcement_due(time_ns):
            await self._socket.send_multipart(self._stream.announcement(time_ns))


class AsyncCharacter(CharacterFacts, AsyncLink):
    """Iterates over the poses of a character, as `Character` does; belongs to one event loop."""

    def __init__(
        self,
        name: str,
        address: str = DEFAULT_DOWNLINK,
        on_event: Callable[[EventMessage], None] | None = None,
    ) -> None:
        self._stream = CharacterStream(name, on_event)
        self._socket = zmq.asyncio.Context.instance().socket(zmq.SUB)
        connect_character(self._socket, address, self._stream.prefix)

    def __aiter__(self) -> AsyncIterator[PoseMessage]:
        return self

    async def __anext__(self) -> PoseMessage:
        while True:
            pose = self._stream.read(await self._socket.recv_multipart())
            if pose is not None:
                return pose

    async def receive(self, timeout: float | None = None) -> PoseMessage | None:
        """The next pose, or None when none came within `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                return await anext(self)
        except TimeoutError:
            return None
