"""A performer's pose as the rest of the house sees it, and the refusal of a bad one."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray


class FrameRejected(UnderstudyError):  # noqa: N818  it is a verdict on a frame, not a fault of ours
    """A frame that is left out; `reason` is the word it is counted under."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


@dataclass(slots=True, eq=False)
class SourcePose:
    """One captured pose, in buffers that the performer's next frame overwrites.

    `root` (3,) m and `rotations_xyzw` (n, 4), unit, full parent_from_joint; `dt` s since the last
    accepted frame by the performer's clock; `jump` when this frame does not continue the last one,
    `restarted` when that is because the performer began a new run.
    `capture_ns` is on the performer's clock, `arrival_ns` on the server's. `points` (k, 3) m are
    the measured markers, NaN where one was not seen.
    """

    root: FloatArray
    rotations_xyzw: FloatArray
    seq: int = 0
    capture_ns: int = 0
    arrival_ns: int = 0
    dt: float = 0.0
    jump: bool = True
    restarted: bool = False
    points: FloatArray = field(default_factory=lambda: np.empty((0, 3)))

    @classmethod
    def allocate(cls, joint_count: int, marker_count: int = 0) -> SourcePose:
        """Buffers for a body of `joint_count` joints and `marker_count` markers."""
        points = np.full((marker_count, 3), np.nan)
        return cls(np.zeros(3), np.zeros((joint_count, 4)), points=points)
