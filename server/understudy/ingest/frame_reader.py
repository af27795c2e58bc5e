"""Frames out of bytes, into one buffer: a short way for those that are as they should be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from understudy_protocol.frame_layout import FrameLayout
from understudy_protocol.limits import MAX_I64, MAX_U32, MAX_U64, MIN_I64
from understudy_protocol.messages import Floats, FrameMessage
from understudy_protocol.uplink import decode_frame
from understudy_protocol.wire import unpack


class RawFrame:
    """What a frame says, not yet judged; overwritten by the next one.

    `numbers` (3 + 4 n,) holds the root, then the rotations row by row, if the frame has as many
    rotations as the body has joints; `rotation_count` and `point_count` are what it really has.
    `points` (k, 3) m are the measured ones, None if it has none.
    """

    __slots__ = (
        "capture_ns",
        "numbers",
        "point_count",
        "points",
        "rotation_count",
        "run",
        "seq",
        "skeleton_id",
    )

    def __init__(self, joint_count: int) -> None:
        self.run = 0
        self.seq = 0
        self.capture_ns = 0
        self.skeleton_id = 0
        self.rotation_count = joint_count
        self.point_count: int | None = None
        self.points: Floats | None = None
        self.numbers: NDArray[np.float32] = np.zeros(3 + 4 * joint_count, np.float32)


class FrameReader:
    """Reads frames of a body with `joint_count` joints into one `RawFrame`.

    A frame of the expected shape is copied as it is: its numbers are looked at once, where they
    are normalised. One that is laid out as the last is not even unpacked. Any other goes through
    the codec, which knows what is wrong with it.
    """

    def __init__(self, joint_count: int) -> None:
        self._joint_count = joint_count
        self._layout: FrameLayout | None = None
        self._frame = RawFrame(joint_count)
        self._bytes = self._frame.numbers.data.cast("B")
        self._size = 16 * joint_count

    def read(self, body: bytes) -> RawFrame:
        """The frame in `body` (valid until the next); ProtocolError if it is none."""
        frame = self._frame
        if self._layout is not None:
            numbers = self._layout.read(body)
            if numbers is not None:
                frame.seq, frame.capture_ns, self._bytes[:12], self._bytes[12:] = numbers
                return frame
        fields = unpack("frame", body)
        root, rotations = fields.get("root"), fields.get("rot")
        if (
            type(root) is bytes
            and type(rotations) is bytes
            and len(root) == 12
            and len(rotations) == self._size
            and fields.get("points") is None
            and _numbered(fields)
        ):
            self._bytes[:12] = root
            self._bytes[12:] = rotations
            frame.run = fields["run"]
            frame.seq = fields["seq"]
            frame.capture_ns = fields["t_capture"]
            frame.skeleton_id = fields["skeleton"]
            frame.rotation_count = self._joint_count
            frame.point_count = None
            frame.points = None
            self._layout = FrameLayout.of(body, fields)
            return frame
        return self.copy(decode_frame(body))

    def copy(self, message: FrameMessage) -> RawFrame:
        """A decoded message as a frame (valid until the next)."""
        self._layout = None
        frame = self._frame
        frame.run = message.run
        frame.seq = message.seq
        frame.capture_ns = message.capture_ns
        frame.skeleton_id = message.skeleton_id
        frame.rotation_count = len(message.rotations_xyzw)
        frame.point_count = None if message.points is None else len(message.points)
        frame.points = message.points
        if frame.rotation_count == self._joint_count:
            frame.numbers[:3] = message.root
            frame.numbers[3:] = message.rotations_xyzw.reshape(-1)
        return frame


def _numbered(fields: Mapping[str, Any]) -> bool:
    """Whether the four integers of a frame are there and in their ranges."""
    run, seq = fields.get("run"), fields.get("seq")
    capture, skeleton = fields.get("t_capture"), fields.get("skeleton")
    return (
        type(run) is int
        and type(seq) is int
        and type(capture) is int
        and type(skeleton) is int
        and 0 <= run <= MAX_U32
        and 0 <= seq <= MAX_U64
        and MIN_I64 <= capture <= MAX_I64
        and 0 <= skeleton <= MAX_U32
    )
