"""A performer who speaks VMC: datagrams in, frames of its body out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np

from understudy.ingest.datagrams import Reading, Sender, SenderClock
from understudy.ingest.frame_reader import RawFrame
from understudy.ingest.performer import PerformerStream
from understudy.ingest.sequence import TAKEOVER_NS
from understudy.ingest.skeletons import message_from_skeleton
from understudy.ingest.vmc_assembly import VmcAssembler, VmcFrame
from understudy.ingest.vmc_skeleton import VmcBody
from understudy_protocol.osc.bones import VRM1_NAMES
from understudy_protocol.osc.vmc_events import Bones, PassedOn, VmcDatagram
from understudy_protocol.osc.vmc_in import VmcDecoder
from understudy_protocol.skeletons import encode_skeleton

VMC_HUMANOID: Final = {role: bone for bone, role in VRM1_NAMES.items()}
"""VRM 1 role to the name of the joint that plays it, in every VMC performer's skeleton."""


class VmcSource:
    """Feeds a performer's `stream` from one UDP port.

    One sender is listened to at a time, and another only when that one has been silent for a
    second: two would tear the body between them. Anyone may send blendshapes and the like.
    """

    def __init__(self, stream: PerformerStream) -> None:
        self.refused: Counter[str] = Counter()
        self._stream = stream
        self._decoder = VmcDecoder()
        self._assembler = VmcAssembler()
        self._body = VmcBody()
        self._clock = SenderClock()
        self._passed_on: list[bytes] = []
        self._sender: Sender | None = None
        self._heard_ns = 0
        self._frame = RawFrame(0)
        self._root = np.zeros(3)
        self._rotations = np.zeros((0, 4))

    @property
    def deadline_ns(self) -> int | None:
        """When `poll` is due; None while no frame waits for more bones."""
        return self._assembler.deadline_ns

    def feed(self, data: bytes, sender: Sender, now_ns: int) -> Iterator[Reading]:
        """Take in a datagram; its messages to pass on are ready before the first frame is."""
        datagram = self._decoder.decode(data)
        for error in datagram.refused:
            self.refused[error.reason] += 1
        if sender != self._sender and not self._take_over(datagram, sender, now_ns):
            return
        self._heard_ns = now_ns
        frames = self._assembler.feed(datagram, now_ns)
        for frame in frames:
            self._passed_on += frame.passed_on
        self._passed_on += self._assembler.take_passed_on()
        for frame in frames:
            yield from self._frames(frame)

    def poll(self, now_ns: int) -> Iterator[Reading]:
        """The frame that no more bones came for, if there is one."""
        frame = self._assembler.poll(now_ns)
        if frame is not None:
            self._passed_on += frame.passed_on
            yield from self._frames(frame)

    def take_passed_on(self) -> list[bytes]:
        """Blendshape, camera and Thru messages since the last call, as they came."""
        messages = self._passed_on
        if messages:
            self._passed_on = []
        return messages

    def _take_over(self, datagram: VmcDatagram, sender: Sender, now_ns: int) -> bool:
        """Whether a new sender is the performer from now on; if not, only its face counts."""
        if not any(isinstance(event, Bones) for event in datagram.events):
            self._passed_on += [e.raw for e in datagram.events if isinstance(e, PassedOn)]
            return False
        if self._sender is not None and now_ns - self._heard_ns < TAKEOVER_NS:
            self.refused["other-sender"] += 1
            return False
        if self._sender is not None:
            self._assembler.reset()
            self._clock = SenderClock()
            self._frame.run += 1
        self._sender = sender
        return True

    def _frames(self, frame: VmcFrame) -> Iterator[Reading]:
        """The frame in the stream's terms; none while the body is not known."""
        for error in frame.refused:
            self.refused[error.reason] += 1
        if frame.status is not None and frame.status.tracking == 0:
            self.refused["bad-tracking"] += 1
        if self._body.update(frame):
            self._announce()
        raw = self._frame
        if self._body.skeleton is None:
            self.refused["no-body"] += 1
            return
        self._body.pose_into(frame, self._root, self._rotations)
        raw.numbers[:3] = self._root
        raw.numbers[3:] = self._rotations.reshape(-1)
        raw.capture_ns = self._clock.capture_ns(frame.source_time_s, frame.arrival_ns)
        raw.seq += 1
        yield Reading(raw, frame.arrival_ns)

    def _announce(self) -> None:
        skeleton = self._body.skeleton
        assert skeleton is not None
        self._stream.announce(encode_skeleton(message_from_skeleton(skeleton)))
        last = self._frame
        self._frame = RawFrame(len(skeleton))
        self._frame.run, self._frame.seq = last.run, last.seq
        self._frame.skeleton_id = self._stream.skeleton_id
        self._rotations = np.zeros((len(skeleton), 4))
