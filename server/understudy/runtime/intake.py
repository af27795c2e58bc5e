"""The receiving thread's work: a message from the uplink goes to whom it concerns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from understudy.ingest import FrameRejected
from understudy.kinematics import SkeletonError
from understudy.runtime.performer import MAX_PERFORMERS, Performer
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns, wall_ns
from understudy.transport import Arrival
from understudy_protocol.errors import ProtocolError
from understudy_protocol.topics import open_envelope
from understudy_protocol.uplink import decode_goal

FindPerformer = Callable[[str], Performer | None]
FindSession = Callable[[str], Session | None]
Send = Callable[[bytes, bytes], None]


class Intake:
    """Decodes, takes in, solves and publishes, all in the thread that calls `handle`.

    `find_performer` may make a performer known and says None when there are too many;
    `on_skeleton` is told when a performer's skeleton is new; `send` publishes what a watched
    performer sends, after the characters' poses. What cannot be used is counted, and nothing is
    logged here: a bad sender must not slow the others down.
    """

    def __init__(
        self,
        find_performer: FindPerformer,
        find_session: FindSession,
        on_skeleton: Callable[[Performer], None],
        send: Send,
    ) -> None:
        self.refused: Counter[str] = Counter()
        self._find_performer = find_performer
        self._find_session = find_session
        self._on_skeleton = on_skeleton
        self._send = send
        self._senders: dict[bytes, Performer] = {}  # by the topics of their frames

    def handle(self, arrival: Arrival) -> None:
        """Take one message to its end."""
        parts, arrival_ns = arrival
        sender = self._senders.get(parts[0])
        if sender is not None and len(parts) == 2:
            self._frame(sender, parts[1], arrival_ns)
            return
        try:
            name, kind, body = open_envelope(parts)
        except ProtocolError as error:
            self.refused[error.reason] += 1
            return
        if kind == "goal":
            self._goal(name, bytes(body), arrival_ns)
        elif kind == "frame" or kind == "skeleton":
            performer = self._find_performer(name)
            if performer is None:
                self.refused["too-many-performers"] += 1
                return
            if kind == "frame":
                # Only topics of performers that were let in are remembered: the table stays small.
                if len(self._senders) < MAX_PERFORMERS:
                    self._senders[parts[0]] = performer
                self._frame(performer, parts[1], arrival_ns)
            else:
                self._skeleton(performer, parts[1])
        else:
            self.refused["unknown-kind"] += 1

    def _frame(self, performer: Performer, body: bytes, arrival_ns: int) -> None:
        stream = performer.stream
        try:
            frame = stream.read(body)
            decoded = now_ns()
            pose = stream.take(frame, wall_ns(arrival_ns))
        except FrameRejected:
            return  # counted by the stream
        except ProtocolError as error:
            performer.refused[error.reason] += 1
            return
        performer.drive(pose, arrival_ns, decoded)
        if performer.watched:
            self._send(performer.shown_frame_topic, body)

    def _skeleton(self, performer: Performer, body: bytes) -> None:
        try:
            new = performer.stream.announce(body)
        except ProtocolError as error:
            performer.refused[error.reason] += 1
        except SkeletonError:
            performer.refused["bad-skeleton"] += 1
        else:
            if new:
                performer.renew_mailbox()
                self._on_skeleton(performer)
            if performer.watched:
                self._send(performer.shown_skeleton_topic, body)

    def _goal(self, character: str, body: bytes, arrival_ns: int) -> None:
        session = self._find_session(character)
        if session is None:
            self.refused["unknown-character"] += 1
            return
        try:
            session.take_goal(decode_goal(body), arrival_ns)
        except ProtocolError as error:
            self.refused[error.reason] += 1
