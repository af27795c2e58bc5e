"""A clip enhanced by points that were measured beside it, frame by frame as the server would."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.align.enhancer import SOLVER_PARAMETERS, Enhancer
from understudy.align.markers import AttachedPoint, MarkerError, Placement, place
from understudy.characters import Clip
from understudy.characters.c3d import PointTake
from understudy.characters.clip import continuous
from understudy.kinematics import FloatArray, ForwardKinematics
from understudy.runtime.offline import perform
from understudy.solvers import create_solver

# Rates of one take agree to this share; frame times in clip files are cut off.
_SAME_RATE = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Enhanced:
    """The corrected motion, and how far the points were from it before and after, (T, k) m.

    A distance is NaN where its point was not seen. `seconds` is what aligning and solving took.
    """

    clip: Clip
    points: tuple[AttachedPoint, ...]
    before_m: FloatArray
    after_m: FloatArray
    seconds: float


def match(clip: Clip, take: PointTake) -> tuple[Placement, FloatArray]:
    """How a take's points belong to a clip, and the points (T, k, 3) m of its frames.

    MarkerError if they are not of one take.
    """
    if abs(take.rate_hz / clip.rate_hz - 1.0) > _SAME_RATE:
        raise MarkerError(
            f"points {take.name!r} have {take.rate_hz:g} frames a second, clip {clip.name!r}"
            f" {clip.rate_hz:g}; they must be of one take"
        )
    placement = place(clip.skeleton, clip.roots, clip.rotations_xyzw, take.points, take.labels)
    columns = [take.labels.index(point.name) for point in placement.points]
    points = np.full((clip.frame_count, len(columns), 3), np.nan)
    frames = slice(placement.lag, placement.lag + take.frame_count)
    points[frames] = placement.turned(take.points[:, columns])
    return placement, points


def enhance(
    clip: Clip,
    attached: Sequence[AttachedPoint],
    points: FloatArray,
    solver_name: str = "clik",
    *,
    on_frame: Callable[[int], None] = lambda frame: None,
) -> Enhanced:
    """Correct a clip by points (T, k, 3) m on its own body; NaN where one was not seen.

    `on_frame` is told the number of each frame that is done.
    """
    aligner = Enhancer(clip.skeleton, attached)
    solver = create_solver(
        solver_name, clip.skeleton, aligner.effectors, SOLVER_PARAMETERS.get(solver_name)
    )
    roots = np.empty_like(clip.roots)
    rotations = np.empty_like(clip.rotations_xyzw)
    start = time.perf_counter()
    for frame, (_, solution) in enumerate(perform(clip, aligner, solver, points)):
        roots[frame] = solution.root
        rotations[frame] = solution.rotations_xyzw
        on_frame(frame)
    seconds = time.perf_counter() - start
    enhanced = Clip(clip.name, clip.skeleton, clip.rate_hz, roots, continuous(rotations))
    return Enhanced(
        enhanced,
        tuple(attached),
        distances(clip, attached, points),
        distances(enhanced, attached, points),
        seconds,
    )


def distances(clip: Clip, attached: Sequence[AttachedPoint], points: FloatArray) -> FloatArray:
    """How far (T, k) m the points are from where the clip's bones have them."""
    body = ForwardKinematics(clip.skeleton)
    joints = [point.joint for point in attached]
    offsets = np.array([point.offset for point in attached])
    result = np.empty((clip.frame_count, len(joints)))
    for frame in range(clip.frame_count):
        pose = clip.pose(frame)
        body.update(pose.root, pose.rotations_xyzw)
        places = body.positions[joints] + np.einsum("kab,kb->ka", body.rotations[joints], offsets)
        result[frame] = np.linalg.norm(points[frame] - places, axis=-1)
    return result
