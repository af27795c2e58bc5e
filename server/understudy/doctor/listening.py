"""Collecting facts at an input: a UDP port that VMC comes to, or a ZeroMQ address."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Final

import numpy as np

from understudy.doctor.bodies import measure_body, measure_rhythm
from understudy.doctor.facts import BodyFacts, InputFacts
from understudy.ingest import FrameRejected, PerformerStream, SourcePose
from understudy.ingest.vmc_source import VMC_HUMANOID, VmcSource
from understudy.kinematics import FloatArray, SkeletonError
from understudy.transport import AddressError, Datagram, FrameInput, UdpInput
from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_MESSAGE_BYTES
from understudy_protocol.osc import decode_vmc
from understudy_protocol.osc.vmc_events import Bones, Status
from understudy_protocol.topics import open_envelope

USUAL_VMC_PORTS: Final = (39539, 39540, 39541)
_LOOK_S: Final = 0.02
_MOST_FRAMES: Final = 4000


class _Frames:
    """The accepted frames of one body; another body begins anew."""

    def __init__(self, humanoid: Mapping[str, str]) -> None:
        self._humanoid = humanoid
        self._skeleton_id = 0
        self._roots: list[FloatArray] = []
        self._rotations: list[FloatArray] = []
        self.arrivals_s: list[float] = []

    def add(self, stream: PerformerStream, pose: SourcePose, arrival_s: float) -> None:
        self.arrivals_s.append(arrival_s)
        if stream.skeleton_id != self._skeleton_id:
            self._skeleton_id = stream.skeleton_id
            self._roots.clear()
            self._rotations.clear()
        if len(self._roots) < _MOST_FRAMES:
            self._roots.append(pose.root.copy())
            self._rotations.append(pose.rotations_xyzw.copy())

    def body(self, stream: PerformerStream) -> BodyFacts | None:
        if stream.skeleton is None or not self._roots:
            return None
        return measure_body(
            stream.skeleton, self._humanoid, np.array(self._roots), np.array(self._rotations)
        )


class _VmcListener:
    """What came to one UDP port, with a body put together as the server would."""

    def __init__(self) -> None:
        self.messages = 0
        self.with_bones = 0
        self.model_loaded: bool | None = None
        self.tracking_lost = 0
        self.senders: set[str] = set()
        self.stream = PerformerStream("performer")
        self.source = VmcSource(self.stream)
        self.frames = _Frames(VMC_HUMANOID)

    def take(self, datagram: Datagram) -> None:
        self.messages += 1
        events = decode_vmc(datagram.data).events
        if any(isinstance(event, Bones) for event in events):
            self.with_bones += 1
            self.senders.add(f"{datagram.sender[0]}:{datagram.sender[1]}")
        for event in events:
            if isinstance(event, Status):
                self.model_loaded = event.loaded == 1
                self.tracking_lost += event.tracking == 0
        for reading in self.source.feed(datagram.data, datagram.sender, datagram.time_ns):
            try:
                pose = self.stream.take(reading.frame, reading.arrival_ns)
            except FrameRejected as rejected:
                self.source.refused[rejected.reason] += 1
            else:
                self.frames.add(self.stream, pose, reading.arrival_ns * 1e-9)


def listen_for_vmc(host: str, port: int, seconds: float) -> InputFacts:
    """Listen at a UDP port, and beside it at the ports VMC usually uses."""
    where = f"udp port {port}"
    listener = _VmcListener()
    heard: set[int] = set()
    taken: list[int] = []
    with ExitStack() as stack:
        try:
            main = stack.enter_context(closing(UdpInput(host, port)))
        except AddressError:
            return InputFacts(where, seconds, vmc=True, taken=True)
        others: dict[int, UdpInput] = {}
        for usual in USUAL_VMC_PORTS:
            if usual != main.bound.port:
                try:
                    others[usual] = stack.enter_context(closing(UdpInput(host, usual)))
                except AddressError:
                    taken.append(usual)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            datagram = main.receive(_LOOK_S)
            if datagram is not None:
                listener.take(datagram)
                continue
            for usual, other in others.items():
                while other.receive(0.0) is not None:
                    heard.add(usual)
    return InputFacts(
        where,
        seconds,
        vmc=True,
        messages=listener.messages,
        senders=tuple(sorted(listener.senders)),
        elsewhere=tuple(sorted(heard)),
        taken_elsewhere=tuple(taken),
        refused=dict(listener.source.refused),
        with_bones=listener.with_bones,
        model_loaded=listener.model_loaded,
        tracking_lost=listener.tracking_lost,
        rhythm=measure_rhythm(np.array(listener.frames.arrivals_s)),
        body=listener.frames.body(listener.stream),
    )


class _NativeListener:
    """What came to a ZeroMQ input; the body is that of the performer heard first."""

    def __init__(self) -> None:
        self.messages = 0
        self.with_frames = 0
        self.refused: Counter[str] = Counter()
        self.streams: dict[str, PerformerStream] = {}
        self.frames = _Frames({})

    @property
    def first(self) -> PerformerStream | None:
        return next(iter(self.streams.values()), None)

    def take(self, parts: list[bytes], arrival_ns: int) -> None:
        self.messages += 1
        try:
            name, kind, body = open_envelope(parts)
            if kind == "skeleton":
                self.streams.setdefault(name, PerformerStream(name)).announce(bytes(body))
            elif kind == "frame":
                self.with_frames += 1
                stream = self.streams.setdefault(name, PerformerStream(name))
                pose = stream.take(stream.read(bytes(body)), arrival_ns)
                if stream is self.first:
                    self.frames.add(stream, pose, arrival_ns * 1e-9)
        except (ProtocolError, FrameRejected) as error:
            self.refused[error.reason] += 1
        except SkeletonError:
            self.refused["bad-skeleton"] += 1


def listen_for_frames(address: str, seconds: float) -> InputFacts:
    """Listen at a ZeroMQ address, in a server's place."""
    listener = _NativeListener()
    try:
        source = FrameInput(address, MAX_MESSAGE_BYTES, _LOOK_S, listener.refused)
    except AddressError:
        return InputFacts(address, seconds, vmc=False, taken=True)
    with closing(source):
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            arrival = source.receive()
            if arrival is not None:
                listener.take(*arrival)
    stream = listener.first
    return InputFacts(
        address,
        seconds,
        vmc=False,
        messages=listener.messages,
        senders=tuple(listener.streams),
        refused=dict(listener.refused),
        with_bones=listener.with_frames,
        rhythm=measure_rhythm(np.array(listener.frames.arrivals_s)),
        body=None if stream is None else listener.frames.body(stream),
    )
