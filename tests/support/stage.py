"""A running server with a performer on it, and those who watch one character."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from support.live import ControlClient, LivePerformer, Subscriber, serving
from understudy.characters import Clip
from understudy.runtime.server import Server
from understudy_protocol import PoseMessage, Refusal

PATIENCE = {"stale_after_s": 20.0}
"""Of a performer: a machine that is busy with other things must not make it look silent."""


class Stage:
    """A server, its performer `alice`, a subscriber and a control client of one character."""

    def __init__(self, server: Server, character: str, clip: Clip | None = None) -> None:
        self.server = server
        self.character = character
        self.control = ControlClient(server.endpoints.control)
        self.subscriber = Subscriber(server.endpoints.output, character)
        self.skeleton = self.subscriber.skeleton()
        self.performer = LivePerformer("alice", server.endpoints.input, clip)
        self._walked = 0

    def start(self, **changes: Any) -> None:
        """Send frame 0 until a pose comes: frames are dropped while the bodies are aligned."""
        for _ in range(10_000):
            self.performer.send(0, **changes)
            if self.control.character(self.character)["poses"]:
                return
        raise AssertionError("no pose came")

    def show(self, index: int, **changes: Any) -> PoseMessage:
        """Send a frame and wait for the pose that was made from it."""
        seq = self.performer.seq
        self.performer.send(index, **changes)
        return self.subscriber.answer(seq)

    def walk(self, frames: int) -> list[PoseMessage]:
        """The poses of the clip's next frames, each awaited before the next is sent."""
        first, self._walked = self._walked, self._walked + frames
        return [self.show(frame) for frame in range(first, self._walked)]

    def session(self) -> dict[str, Any]:
        """What the server tells of its first session."""
        first: dict[str, Any] = self.control.ask("list")["sessions"][0]
        return first

    def set(self, **fields: Any) -> dict[str, Any]:
        """Change the session while it runs."""
        return self.control.ask("set", character=self.character, **fields)

    def refused(self, **fields: Any) -> Refusal:
        """Why the session is not changed so; it must not be."""
        return self.control.refused("set", character=self.character, **fields)

    def close(self) -> None:
        self.performer.close()
        self.subscriber.close()
        self.control.close()


@contextmanager
def on_stage(server: Server, character: str) -> Iterator[Stage]:
    """A stage on which poses flow."""
    stage = Stage(server, character)
    try:
        stage.start()
        yield stage
    finally:
        stage.close()


@contextmanager
def staged(session: dict[str, Any], **performer: Any) -> Iterator[Stage]:
    """The same with a server of its own for a session; `performer` is what alice is like."""
    with (
        serving(session, performers={"alice": {**PATIENCE, **performer}}) as server,
        on_stage(server, session["character"]) as stage,
    ):
        yield stage
