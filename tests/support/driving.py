"""Driving a solver with a motion, and what came out."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from support.solver_bench import goals_of
from understudy.kinematics import FIXED, HINGE, FloatArray, ForwardKinematics, Pose, Skeleton
from understudy.kinematics.tasks import Targets
from understudy.solvers import Solver, Status

FRAME_S = 1.0 / 30.0

Change = Callable[[int, Targets], None]


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """What a solver answered: T frames of n joints and k effectors."""

    roots: FloatArray
    rotations_xyzw: FloatArray
    residuals: FloatArray
    statuses: tuple[Status, ...]

    def pose(self, frame: int) -> Pose:
        """One frame's answer."""
        return Pose(self.roots[frame].copy(), self.rotations_xyzw[frame].copy())

    def largest_turn(self, first: int = 0) -> float:
        """The largest turn (rad) of any joint between two frames, from frame `first` on."""
        q = self.rotations_xyzw[first:]
        a, b = Rotation.from_quat(q[:-1].reshape(-1, 4)), Rotation.from_quat(q[1:].reshape(-1, 4))
        return float(np.max((a.inv() * b).magnitude()))

    def largest_shift(self, first: int = 0) -> float:
        """The longest way (m) of the root between two frames, from frame `first` on."""
        return float(np.max(np.linalg.norm(np.diff(self.roots[first:], axis=0), axis=1)))


def drive(
    solver: Solver,
    motion: Sequence[Pose],
    *,
    points: FloatArray | None = None,
    change: Change | None = None,
    dt: float = FRAME_S,
) -> Track:
    """Give the solver each pose with its own effectors' places as goals, changed by `change`."""
    targets = Targets.allocate(solver.skeleton, solver.effectors)
    if points is not None:
        targets.points[:] = points
    own_points = targets.points.copy()
    roots, turns, residuals, statuses = [], [], [], []
    for i, pose in enumerate(motion):
        targets.points[:] = own_points
        targets.strengths[:] = 1.0
        targets.jump = i == 0
        goals_of(solver.skeleton, solver.effectors, targets, pose)
        if change is not None:
            change(i, targets)
        solution = solver.step(targets, dt)
        roots.append(solution.root.copy())
        turns.append(solution.rotations_xyzw.copy())
        residuals.append(solution.residuals.copy())
        statuses.append(solution.status)
    return Track(np.array(roots), np.array(turns), np.array(residuals), tuple(statuses))


def smooth_motion(
    skeleton: Skeleton, frames: int, *, seed: int, spread_rad: float = 0.5, rate_hz: float = 30.0
) -> list[Pose]:
    """A motion every joint can do: slow sines about rest, hinges inside their range."""
    rng = np.random.default_rng(seed)
    n = len(skeleton)
    size = rng.normal(scale=spread_rad / math.sqrt(3), size=(2, n, 3))
    speed = rng.uniform(0.2, 0.6, size=(2, n, 1))
    phase = rng.uniform(0.0, 2.0 * math.pi, size=(2, n, 3))
    middle = np.where(np.isfinite(skeleton.limits_rad), skeleton.limits_rad, [[-1.0, 1.0]])
    poses = []
    for i in range(frames):
        t = i / rate_hz
        w = np.sum(size * np.sin(2.0 * math.pi * speed * t + phase), axis=0)
        for j in range(1, n):
            if skeleton.kinds[j] == HINGE:
                low, high = middle[j]
                share = math.tanh(float(skeleton.axes[j] @ w[j]))
                w[j] = (0.5 * (low + high) + 0.45 * (high - low) * share) * skeleton.axes[j]
            elif skeleton.kinds[j] == FIXED:
                w[j] = 0.0
        q = (Rotation.from_quat(skeleton.rest_xyzw) * Rotation.from_rotvec(w)).as_quat()
        root = skeleton.offsets[0] + 0.3 * np.sin(np.array([0.7, 1.1, 0.5]) * t)
        poses.append(Pose(np.ascontiguousarray(root), np.ascontiguousarray(q)))
    return poses


def reached(skeleton: Skeleton, pose: Pose, joint: int, point: FloatArray) -> FloatArray:
    """Where a joint's point is in the world, m."""
    kinematics = ForwardKinematics(skeleton)
    kinematics.update(pose.root, pose.rotations_xyzw)
    return kinematics.point(joint, point)
