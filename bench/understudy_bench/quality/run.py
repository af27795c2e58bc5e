"""One clip retargeted to one character, with everything that scoring wants to know."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.align import Aligner, Alignment
from understudy.align.proportions import Proportions
from understudy.characters import Clip
from understudy.kinematics import FloatArray, ForwardKinematics, IntArray, Skeleton
from understudy.kinematics.limits import JointLimits
from understudy.runtime.offline import motion_sample, perform
from understudy.solvers import ParameterValue, create_solver
from understudy_bench.quality.baselines import create_contestant


@dataclass(frozen=True, slots=True, eq=False)
class Take:
    """A retargeted clip of T frames.

    `roots` (T, 3), `rotations_xyzw` (T, n, 4) and `copied_xyzw` (T, n, 4), the same by copying;
    `residuals_m` (T, k), `statuses` (T,), `contacts` (T, 4) as the live detector saw them;
    `source_points` and `target_points` (T, 4, 3) m: toes and heels, heights counted from a flat
    stance; `source_limbs` and `target_limbs` (T, 8, 3): directions of arms and legs;
    `solve_us` (T,): time of bridge, align and solve.
    """

    clip: Clip
    character: str
    solver: str
    target: Skeleton
    alignment: Alignment
    limits: JointLimits | None
    roots: FloatArray
    rotations_xyzw: FloatArray
    copied_xyzw: FloatArray
    residuals_m: FloatArray
    statuses: IntArray
    contacts: FloatArray
    source_points: FloatArray
    target_points: FloatArray
    source_limbs: FloatArray
    target_limbs: FloatArray
    solve_us: FloatArray


def retarget_clip(
    clip: Clip,
    character: str,
    target: Skeleton,
    solver: str,
    parameters: Mapping[str, ParameterValue] | None = None,
    *,
    limits: JointLimits | None = None,
) -> Take:
    """Run a clip through the live path, frame by frame, as fast as it goes."""
    aligner = Aligner(clip.skeleton, target, source_motion=motion_sample(clip))
    engine = create_contestant(solver, target, aligner.effectors, parameters, limits=limits)
    frames, n = clip.frame_count, len(target)
    roots = np.zeros((frames, 3))
    turned = np.zeros((frames, n, 4))
    copied = np.zeros((frames, n, 4))
    residuals = np.zeros((frames, len(aligner.effectors)))
    statuses = np.zeros(frames, np.int64)
    contacts = np.zeros((frames, len(aligner.contact_names)))
    times = np.zeros(frames)
    begin = time.perf_counter_ns()
    for i, (targets, solution) in enumerate(perform(clip, aligner, engine)):
        times[i] = time.perf_counter_ns() - begin
        roots[i] = solution.root
        turned[i] = solution.rotations_xyzw
        copied[i] = targets.rotations_xyzw
        residuals[i] = solution.residuals
        statuses[i] = int(solution.status)
        contacts[i] = targets.contacts
        begin = time.perf_counter_ns()
    ours, theirs = aligner.alignment.target_body, aligner.alignment.source_body
    source_points, source_limbs = _track(
        clip.skeleton, theirs, clip.roots, clip.rotations_xyzw, aligner.toe_heights[0]
    )
    target_points, target_limbs = _track(target, ours, roots, turned, aligner.toe_heights[1])
    return Take(
        clip, character, solver, target, aligner.alignment, limits, roots, turned, copied,
        residuals, statuses, contacts, source_points, target_points, source_limbs, target_limbs,
        times / 1e3,
    )  # fmt: skip


def motion_limits(clip: Clip, target: Skeleton, margin_rad: float) -> JointLimits:
    """Limits that leave each joint the range the copied clip goes through, and a margin."""
    aligner = Aligner(clip.skeleton, target, source_motion=motion_sample(clip))
    engine = create_solver("copy", target, aligner.effectors)
    copied = np.array(
        [solution.rotations_xyzw.copy() for _, solution in perform(clip, aligner, engine)]
    )
    return JointLimits.around_motion(target, copied, margin_rad)


def _track(
    skeleton: Skeleton,
    body: Proportions,
    roots: FloatArray,
    rotations_xyzw: FloatArray,
    toe_height: float,
) -> tuple[FloatArray, FloatArray]:
    kinematics = ForwardKinematics(skeleton)
    points = np.zeros((len(roots), 4, 3))
    limbs = np.zeros((len(roots), 8, 3))
    segments = []
    for side in range(2):
        segments += [
            (body.upper_arms[side], body.lower_arms[side]),
            (body.lower_arms[side], body.hands[side]),
            (body.upper_legs[side], body.lower_legs[side]),
            (body.lower_legs[side], body.feet[side]),
        ]
    root = np.zeros(3)
    rotations = np.zeros((len(skeleton), 4))
    for t in range(len(roots)):
        root[:] = roots[t]
        rotations[:] = rotations_xyzw[t]
        kinematics.update(root, rotations)
        for side in range(2):
            foot = int(body.feet[side])
            points[t, 2 * side] = kinematics.point(foot, body.toe_points[side])
            points[t, 2 * side + 1] = kinematics.point(foot, body.heel_points[side])
        for s, (upper, lower) in enumerate(segments):
            if lower >= 0:
                limbs[t, s] = kinematics.positions[lower] - kinematics.positions[upper]
    points[:, ::2, 1] -= toe_height
    lengths = np.linalg.norm(limbs, axis=-1, keepdims=True)
    return points, np.asarray(limbs / np.where(lengths < 1e-9, 1.0, lengths))
