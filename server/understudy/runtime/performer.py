"""A performer as the server knows it: its stream, the sessions it drives, its newest poses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from understudy.config import PerformerConfig
from understudy.ingest import PerformerStream, SourcePose
from understudy.ingest.vmc_source import VMC_HUMANOID
from understudy.kinematics import FloatArray, Pose
from understudy.runtime.mailbox import Mailbox
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns
from understudy_protocol.inspection import inspection_topic

MAX_PERFORMERS: Final = 64


class PoseRecording:
    """Poses of one skeleton as they come, to be looked at afterwards; full after `_MOST`."""

    _MOST: Final = 5000

    def __init__(self, skeleton_id: int) -> None:
        self._skeleton_id = skeleton_id
        self.roots: list[FloatArray] = []
        self.rotations: list[FloatArray] = []

    def add(self, pose: SourcePose, skeleton_id: int) -> None:
        """Keep a copy of a pose; one of another skeleton is left out."""
        if skeleton_id == self._skeleton_id and len(self.roots) < self._MOST:
            self.roots.append(pose.root.copy())
            self.rotations.append(pose.rotations_xyzw.copy())


class Performer:
    """One name on the uplink.

    `live` are the sessions solved with each frame; `clocked` those that sample `mailbox`. Both are
    replaced as a whole, never changed, so that the receiving thread needs no lock to read them.
    `watched` says that somebody wants to see its frames. `humanoid` (role -> joint name) is known
    of performers whose protocol names the joints. `recording` is set while a calibration looks at
    the poses.
    """

    def __init__(self, config: PerformerConfig) -> None:
        self.config = config
        self.stream = PerformerStream(config.name)
        self.live: tuple[Session, ...] = ()
        self.clocked: tuple[Session, ...] = ()
        self.mailbox: Mailbox | None = None
        self.refused: Counter[str] = Counter()
        self.heard_ns: int | None = None
        self.watched = False
        self.recording: PoseRecording | None = None
        self._held: tuple[int, Pose] | None = None
        self.humanoid: Mapping[str, str] = VMC_HUMANOID if config.vmc else {}
        self.shown_skeleton_topic = inspection_topic(config.name, "skeleton")
        self.shown_frame_topic = inspection_topic(config.name, "frame")

    @property
    def name(self) -> str:
        """The name in its topics."""
        return self.config.name

    @property
    def sessions(self) -> tuple[Session, ...]:
        """Everything it drives."""
        return self.live + self.clocked

    def hold(self, skeleton_id: int, pose: Pose) -> None:
        """Remember the pose of a live calibration of a skeleton."""
        self._held = (skeleton_id, pose)

    def held(self, skeleton_id: int) -> Pose | None:
        """The pose in which a skeleton was calibrated live, if it was."""
        held = self._held
        return None if held is None or held[0] != skeleton_id else held[1]

    def set_sessions(self, sessions: tuple[Session, ...]) -> None:
        """Replace what it drives."""
        self.live = tuple(s for s in sessions if s.config.rate_hz is None)
        self.clocked = tuple(s for s in sessions if s.config.rate_hz is not None)
        self.renew_mailbox()

    def drive(self, pose: SourcePose, arrival_ns: int, decoded_ns: int) -> None:
        """Take an accepted pose to every character; to be called by the thread that received it.

        `arrival_ns` and `decoded_ns` are moments on the performance counter.
        """
        self.heard_ns = arrival_ns
        mailbox = self.mailbox
        if mailbox is not None:
            mailbox.push(pose)
        recording = self.recording
        if recording is not None:
            recording.add(pose, self.stream.skeleton_id)
        ingested = now_ns()
        if pose.restarted:
            for session in self.sessions:
                session.publish_event("restarted", f"performer {self.name!r} restarted")
        live, skeleton_id = self.live, self.stream.skeleton_id
        for session in live:
            session.advance(pose, skeleton_id, arrival_ns, decoded_ns, ingested)
        for session in live:
            if session.watched:
                session.show_goals()

    def renew_mailbox(self) -> None:
        """Make room for poses of the current skeleton, if anyone samples them."""
        skeleton = self.stream.skeleton
        if skeleton is None or not self.clocked:
            self.mailbox = None
        elif self.mailbox is None or self.mailbox.skeleton_id != self.stream.skeleton_id:
            self.mailbox = Mailbox(self.stream.skeleton_id, len(skeleton), len(self.stream.markers))
