"""A whole clip through the live path, frame by frame and as fast as it goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from understudy.align import Aligner, MotionSample
from understudy.align.enhancer import Enhancer
from understudy.characters import Clip
from understudy.conditioning import Bridged, TearBridge
from understudy.kinematics import FloatArray
from understudy.kinematics.tasks import Targets
from understudy.solvers.base import Solution, Solver

# As many frames of a clip as are looked at to understand the performer's body.
_SAMPLE_FRAMES: Final = 200


def motion_sample(clip: Clip) -> MotionSample:
    """Evidence about the performer's body; the first frame, often an inserted T-pose, left out."""
    first = min(1, clip.frame_count - 1)
    step = max(1, clip.frame_count // _SAMPLE_FRAMES)
    return MotionSample.from_frames(
        clip.skeleton,
        clip.roots[first::step],
        clip.rotations_xyzw[first::step],
        clip.rate_hz / step,
    )


def perform(
    clip: Clip,
    aligner: Aligner | Enhancer,
    solver: Solver,
    points: FloatArray | None = None,
) -> Iterator[tuple[Targets, Solution]]:
    """Targets and solution of every frame, valid until the next one is asked for.

    A T-pose that was put before the motion is no part of it: its frame shows the next one's pose.
    `points` (T, k, 3) m are what an enhancer is given beside the frames.
    """
    bridge = TearBridge(clip.skeleton, aligner.loose_joints)
    dt = 1.0 / clip.rate_hz
    opening = 1 if _opens_with_another_pose(clip, bridge) else 0
    root = np.zeros(3)
    rotations = np.zeros((len(clip.skeleton), 4))
    for frame in range(clip.frame_count):
        root[:] = clip.roots[max(frame, opening)]
        rotations[:] = clip.rotations_xyzw[max(frame, opening)]
        jumped = bridge.apply(root, rotations, dt) is Bridged.JUMPED
        if isinstance(aligner, Enhancer) and points is not None:
            aligner.measure(points[max(frame, opening)])
        targets = aligner.align(root, rotations, dt, frame == 0 or jumped)
        yield targets, solver.step(targets, dt)


def _opens_with_another_pose(clip: Clip, bridge: TearBridge) -> bool:
    """Whether the second frame does not continue the first."""
    outcome = Bridged.PASSED
    for frame in range(min(2, clip.frame_count)):
        pose = clip.pose(frame)
        outcome = bridge.apply(pose.root, pose.rotations_xyzw, 1.0 / clip.rate_hz)
    bridge.reset()
    return outcome is not Bridged.PASSED
