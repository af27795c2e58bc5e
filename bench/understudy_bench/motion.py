"""Endless motion from a clip, as ready-made frame messages."""

from __future__ import annotations

from typing import Final

from understudy.characters import Clip
from understudy.ingest import message_from_skeleton
from understudy_protocol import FrameMessage, encode_frame, encode_skeleton, topic

RUN: Final = 1


class EndlessMotion:
    """A clip forward and backward without end: it never jumps, so no frame is a special one."""

    def __init__(self, performer: str, clip: Clip) -> None:
        message = message_from_skeleton(clip.skeleton)
        self._clip = clip
        self._skeleton_id = message.id
        self.frame_topic = topic(performer, "frame")
        self.announcement = (topic(performer, "skeleton"), encode_skeleton(message))

    def frame_index(self, seq: int) -> int:
        """The clip's frame that number `seq` shows."""
        last = self._clip.frame_count - 1
        at = seq % (2 * last) if last else 0
        return at if at <= last else 2 * last - at

    def body(self, seq: int, capture_ns: int) -> bytes:
        """The message body of frame number `seq`."""
        at = self.frame_index(seq)
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
