"""A real server on free ports, and raw sockets that stand for performers and subscribers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import numpy as np
import zmq

from understudy.characters import Clip
from understudy.characters.library import load_clip
from understudy.config import parse_config
from understudy.ingest import message_from_skeleton
from understudy.kinematics import Skeleton
from understudy.runtime.server import Server
from understudy_protocol import (
    EventMessage,
    FrameMessage,
    PoseMessage,
    Refusal,
    Reply,
    SkeletonMessage,
    decode_event,
    decode_pose,
    decode_reply,
    decode_skeleton,
    encode_frame,
    encode_request,
    encode_skeleton,
    topic,
)

TIMEOUT_S = 20.0
ANY_PORT = {key: "tcp://127.0.0.1:*" for key in ("input", "output", "control")}

Received = SkeletonMessage | PoseMessage | EventMessage


@contextmanager
def serving(*sessions: dict[str, Any], **tables: Any) -> Iterator[Server]:
    """A running server for these sessions."""
    document = {"server": ANY_PORT, "session": list(sessions), **tables}
    with Server(parse_config(document)) as server:
        yield server


class LivePerformer:
    """Sends the frames of a clip, under the numbers and times a test wants."""

    def __init__(self, name: str, endpoint: str, clip: Clip | None = None) -> None:
        self.name = name
        self.clip = load_clip("walk", 120.0) if clip is None else clip
        self.run = 1
        self.seq = 0
        self.capture_ns = 0
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.XPUB)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVTIMEO, int(TIMEOUT_S * 1e3))
        self._socket.connect(endpoint)
        assert self._socket.recv() == b"\x01"  # the server listens
        self.announce(self.clip.skeleton)

    def announce(self, skeleton: Skeleton) -> None:
        message = message_from_skeleton(skeleton)
        self.skeleton_id = message.id
        self._socket.send_multipart((topic(self.name, "skeleton"), encode_skeleton(message)))

    def send(self, index: int, **changes: Any) -> None:
        """Send the clip's frame `index` as the next one; `changes` replace message fields."""
        fields: dict[str, Any] = {
            "run": self.run,
            "seq": self.seq,
            "capture_ns": self.capture_ns,
            "skeleton_id": self.skeleton_id,
            "root": self.clip.roots[index],
            "rotations_xyzw": self.clip.rotations_xyzw[index],
        }
        fields.update(changes)
        self.seq = fields["seq"] + 1
        self.capture_ns = fields["capture_ns"] + int(1e9 / self.clip.rate_hz)
        self.send_raw("frame", encode_frame(FrameMessage(**fields)))

    def send_raw(self, kind: str, body: bytes, about: str | None = None) -> None:
        """Send any body, about this performer or about a character."""
        self._socket.send_multipart((f"{about or self.name}/{kind}".encode(), body))

    def close(self) -> None:
        self._socket.close()


@contextmanager
def sending(send: Callable[[int], None], rate_hz: float = 60.0) -> Iterator[None]:
    """Call `send` with 0, 1, 2, ... in a thread, evenly, until the block ends."""
    ended = threading.Event()

    def run() -> None:
        number = 0
        while not ended.wait(1.0 / rate_hz):
            send(number)
            number += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextmanager
def playing(server: Server, rate_hz: float) -> Iterator[None]:
    """A performer whose clip goes round and round until the block ends."""
    with closing(LivePerformer("alice", server.endpoints.input)) as performer:
        frames = performer.clip.frame_count
        with sending(lambda number: performer.send(number % frames), rate_hz):
            yield


class Subscriber:
    """Reads what a server publishes about a character (about all of them without a name)."""

    def __init__(self, endpoint: str, character: str | None = None) -> None:
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVTIMEO, int(TIMEOUT_S * 1e3))
        self._socket.setsockopt(zmq.SUBSCRIBE, f"{character}/".encode() if character else b"")
        self._socket.connect(endpoint)
        self.events: list[EventMessage] = []

    def receive(self) -> tuple[str, Received]:
        """The next message and the character it is about."""
        topic_bytes, body = self._socket.recv_multipart()
        name, kind = topic_bytes.decode().split("/")
        if kind == "skeleton":
            return name, decode_skeleton(body)
        if kind == "pose":
            return name, decode_pose(body)
        event = decode_event(body)
        self.events.append(event)
        return name, event

    def skeleton(self) -> SkeletonMessage:
        """The next skeleton; the subscription is in force once it has come."""
        while True:
            _, message = self.receive()
            if isinstance(message, SkeletonMessage):
                return message

    def pose(self, wanted: Callable[[PoseMessage], bool] = lambda pose: True) -> PoseMessage:
        """The next pose that is `wanted`."""
        deadline = time.monotonic() + TIMEOUT_S
        while time.monotonic() < deadline:
            _, message = self.receive()
            if isinstance(message, PoseMessage) and wanted(message):
                return message
        raise AssertionError("no such pose came")

    def answer(self, seq: int) -> PoseMessage:
        """The pose made of the performer's frame `seq`."""
        return self.pose(lambda pose: pose.source_seq == seq)

    def event(self, kind: str) -> EventMessage:
        """The next event of a kind, those that came already included."""
        while True:
            for event in self.events:
                if event.kind == kind:
                    self.events.remove(event)
                    return event
            self.receive()

    def close(self) -> None:
        self._socket.close()


class ControlClient:
    """Asks the server and waits for the answer."""

    def __init__(self, endpoint: str) -> None:
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.REQ)
        self._socket.setsockopt(zmq.LINGER, 0)
        self._socket.setsockopt(zmq.RCVTIMEO, int(TIMEOUT_S * 1e3))
        self._socket.connect(endpoint)
        self._id = 0

    def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """The reply's fields; the request must be carried out."""
        reply = self.request(op, **fields)
        assert reply.refusal is None, reply.refusal
        return dict(reply.fields)

    def refused(self, op: str, **fields: Any) -> Refusal:
        """Why the request is not carried out; it must not be."""
        refusal = self.request(op, **fields).refusal
        assert refusal is not None
        return refusal

    def request(self, op: str, **fields: Any) -> Reply:
        self._id += 1
        return self.raw(encode_request(op, self._id, fields))

    def raw(self, body: bytes) -> Reply:
        self._socket.send(body)
        return decode_reply(self._socket.recv())

    def performer(self, name: str) -> dict[str, Any]:
        """The statistics of one performer."""
        return _named(self.ask("stats")["performers"], name)

    def character(self, name: str) -> dict[str, Any]:
        """The statistics of one character."""
        return _named(self.ask("stats")["characters"], name)

    def close(self) -> None:
        self._socket.close()


def _named(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if item["name"] == name)


def largest_turn_rad(a: PoseMessage, b: PoseMessage) -> float:
    """The largest rotation of any joint between two poses."""
    first, second = np.float64(a.rotations_xyzw), np.float64(b.rotations_xyzw)
    apart = np.linalg.norm(first - second, axis=1)
    mirrored = np.linalg.norm(first + second, axis=1)
    return float(4.0 * np.arcsin(np.minimum(apart, mirrored).max() / 2.0))


def root_step_m(a: PoseMessage, b: PoseMessage) -> float:
    """How far the root moved between two poses."""
    return float(np.linalg.norm(np.float64(a.root) - np.float64(b.root)))
