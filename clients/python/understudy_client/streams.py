"""What is said on a stream, apart from the socket it is said on.

The plain and the asyncio clients share these two classes; neither knows a socket or a clock.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from understudy_protocol import (
    ANNOUNCE_INTERVAL_NS,
    EventMessage,
    FrameMessage,
    GoalMessage,
    PoseMessage,
    ProtocolError,
    SkeletonMessage,
    decode_message,
    encode_frame,
    encode_goal,
    encode_skeleton,
    open_envelope,
    subscription,
    topic,
)

Parts = tuple[bytes, bytes]


class PerformerStream:
    """The messages of one run of a performer, in order.

    The run's number is drawn at random, so that a server tells a restart from late frames.
    """

    def __init__(self, name: str, skeleton: SkeletonMessage) -> None:
        self._frame_topic = topic(name, "frame")
        self._skeleton_topic = topic(name, "skeleton")
        self._run = secrets.randbits(32)
        self._frames = 0
        self._goals = 0
        self._announced_ns: int | None = None
        self._wanted: set[bytes] = set()
        self.name = name
        self.change_skeleton(skeleton)

    @property
    def frames(self) -> int:
        """How many frames were made so far."""
        return self._frames

    @property
    def wanted(self) -> bool:
        """Whether a server listens to this performer right now."""
        return any(self._frame_topic.startswith(prefix) for prefix in self._wanted)

    def heed(self, notice: bytes) -> None:
        """Take note of a subscription (1 and a prefix) or its end (0 and a prefix).

        Whoever begins to listen is told the skeleton before the next frame.
        """
        if notice[:1] == b"\x01":
            self._wanted.add(notice[1:])
            self._announced_ns = None
        else:
            self._wanted.discard(notice[1:])

    def change_skeleton(self, skeleton: SkeletonMessage) -> None:
        """Frames speak about this body from now on; it is announced before the next one."""
        self._skeleton_body = encode_skeleton(skeleton)
        self.skeleton = skeleton
        self._announced_ns = None

    def announcement(self, now_ns: int) -> Parts:
        """The skeleton, to be sent at `now_ns` (any steady clock)."""
        self._announced_ns = now_ns
        return self._skeleton_topic, self._skeleton_body

    def announcement_due(self, now_ns: int) -> bool:
        """Whether the skeleton was last announced so long ago that it must be repeated."""
        return self._announced_ns is None or now_ns - self._announced_ns >= ANNOUNCE_INTERVAL_NS

    def frame(
        self,
        root: ArrayLike,
        rotations_xyzw: ArrayLike,
        points: ArrayLike | None,
        capture_ns: int,
    ) -> Parts:
        """The next frame: `root` (3,) m, `rotations_xyzw` (n, 4), `points` (k, 3) m."""
        rotations = np.asarray(rotations_xyzw)
        joints = len(self.skeleton.joints)
        if rotations.shape != (joints, 4):
            raise ProtocolError(
                "bad-length",
                f"frame of {self.name!r}: rotations have shape {rotations.shape};"
                f" allowed: ({joints}, 4), one per joint of its skeleton",
            )
        body = encode_frame(
            FrameMessage(
                run=self._run,
                seq=self._frames,
                capture_ns=capture_ns,
                skeleton_id=self.skeleton.id,
                root=np.asarray(root),
                rotations_xyzw=rotations,
                points=None if points is None else np.asarray(points),
            )
        )
        self._frames += 1
        return self._frame_topic, body

    def goal(
        self,
        character: str,
        effector: str,
        position: ArrayLike | None,
        orientation_xyzw: ArrayLike | None,
        weight: float,
        ease_s: float,
        capture_ns: int,
    ) -> Parts:
        """The next goal for an effector of a character; without a position, its release."""
        body = encode_goal(
            GoalMessage(
                run=self._run,
                seq=self._goals,
                capture_ns=capture_ns,
                effector=effector,
                position=None if position is None else np.asarray(position),
                orientation_xyzw=None if orientation_xyzw is None else np.asarray(orientation_xyzw),
                weight=weight,
                ease_s=ease_s,
                release=position is None,
            )
        )
        self._goals += 1
        return topic(character, "goal"), body


class CharacterStream:
    """Reads what arrives about one character; keeps its skeleton and counts what it had to skip."""

    def __init__(self, name: str, on_event: Callable[[EventMessage], None] | None) -> None:
        self.name = name
        self.prefix = subscription(name)
        self.skeleton: SkeletonMessage | None = None
        self.skipped = 0
        self._on_event = on_event

    def read(self, parts: Sequence[bytes]) -> PoseMessage | None:
        """The pose in a received message, None where it is something else or cannot be used.

        A pose cannot be used before the skeleton it speaks about has come.
        """
        try:
            _, kind, body = open_envelope(parts)
            message = decode_message(kind, body)
        except ProtocolError:
            self.skipped += 1
            return None
        if isinstance(message, PoseMessage):
            if self.skeleton is not None and self.skeleton.id == message.skeleton_id:
                return message
            self.skipped += 1
        elif isinstance(message, SkeletonMessage):
            self.skeleton = message
        elif isinstance(message, EventMessage) and self._on_event is not None:
            self._on_event(message)
        return None
