"""The newest poses of a performer, to be sampled at any instant between them."""

from __future__ import annotations

import threading
from typing import Final, NamedTuple

from understudy.ingest import SourcePose
from understudy.ingest._kernels import blend

CAPACITY: Final = 16
# How fast the estimate of the performer's clock may follow one that runs slow: 100 ppm.
_DRIFT: Final = 1e-4


class Sample(NamedTuple):
    """Where a sampled pose comes from.

    `generation` changes when the stream broke; `shown_ns` is the instant the pose shows, on the
    server's clock.
    """

    generation: int
    shown_ns: int


class Mailbox:
    """A ring of poses of one skeleton; one thread pushes, others sample.

    Captured times are put onto the server's clock by the smallest delay seen between capture and
    arrival, so that jitter of the network does not become jitter of the motion.
    """

    def __init__(self, skeleton_id: int, joint_count: int, marker_count: int = 0) -> None:
        self.skeleton_id = skeleton_id
        self.joint_count = joint_count
        self.marker_count = marker_count
        self._lock = threading.Lock()
        self._ring = [SourcePose.allocate(joint_count, marker_count) for _ in range(CAPACITY)]
        self._pushed = 0
        self._oldest = 0
        self._generation = 0
        self._server_from_capture_ns = 0

    def push(self, pose: SourcePose) -> None:
        """Keep a copy of `pose` as the newest; one that breaks with the past drops the others."""
        with self._lock:
            newest = self._ring[(self._pushed - 1) % CAPACITY]
            offset = pose.arrival_ns - pose.capture_ns
            if pose.jump or self._pushed == 0 or pose.capture_ns <= newest.capture_ns:
                self._oldest = self._pushed
                self._generation += 1
                self._server_from_capture_ns = offset
            else:
                slack = int((pose.arrival_ns - newest.arrival_ns) * _DRIFT)
                self._server_from_capture_ns = min(offset, self._server_from_capture_ns + slack)
            slot = self._ring[self._pushed % CAPACITY]
            slot.root[:] = pose.root
            slot.rotations_xyzw[:] = pose.rotations_xyzw
            slot.points[:] = pose.points
            slot.seq = pose.seq
            slot.capture_ns = pose.capture_ns
            slot.arrival_ns = pose.arrival_ns
            self._pushed += 1
            self._oldest = max(self._oldest, self._pushed - CAPACITY)

    def sample(self, at_ns: int, out: SourcePose) -> Sample | None:
        """Fill `out` with the pose at `at_ns` (server's clock); None while there is none.

        `out` names the newer of the two frames it lies between. Before the oldest or after the
        newest pose that one is given: nothing is extrapolated.
        """
        with self._lock:
            if self._pushed == 0:
                return None
            wanted = at_ns - self._server_from_capture_ns
            later = self._ring[(self._pushed - 1) % CAPACITY]
            earlier = later
            for i in range(self._pushed - 1, self._oldest - 1, -1):
                earlier = self._ring[i % CAPACITY]
                if earlier.capture_ns <= wanted:
                    break
                later = earlier
            span = later.capture_ns - earlier.capture_ns
            fraction = (wanted - earlier.capture_ns) / span if span > 0 else 0.0
            blend(
                earlier.root,
                earlier.rotations_xyzw,
                later.root,
                later.rotations_xyzw,
                fraction,
                out.root,
                out.rotations_xyzw,
            )
            # A point that is not seen on either side is not seen in between: NaN stays NaN.
            out.points[:] = earlier.points + fraction * (later.points - earlier.points)
            out.seq = later.seq
            out.capture_ns = later.capture_ns
            out.arrival_ns = later.arrival_ns
            shown = earlier.capture_ns + int(fraction * span)
            return Sample(self._generation, shown + self._server_from_capture_ns)
