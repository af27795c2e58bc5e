"""What the server publishes, taken in by one thread: every body's newest pose and its figures."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, NamedTuple

from understudy.errors import UnderstudyError
from understudy.ingest import skeleton_from_message
from understudy.kinematics import Skeleton
from understudy.monitor.figures import History, Latencies, Percentiles, Rate
from understudy_client import Audience, Seen
from understudy_protocol import EventMessage, FrameMessage, PoseMessage, SkeletonMessage
from understudy_protocol.inspection import GoalsMessage
from understudy_protocol.status import STALE

# How long the thread may take to notice that it should end.
_LOOK_S: Final = 0.2


class BodyKey(NamedTuple):
    """A performer and a character may have the same name."""

    of_performer: bool
    name: str


class BodyView(NamedTuple):
    """The newest that is known of a body; `heard_s` is when it came, by `time.monotonic`."""

    key: BodyKey
    message: SkeletonMessage
    skeleton: Skeleton
    pose: FrameMessage | PoseMessage
    goals: GoalsMessage | None  # of this very pose
    heard_s: float
    rate_hz: float


class LatencyView(NamedTuple):
    """Milliseconds from a frame's arrival at the server to the publication of its poses."""

    now: Percentiles | None
    history: History


OnPose = Callable[[BodyKey, SkeletonMessage, FrameMessage | PoseMessage], None]
OnEvent = Callable[[EventMessage], None]


class _Track:
    """One body's stream."""

    def __init__(self, message: SkeletonMessage) -> None:
        self.message = message
        self.skeleton = skeleton_from_message(message)
        self.pose: FrameMessage | PoseMessage | None = None
        self.goals: GoalsMessage | None = None
        self.aimed: PoseMessage | None = None  # the newest pose whose goals have come
        self.heard_s = 0.0
        self.rate = Rate()

    def newest(self) -> tuple[FrameMessage | PoseMessage | None, GoalsMessage | None]:
        """A pose with its own goals: of a fast hand, those of the next frame would be far off."""
        aimed = self.aimed
        if aimed is not None and self.pose is not None and 0 <= self.pose.seq - aimed.seq <= 2:
            return aimed, self.goals
        return self.pose, None


class Feed:
    """Listens from `start` to `stop`; everything else may be called from any thread.

    `on_pose` is told every pose, `on_event` every event, by the thread that listens.
    """

    def __init__(self, address: str, on_pose: OnPose, on_event: OnEvent) -> None:
        self._address = address
        self._on_pose = on_pose
        self._on_event = on_event
        self._lock = threading.Lock()
        self._tracks: dict[BodyKey, _Track] = {}
        self._latencies = Latencies()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="feed", daemon=True)

    def start(self) -> None:
        """Begin to listen; a server may come later."""
        self._thread.start()

    def stop(self) -> None:
        """Leave; returns when the thread has ended."""
        self._stopping.set()
        self._thread.join()

    def bodies(self) -> tuple[BodyView, ...]:
        """Every body that has a pose: performers first, each kind by name."""
        now_s = time.monotonic()
        with self._lock:
            views = []
            for key, track in sorted(
                self._tracks.items(), key=lambda item: (not item[0].of_performer, item[0].name)
            ):
                pose, goals = track.newest()
                if pose is not None:
                    rate_hz = track.rate.now(now_s)
                    views.append(
                        BodyView(
                            key, track.message, track.skeleton, pose, goals, track.heard_s, rate_hz
                        )
                    )
            return tuple(views)

    def latency(self) -> LatencyView:
        """How long poses take, now and over the last minutes."""
        now_s = time.monotonic()
        with self._lock:
            return LatencyView(self._latencies.now(now_s), self._latencies.history(now_s))

    def keep_only(self, keys: set[BodyKey]) -> None:
        """Forget the bodies that the server no longer knows."""
        with self._lock:
            self._tracks = {key: track for key, track in self._tracks.items() if key in keys}

    def _listen(self) -> None:
        with Audience(self._address) as audience:
            while not self._stopping.is_set():
                seen = audience.receive(_LOOK_S)
                if seen is not None:
                    self._take(seen, time.monotonic())

    def _take(self, seen: Seen, now_s: float) -> None:
        key = BodyKey(seen.of_performer, seen.name)
        message = seen.message
        if isinstance(message, SkeletonMessage):
            self._take_skeleton(key, message)
        elif isinstance(message, FrameMessage | PoseMessage):
            track = self._tracks.get(key)
            if track is None or track.message.id != message.skeleton_id:
                return
            with self._lock:
                track.pose = message
                track.heard_s = now_s
                track.rate.record(now_s)
                if isinstance(message, PoseMessage) and not message.status & STALE:
                    self._latencies.record(now_s, (message.publish_ns - message.arrival_ns) * 1e-6)
            self._on_pose(key, track.message, message)
        elif isinstance(message, GoalsMessage):
            track = self._tracks.get(key)
            if track is not None and track.message.id == message.skeleton_id:
                with self._lock:
                    if isinstance(track.pose, PoseMessage) and track.pose.seq == message.seq:
                        track.goals, track.aimed = message, track.pose
        elif isinstance(message, EventMessage):
            if message.kind == "closed":
                with self._lock:
                    self._tracks.pop(key, None)
            self._on_event(message)

    def _take_skeleton(self, key: BodyKey, message: SkeletonMessage) -> None:
        known = self._tracks.get(key)
        if known is not None and known.message.id == message.id:
            return
        try:
            track = _Track(message)
        except UnderstudyError:
            return  # a body that cannot be built is not shown; the server says why
        with self._lock:
            self._tracks[key] = track
