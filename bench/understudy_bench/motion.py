"""Endless motion from a clip, as ready-made frame messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from understudy.characters import Clip
from understudy.ingest import message_from_skeleton
from understudy_protocol import FrameMessage, encode_frame, encode_skeleton, topic

RUN: Final = 1


class Motion(Protocol):
    """Frames without end, as what is sent for each of them."""

    def parts(self, seq: int, capture_ns: int) -> Sequence[bytes]:
        """What is sent for frame number `seq`."""


def there_and_back(seq: int, frames: int) -> int:
    """The frame that number `seq` shows of a clip played forward and backward without end."""
    last = frames - 1
    at = seq % (2 * last) if last else 0
    return at if at <= last else 2 * last - at


class EndlessMotion:
    """A clip forward and backward without end: it never jumps, so no frame is a special one."""

    def __init__(self, performer: str, clip: Clip) -> None:
        message = message_from_skeleton(clip.skeleton)
        self._clip = clip
        self._skeleton_id = message.id
        self.frame_topic = topic(performer, "frame")
        self.announcement = (topic(performer, "skeleton"), encode_skeleton(message))

    def parts(self, seq: int, capture_ns: int) -> Sequence[bytes]:
        """Topic and body of frame number `seq`."""
        return self.frame_topic, self.body(seq, capture_ns)

    def body(self, seq: int, capture_ns: int) -> bytes:
        """The message body of frame number `seq`."""
        at = there_and_back(seq, self._clip.frame_count)
        return encode_frame(
            FrameMessage(
                RUN,
                seq,
                capture_ns,
                self._skeleton_id,
                self._clip.roots[at],
                self._clip.rotations_xyzw[at],
            )
        )
