"""Example-guided inverse kinematics over a whole clip: every frame knows the others.

The objective is the causal solver's, summed over all frames and with the differences of the
deviations d[t] (from the performer's angles) taken in both directions of time:

    sum e[t]^2 / N + |d[t]|^2 + k1 |d[t] - d[t-1]|^2 + k2 |d[t] - 2 d[t-1] + d[t-2]|^2

Its Hessian is block pentadiagonal, so a step of Gauss and Newton's method is one banded solve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import solveh_banded

from understudy.kinematics import FloatArray, IntArray, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers._kernels import egik_layout, layout
from understudy.solvers._kernels.body import errors, forward
from understudy.solvers._kernels.correction import HARDEST, slacks
from understudy.solvers._kernels.egik import radians_per_metre
from understudy.solvers._kernels.frame import hold_base
from understudy.solvers._kernels.frame_layout import ROOT_MOBILITY
from understudy.solvers._kernels.limits import project
from understudy.solvers._kernels.posture import on_hinge
from understudy.solvers._kernels.rows import jacobian
from understudy.solvers.base import ParameterValue, SolverError
from understudy.solvers.egik import Egik
from understudy.solvers.plan import static_bounds

MOST_ITERATIONS: Final = 30
# Enough when an iteration takes away no more than this share of the objective.
TOLERANCE: Final = 1e-7


@dataclass(frozen=True, slots=True, eq=False)
class ClipMotion:
    """A character's motion over T frames: roots (T, 3), rotations (T, n, 4), residuals (T, k) m."""

    roots: FloatArray
    rotations_xyzw: FloatArray
    residuals: FloatArray
    objective: float


@dataclass(slots=True, eq=False)
class _State:
    """Where every frame is, and how the goals look from there.

    `deviations` (T, 1 + n, 3): of the root's place (m), then of the joints (rad).
    """

    deviations: FloatArray
    roots: FloatArray
    rotations_xyzw: FloatArray
    errors: FloatArray
    bound: IntArray
    free: FloatArray
    objective: float


