"""The Kalman sweep: a task of 78 degrees of freedom, filterpy beside it, and the live walk."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.characters import Clip
from understudy.characters.builtin import builtin_character
from understudy.kinematics import FloatArray, ForwardKinematics, rotations
from understudy.solvers import ParameterValue, Solver, Ukf
from understudy_bench.quality import Figures, retarget_clip, score
from understudy_bench.task import SolverTask

# One body with shorter limbs than the performer's, one with longer.
WALKERS: Final = ("short-legs", "giant")
PAPER_SIGMA_RAD: Final = 0.05


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A solver over a whole task: errors of the effectors (cm) and the time of a step (us).

    `p50_us` is the least of the medians of all repetitions, frames back to back.
    """

    mean_error_cm: float
    max_error_cm: float
    p50_us: float


@dataclass(frozen=True, slots=True)
class Race:
    """One update of Algorithm 1, ours and filterpy's, on the same frames in turn.

    `difference_rad` is the largest difference of a joint between the two answers.
    """

    ours_us: float
    theirs_us: float
    difference_rad: float

    @property
    def ratio(self) -> float:
        """How many times as long filterpy takes."""
        return self.theirs_us / self.ours_us


def run_task(task: SolverTask, solver: Solver, repetitions: int = 5) -> TaskResult:
    """Every frame of the task, several times over; the first frame of each is not timed."""
    targets = task.targets()
    dt = 1.0 / task.rate_hz
    frames = task.frame_count
    residuals = np.zeros((frames, len(task.effectors)))
    medians = []
    for _ in range(repetitions):
        solver.reset()
        taken = np.zeros(frames)
        for t in range(frames):
            task.fill(t, targets)
            begin = time.perf_counter_ns()
            solution = solver.step(targets, dt)
            taken[t] = time.perf_counter_ns() - begin
            residuals[t] = solution.residuals
        medians.append(float(np.median(taken[1:])))
    return TaskResult(
        mean_error_cm=100.0 * float(residuals.mean()),
        max_error_cm=100.0 * float(residuals.max()),
        p50_us=min(medians) * 1e-3,
    )


def race_filterpy(task: SolverTask, frames: int = 20) -> Race:
    """The published form against filterpy's `UnscentedKalmanFilter`, spread over the task."""
    from filterpy.kalman import JulierSigmaPoints, UnscentedKalmanFilter

    settings: dict[str, ParameterValue] = {
        "form": "paper", "passes": 1, "sigma_rad": PAPER_SIGMA_RAD, "max_joint_step": 3.0,
    }  # fmt: skip
    solver = Ukf(task.skeleton, task.effectors, settings)
    size = task.degrees_of_freedom
    variances = np.full(size, PAPER_SIGMA_RAD**2)
    variances[:3] *= float(solver.parameters()["root_mobility"])
    noise = PAPER_SIGMA_RAD**2 * np.repeat([e.softness_m2 for e in task.effectors], 3)
    targets = task.targets()
    kinematics = ForwardKinematics(task.skeleton)
    joints = [effector.joint for effector in task.effectors]
    ours, theirs, difference = [], [], 0.0
    for frame in np.linspace(0, task.frame_count - 1, frames, dtype=np.int64).tolist():
        task.fill(frame, targets)
        targets.jump = True
        source, root = task.rotations_xyzw[frame], task.roots[frame]

        def measured(
            d: FloatArray, source: FloatArray = source, root: FloatArray = root
        ) -> FloatArray:
            turned = rotations.multiply(source, rotations.exp(d[3:].reshape(-1, 3)))
            kinematics.update(root + d[:3], turned)
            points = [kinematics.point(j, p) for j, p in zip(joints, task.points, strict=True)]
            return np.concatenate(points)

        peer = UnscentedKalmanFilter(
            size, len(noise), 1.0, measured, _stay, JulierSigmaPoints(size, 0.0)
        )
        peer.P, peer.Q, peer.R = np.diag(variances), np.zeros((size, size)), np.diag(noise)
        peer.predict()
        begin = time.perf_counter_ns()
        peer.update(task.goals[frame].ravel())
        theirs.append(time.perf_counter_ns() - begin)
        for _ in range(3):  # the last of three finds the caches warm, as in a running session
            solver.reset()
            begin = time.perf_counter_ns()
            solution = solver.step(targets, 1.0 / task.rate_hz)
            taken = time.perf_counter_ns() - begin
        ours.append(taken)
        expected = rotations.multiply(source, rotations.exp(peer.x[3:].reshape(-1, 3)))
        between = rotations.multiply(rotations.conjugate(expected), solution.rotations_xyzw)
        difference = max(difference, float(np.abs(rotations.log(between)).max()))
    return Race(float(np.median(ours)) * 1e-3, float(np.median(theirs)) * 1e-3, difference)


def walk_figures(clip: Clip, solver: str = "ukf") -> list[Figures]:
    """A walk through the live path to each of `WALKERS`."""
    return [score(retarget_clip(clip, name, builtin_character(name), solver)) for name in WALKERS]


def _stay(d: FloatArray, dt: float) -> FloatArray:
    return d
