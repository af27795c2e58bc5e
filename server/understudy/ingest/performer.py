"""One performer's stream: its skeleton, its sequence, and its frames as checked poses."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.ingest._kernels import NUMBERS, take_in
from understudy.ingest.frame_reader import FrameReader, RawFrame
from understudy.ingest.sequence import SequenceGate, Step
from understudy.ingest.skeletons import skeleton_from_message
from understudy.ingest.source import FrameRejected, SourcePose
from understudy.kinematics import Skeleton
from understudy.kinematics.compiled import direct
from understudy.kinematics.tables import ArrayTable
from understudy_protocol.limits import FRAME_UNIT_TOLERANCE, MAX_MAGNITUDE
from understudy_protocol.messages import Marker
from understudy_protocol.skeletons import decode_skeleton

# Nobody runs at 15 m/s, and trackers jitter by less than 0.3 m: a larger step is a teleport.
TELEPORT_SPEED: Final = 15.0
TELEPORT_M: Final = 0.3

_take_in: Final = direct(take_in)


class PerformerStream:
    """Turns a performer's messages into `pose`, which is overwritten by every accepted frame.

    `counts` says how many frames were accepted, lost on the way, or rejected and why;
    `announcement` is the body of the skeleton message in force, empty before there is one;
    `markers` are the points it names.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.skeleton: Skeleton | None = None
        self.skeleton_id = 0
        self.counts: Counter[str] = Counter()
        self.announcement = b""
        self.markers: tuple[Marker, ...] = ()
        self._gate = SequenceGate()
        self._fresh = True
        self._allocate(0)

    @property
    def typical_dt(self) -> float:
        """The performer's usual step between frames, in seconds."""
        return self._gate.typical_dt

    def announce(self, body: bytes) -> bool:
        """Take a skeleton message; True if it is a new skeleton. ProtocolError if it is wrong."""
        if body == self.announcement:
            return False
        message = decode_skeleton(body)
        skeleton = skeleton_from_message(message)
        changed = self.skeleton is not None
        self.skeleton = skeleton
        self.skeleton_id = message.id
        self._allocate(len(skeleton), len(message.markers))
        self.markers = message.markers
        self.announcement = body
        self._fresh = True
        if changed:
            self.counts["skeleton-changes"] += 1
        return True

    def _allocate(self, joint_count: int, marker_count: int = 0) -> None:
        """Make room for the poses of a body."""
        self._joint_count = joint_count
        self.pose = pose = SourcePose.allocate(joint_count, marker_count)
        self._reader = FrameReader(joint_count)
        self._numbers: NDArray[np.float32] = np.zeros(3 + 4 * joint_count, np.float32)
        self._table = ArrayTable(self._numbers, np.zeros(3), pose.root, pose.rotations_xyzw)

    def read(self, body: bytes) -> RawFrame:
        """The frame in a message's body (valid until the next); ProtocolError if it is none."""
        return self._reader.read(body)

    def take(self, frame: RawFrame, arrival_ns: int) -> SourcePose:
        """The frame as a pose (valid until the next), or FrameRejected with the reason."""
        try:
            self._accept(frame, arrival_ns)
        except FrameRejected as rejected:
            self.counts[rejected.reason] += 1
            raise
        self.counts["accepted"] += 1
        return self.pose

    def _accept(self, frame: RawFrame, arrival_ns: int) -> None:
        skeleton = self.skeleton
        if skeleton is None:
            raise FrameRejected("no-skeleton", "no skeleton has been announced")
        if frame.skeleton_id != self.skeleton_id:
            raise FrameRejected(
                "other-skeleton",
                f"skeleton {frame.skeleton_id} is not the announced {self.skeleton_id}",
            )
        if frame.rotation_count != self._joint_count:
            raise FrameRejected(
                "joint-count",
                f"{frame.rotation_count} rotations; the skeleton has {self._joint_count} joints",
            )
        if frame.point_count is not None and frame.point_count != len(self.markers):
            raise FrameRejected(
                "marker-count",
                f"{frame.point_count} points; the skeleton has {len(self.markers)} markers",
            )
        self._gate.check(frame.run, frame.seq, arrival_ns)
        pose = self.pose
        if frame.numbers is not self._numbers:
            self._numbers = frame.numbers
            self._table.put(NUMBERS, frame.numbers)
        table = self._table  # kept while it is worked on, whatever is announced meanwhile
        moved = _take_in(table.address, FRAME_UNIT_TOLERANCE, MAX_MAGNITUDE)
        if moved < 0.0:
            joint = int(-moved) - 1
            if joint == self._joint_count:
                raise FrameRejected("not-finite", "the root is not within the range allowed")
            raise FrameRejected(
                "not-unit", f"the rotation of {skeleton.names[joint]!r} is no unit quaternion"
            )
        if self.markers:
            pose.points[:] = np.nan if frame.points is None else frame.points
        self._follow(frame, arrival_ns, moved)

    def _count(self, step: Step) -> None:
        """Count what went wrong between the last frame and this one."""
        counts = self.counts
        if step.lost:
            counts["gaps"] += 1
            counts["lost"] += step.lost
        if step.restarted:
            counts["restarts"] += 1
        if step.clock_jumped:
            counts["clock-jumps"] += 1

    def _follow(self, frame: RawFrame, arrival_ns: int, moved_m: float) -> None:
        """Fill in how this frame continues the stream."""
        pose = self.pose
        step = self._gate.commit(frame.run, frame.seq, frame.capture_ns, arrival_ns)
        if step.lost or step.restarted or step.clock_jumped:
            self._count(step)
        jump = self._fresh or step.restarted
        if not jump and moved_m > TELEPORT_M and moved_m > TELEPORT_SPEED * step.dt:
            self.counts["teleports"] += 1
            jump = True
        self._fresh = False
        pose.seq = frame.seq
        pose.capture_ns = frame.capture_ns
        pose.arrival_ns = arrival_ns
        pose.dt = step.dt
        pose.jump = jump
        pose.restarted = step.restarted
