"""A performer who speaks plain OSC: one message per joint in, frames of its body out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from understudy.ingest.datagrams import Reading, Sender
from understudy.ingest.frame_reader import RawFrame
from understudy.ingest.performer import PerformerStream
from understudy.ingest.skeletons import message_from_skeleton
from understudy.kinematics import Joint, Skeleton, SkeletonError
from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_JOINTS
from understudy_protocol.osc.plain import PlainFrame, PlainJoint, address_part, decode_plain
from understudy_protocol.skeletons import encode_skeleton

_NUMBERS: Final = 1 << 31
"""Frame numbers start over after so many."""

_LATE: Final = 120
"""A number this far back or less is of a frame that came late; farther, of a new start."""


class PlainSource:
    """Feeds a performer's `stream` from one UDP port; messages about other names are left out.

    What a datagram does not say stays as it was, and every datagram that says something of the pose
    is a frame. The body is what the skeleton's messages described by then.
    """

    def __init__(self, stream: PerformerStream) -> None:
        self.refused: Counter[str] = Counter()
        self._name = address_part(stream.name)
        self._stream = stream
        self._joints: dict[str, PlainJoint] = {}
        self._changed = False
        self._index: dict[str, int] = {}
        self._frame = RawFrame(0)
        self._number: int | None = None

    @property
    def deadline_ns(self) -> int | None:
        """Nothing ever waits: a datagram is a frame."""
        return None

    def feed(self, data: bytes, sender: Sender, now_ns: int) -> Iterator[Reading]:
        """Take in a datagram."""
        datagram = decode_plain(data)
        for error in datagram.refused:
            self.refused[error.reason] += 1
        for joint in datagram.skeleton:
            self._learn(joint)
        for frame in datagram.frames:
            if frame.name != self._name:
                self.refused["other-name"] += 1
            elif self._know_body() and self._number_frame(frame.number):
                self._write(frame)
                self._frame.capture_ns = now_ns
                yield Reading(self._frame, now_ns)

    def poll(self, now_ns: int) -> Iterator[Reading]:
        """Nothing: no frame ever waits."""
        return iter(())

    def take_passed_on(self) -> list[bytes]:
        """Nothing: plain OSC has only poses."""
        return []

    def _learn(self, joint: PlainJoint) -> None:
        """Note a joint of the body; the same again, as it comes every second, is no news."""
        if joint.name != self._name:
            self.refused["other-name"] += 1
            return
        known = self._joints.get(joint.joint)
        if known is None and len(self._joints) >= MAX_JOINTS:
            self.refused["too-many-joints"] += 1
            return
        if (
            known is None
            or known.parent != joint.parent
            or (known.offset != joint.offset).any()
            or (known.rest_xyzw != joint.rest_xyzw).any()
        ):
            self._joints[joint.joint] = joint
            self._changed = True

    def _know_body(self) -> bool:
        """Bring the stream's skeleton up to date; whether there is one."""
        if self._changed:
            self._changed = False
            try:
                self._announce()
            except SkeletonError:  # joints are still missing, or do not make a tree
                self.refused["no-body"] += 1
            except ProtocolError as error:
                self.refused[error.reason] += 1
        if not self._index:
            self.refused["no-skeleton"] += 1
        return bool(self._index)

    def _announce(self) -> None:
        skeleton = Skeleton.build(
            Joint(joint.joint, joint.parent, joint.offset, joint.rest_xyzw)
            for joint in self._joints.values()
        )
        self._stream.announce(encode_skeleton(message_from_skeleton(skeleton)))
        last = self._frame
        self._frame = RawFrame(len(skeleton))
        self._frame.run, self._frame.seq = last.run, last.seq
        self._frame.skeleton_id = self._stream.skeleton_id
        self._frame.numbers[:3] = skeleton.offsets[0]
        self._frame.numbers[3:] = skeleton.rest_xyzw.reshape(-1)
        self._index = {name: joint for joint, name in enumerate(skeleton.names)}

    def _number_frame(self, number: int | None) -> bool:
        """Give the frame its place in the stream; False if it came too late.

        A patch that always sends one number has new frames all the same.
        """
        last = self._number
        step = 1 if number is None or last is None else (number - last) % _NUMBERS or 1
        if step >= _NUMBERS - _LATE:
            self.refused["late"] += 1
            return False
        if step >= _NUMBERS // 2:
            self._frame.run += 1
            step = 1
        self._frame.seq += step
        self._number = last if number is None else number
        return True

    def _write(self, frame: PlainFrame) -> None:
        """Write what a frame says over what was said before."""
        numbers = self._frame.numbers
        if frame.root is not None:
            numbers[:7] = frame.root
        for joint, rotation in zip(frame.joints, frame.rotations_xyzw, strict=True):
            number = self._index.get(joint)
            if number is None:
                self.refused["unknown-joint"] += 1
            elif number > 0:  # the root has a message of its own
                numbers[3 + 4 * number : 7 + 4 * number] = rotation