class WholeClipEgik:
    """The offline form for files; parameters, effectors, limits and base as in the causal one."""

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
    ) -> None:
        self.causal = Egik(skeleton, effectors, parameters, limits=limits, mobilities=mobilities)
        self.skeleton = skeleton
        self._plan = self.causal.plan
        self._bound, self._free = static_bounds(self._plan)
        n, k = len(skeleton), len(effectors)
        self._world = np.zeros((n, 12))
        self._reached = np.zeros((k, 3))
        self._e = np.zeros(self._plan.row_count)
        self._J = np.zeros((len(self._plan.blocks), n, 3, 3))
        self._heads: FloatArray = np.zeros((0, layout.HEAD_FLOATS))
        self._sources: FloatArray = np.zeros((0, n, 4))
        self._goals: FloatArray = np.zeros((0, k, layout.GOAL_FLOATS))
        self._weights: FloatArray = np.zeros((0, self._plan.row_count))
        self._band: FloatArray = np.zeros((3, 0))
        mobility = self._plan.joints_f[:, layout.MOBILITY]
        moved = self._plan.member[0].any(axis=0) & (mobility > 0.0)
        # Variables of a frame: three of the root's place if it may move, three of each joint that
        # moves an effector. What moves none stays with the performer.
        root_mobility = self.causal.setting(ROOT_MOBILITY)
        precision = np.concatenate(
            [
                np.full(3, 1.0 / root_mobility if root_mobility > 0.0 else np.inf),
                np.repeat(1.0 / np.where(moved, mobility, 1.0), 3),
            ]
        )
        chosen = np.concatenate([np.full(3, root_mobility > 0.0), np.repeat(moved, 3)])
        self._variables = np.flatnonzero(chosen)
        self._precision = precision[self._variables]

    def solve(self, frames: Sequence[Targets], dt: float) -> ClipMotion:
        """The motion for the targets of all frames, `dt` seconds apart."""
        if not frames:
            raise SolverError("a whole clip needs at least one frame")
        self._take(frames)
        roots, turned = self._causal_motion(frames, dt)
        if self.causal.setting(egik_layout.ALPHA) == 0.0:
            still = np.zeros((len(frames), 1 + len(self.skeleton), 3))
            return self._finished(self._placed(still, copied=True))
        self._prepare(dt)
        state = self._placed(self._deviations(roots, turned))
        shorter = 0.0
        for _ in range(MOST_ITERATIONS):
            trial = self._placed(state.deviations + self._step(state, shorter))
            if trial.objective < state.objective:
                gained = 1.0 - trial.objective / state.objective
                state = trial
                shorter *= 0.1
                if gained < TOLERANCE:
                    break
            elif shorter > 1e6:
                break
            else:
                shorter = max(10.0 * shorter, 1e-3)
        return self._finished(state)

    def evaluate(
        self, frames: Sequence[Targets], dt: float, deviations: FloatArray
    ) -> tuple[float, FloatArray]:
        """The objective at deviations (T, 1 + n, 3) from the performer, and its gradient there.

        Joints that move no effector have no part in it.
        """
        self._take(frames)
        self._prepare(dt)
        state = self._placed(deviations.copy())
        d = state.deviations.reshape(len(frames), -1)[:, self._variables]
        gradient = np.zeros((len(frames), 3 * (1 + len(self.skeleton))))
        gradient[:, self._variables] = 2.0 * self._precision * self._smooth(d)
        for t in range(len(frames)):
            pull = self._rows(state, t).T @ (self._weights[t] * state.errors[t])
            gradient[t, self._variables] -= 2.0 * pull
        return state.objective, gradient.reshape(deviations.shape)

    def _take(self, frames: Sequence[Targets]) -> None:
        self._heads = np.array([targets.head for targets in frames])
        self._sources = np.array([targets.rotations_xyzw for targets in frames])
        self._goals = np.array([targets.goals for targets in frames])

    def _causal_motion(self, frames: Sequence[Targets], dt: float) -> tuple[FloatArray, FloatArray]:
        """Where to begin: the causal answer, before the base takes its error."""
        roots = np.zeros((len(frames), 3))
        turned = np.zeros((len(frames), len(self.skeleton), 4))
        self.causal.reset()
        for t, targets in enumerate(frames):
            solution = self.causal.step(targets, dt)
            roots[t] = solution.root
            turned[t] = solution.rotations_xyzw
        return roots, turned

    def _prepare(self, dt: float) -> None:
        """Weights of the rows and the differences in time."""
        alpha = self.causal.setting(egik_layout.ALPHA)
        c = radians_per_metre(self.causal.settings)
        noise = (1.0 - alpha) / (alpha * c * c)
        frames, rows = len(self._goals), self._plan.row_count
        self._weights = np.zeros((frames, rows))
        slack, more = np.zeros(rows), np.zeros(rows)
        for t in range(frames):
            slacks(self._plan.effectors_f, self._goals[t], self._plan.blocks, noise, slack, more)
            self._weights[t] = 1.0 / np.maximum(slack, HARDEST)
        # In a sum over frames a velocity counts by the square of the rate.
        rate = 1.0 / (30.0 * dt)
        k1 = self.causal.setting(egik_layout.VELOCITY) * rate**2
        k2 = self.causal.setting(egik_layout.ACCELERATION) * rate**4
        goes_on = self._heads[:, layout.JUMP] == 0.0
        goes_on[0] = False
        band = np.zeros((3, frames))
        band[0] = 1.0
        for t in np.flatnonzero(goes_on).tolist():
            band[0, [t - 1, t]] += k1
            band[1, t] -= k1
            if t >= 2 and goes_on[t - 1]:
                band[0, [t - 2, t - 1, t]] += k2 * np.array([1.0, 4.0, 1.0])
                band[1, [t - 1, t]] -= 2.0 * k2
                band[2, t] += k2
        self._band = band

    def _deviations(self, roots: FloatArray, turned: FloatArray) -> FloatArray:
        out = np.zeros((len(roots), 1 + len(self.skeleton), 3))
        out[:, 0] = roots - self._heads[:, :3]
        out[:, 1:] = rotations.log(rotations.multiply(rotations.conjugate(self._sources), turned))
        kept = np.zeros(out.reshape(len(roots), -1).shape, np.bool_)
        kept[:, self._variables] = True
        return np.where(kept.reshape(out.shape), out, 0.0)

    def _placed(self, deviations: FloatArray, *, copied: bool = False) -> _State:
        """The poses of all frames, inside the limits, and the objective."""
        plan = self._plan
        frames = len(deviations)
        roots = self._heads[:, :3] + deviations[:, 0]
        turned = np.ascontiguousarray(
            rotations.multiply(self._sources, rotations.exp(deviations[:, 1:]))
        )
        bound, free = np.tile(self._bound, (frames, 1)), np.tile(self._free, (frames, 1, 1))
        missing = np.zeros((frames, plan.row_count))
        for t in range(frames):
            goals = self._goals[t].copy()
            if copied:
                goals[:, layout.STRENGTH] = 0.0
            for j in np.flatnonzero(plan.joints_i[:, layout.FREEDOM] == 1):
                on_hinge(plan.joints_f, j, turned[t], turned[t])
            for j in np.flatnonzero(plan.joints_i[:, layout.LIMITED] == 1):
                if plan.joints_i[j, layout.EXACT] < 0:
                    before = turned[t, j].copy()
                    if project(plan.joints_f, j, turned[t], free[t]) > 0:
                        bound[t, j] = max(bound[t, j], 2)
                        back = rotations.multiply(rotations.conjugate(before), turned[t, j])
                        deviations[t, 1 + j] += rotations.log(back)
            self._measure(goals, roots[t], turned[t], free[t], missing[t])
        state = _State(deviations, roots, turned, missing, bound, free, 0.0)
        if not copied:
            d = deviations.reshape(frames, -1)[:, self._variables]
            state.objective = float(
                np.sum(self._weights * missing**2) + np.sum(self._precision * d * self._smooth(d))
            )
        return state

    def _measure(
        self,
        goals: FloatArray,
        root: FloatArray,
        turned: FloatArray,
        free: FloatArray,
        missing: FloatArray,
    ) -> None:
        """Where a pose has its joints and points; `missing` (3b,) <- their way to `goals`, m."""
        plan, world = self._plan, self._world
        forward(plan.joints_i, plan.joints_f, goals, root, turned, world, free)
        errors(
            plan.effectors_i, plan.effectors_f, goals, plan.blocks, world, self._reached, missing
        )

    def _smooth(self, d: FloatArray) -> FloatArray:
        """B d for the differences in time: half the gradient of their sum of squares."""
        band = self._band
        out = band[0][:, None] * d
        out[1:] += band[1, 1:, None] * d[:-1]
        out[:-1] += band[1, 1:, None] * d[1:]
        out[2:] += band[2, 2:, None] * d[:-2]
        out[:-2] += band[2, 2:, None] * d[2:]
        return np.asarray(out)

    def _rows(self, state: _State, t: int) -> FloatArray:
        """d(reached) / d(variables) of frame t, (3b, variables)."""
        plan = self._plan
        self._measure(
            self._goals[t], state.roots[t], state.rotations_xyzw[t], state.free[t], self._e
        )
        jacobian(
            plan.joints_i,
            state.bound[t],
            plan.effectors_i,
            plan.effectors_f,
            self._goals[t],
            plan.blocks,
            plan.chains[0],
            self._world,
            self._reached,
            state.free[t],
            self._J,
        )
        b, n = len(plan.blocks), len(self.skeleton)
        out = np.zeros((b, 3, 1 + n, 3))
        member = plan.member[0].astype(np.bool_)
        # Body increments for increments of the rotation vector.
        turns = np.where(member[:, :, None, None], self._J, 0.0).transpose(0, 3, 1, 2)
        out[:, :, 1:] = np.einsum(
            "brjk,jkl->brjl", turns, _right_jacobians(state.deviations[t, 1:])
        )
        for i, (f, turning) in enumerate(plan.blocks):
            if turning == 0:
                out[i, :, 0] = plan.effectors_f[f, layout.SELECT : layout.SELECT + 9].reshape(3, 3)
        active = self._goals[t, plan.blocks[:, layout.BLOCK_EFFECTOR], layout.STRENGTH] > 0.0
        out *= active[:, None, None, None]
        return np.asarray(out.reshape(3 * b, -1)[:, self._variables])

    def _step(self, state: _State, shorter: float) -> FloatArray:
        """Gauss and Newton's step for all frames, as deviations (T, 1 + n, 3)."""
        frames, size = len(state.deviations), len(self._variables)
        d = state.deviations.reshape(frames, -1)[:, self._variables]
        downhill = -self._precision * self._smooth(d)
        banded = np.zeros((2 * size + 1, frames * size))
        diagonal = np.arange(size)
        for t in range(frames):
            rows = self._rows(state, t)
            weighted = rows * self._weights[t][:, None]
            downhill[t] += weighted.T @ state.errors[t]
            block = rows.T @ weighted
            block[diagonal, diagonal] += (1.0 + shorter) * self._band[0, t] * self._precision
            columns = slice(t * size, (t + 1) * size)
            for i in range(size):
                banded[2 * size - i, columns][i:] = block.diagonal(i)
            if t >= 1:
                banded[size, columns] = self._band[1, t] * self._precision
            if t >= 2:
                banded[0, columns] = self._band[2, t] * self._precision
        solved = solveh_banded(banded, downhill.ravel(), check_finite=False)
        out = np.zeros((frames, 3 * (1 + len(self.skeleton))))
        out[:, self._variables] = solved.reshape(frames, size)
        return out.reshape(state.deviations.shape)

    def _finished(self, state: _State) -> ClipMotion:
        """The base takes what is left of its error; the goals' distances."""
        plan = self._plan
        residuals = np.zeros(self._goals.shape[:2])
        copied = self.causal.setting(egik_layout.ALPHA) == 0.0
        for t in range(len(self._goals)):
            goals = self._goals[t].copy()
            if copied:
                goals[:, layout.STRENGTH] = 0.0
            self._measure(goals, state.roots[t], state.rotations_xyzw[t], state.free[t], self._e)
            if self._heads[t, layout.BASE] >= 0.0 and not copied:
                hold_base(self._heads[t], goals, state.roots[t], self._world, self._reached)
            goal = self._goals[t, :, layout.GOAL : layout.GOAL + 3]
            select = plan.effectors_f[:, layout.SELECT : layout.SELECT + 9].reshape(-1, 3, 3)
            away = np.einsum("krt,kt->kr", select, goal - self._reached)
            followed = self._goals[t, :, layout.STRENGTH] > 0.0
            residuals[t] = np.where(followed, np.linalg.norm(away, axis=1), 0.0)
        return ClipMotion(state.roots, state.rotations_xyzw, residuals, state.objective)


def _right_jacobians(w: FloatArray) -> FloatArray:
    """(n, 3, 3): exp(w + dw) = exp(w) exp(J dw) for rotation vectors w (n, 3)."""
    angle = np.linalg.norm(w, axis=1)
    small = angle < 1e-4
    a = np.where(small, 1.0, angle)
    first = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(a)) / a**2)
    second = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (a - np.sin(a)) / a**3)
    cross = np.zeros((len(w), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -w[:, 2], w[:, 1], -w[:, 0]
    cross -= cross.transpose(0, 2, 1)
    return np.asarray(
        np.eye(3) - first[:, None, None] * cross + second[:, None, None] * (cross @ cross)
    )
