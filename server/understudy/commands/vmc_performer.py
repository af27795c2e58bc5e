"""A clip's body as a performer that speaks VMC, for `understudy play --vmc`."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Self

import numpy as np

from understudy.characters import Body, Clip, ClipError
from understudy.config import UdpAddress, VmcTarget
from understudy.kinematics import FloatArray
from understudy.runtime.casting import cast_performer
from understudy.runtime.offline import motion_sample
from understudy.runtime.sinks import VmcSink


class VmcPerformer:
    """Sends poses of a clip's skeleton as normalised VMC bones; nobody answers in VMC."""

    def __init__(self, clip: Clip, to: UdpAddress) -> None:
        motion = motion_sample(clip)
        _, roles = cast_performer(clip.skeleton, motion=motion)
        if roles.refused is not None:
            raise ClipError(f"clip {clip.name!r}: {roles.refused}")
        self._sink = VmcSink(Body(clip.skeleton), roles, VmcTarget(to), motion)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._sink.close()

    def send(self, root: FloatArray, rotations_xyzw: FloatArray) -> None:
        """Send a pose: `root` (3,) m and full rotations (n, 4)."""
        # Compiled code takes writable arrays only; a clip's are not.
        self._sink.send(np.array(root), np.array(rotations_xyzw), 0, time.perf_counter_ns())
