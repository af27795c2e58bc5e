"""Closed-loop inverse kinematics with imitation of the performer: the live filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers._kernels import clik_layout as columns
from understudy.solvers._kernels import layout
from understudy.solvers._kernels.clik import step
from understudy.solvers.base import ParameterValue, Solution, Status
from understudy.solvers.parameters import Parameter, checked
from understudy.solvers.plan import Plan, static_bounds

# A goal this far from what was reached counts as out of reach, m.
OUT_OF_REACH_M: Final = 0.02

PARAMETERS: Final = (
    Parameter("k1", 1.0, 0.01, 1.0, "gain of the effectors' goals, per 1/30 s"),
    Parameter("k2", 1.0, 0.0, 1.0, "gain of the imitation of the performer's angles, per 1/30 s"),
    Parameter("corrections", 1, 0, 8, "corrections of the goals alone after the main step", True),
    Parameter("root_mobility", 0.0099, 0.0, 1e3, "how readily the root leaves its goal, m^2"),
    Parameter("damping", 1e-2, 0.0, 1.0, "largest damping near a singular pose, m^2"),
    Parameter("singular", 1e-4, 0.0, 1.0, "squared singular value where damping sets in, m^2"),
    Parameter(
        "max_effector_speed", 30.0, 0.1, 1e3, "a faster goal is eased in like a new one, m/s"
    ),
    Parameter("max_joint_step", 0.7, 1e-3, 3.2, "largest turn of a joint in one solve, rad"),
    Parameter("ease_s", 0.5, 1e-3, 10.0, "time in which gains rise after a jump, s"),
    Parameter("ease_gain", 0.1, 0.01, 1.0, "factor on the gains right after a jump"),
    Parameter(
        "max_goal_step", 0.25, 1e-3, 100.0, "a longer way of a goal is walked in substeps, m"
    ),
    Parameter("dexterity", 0.0, 0.0, 1.0, "s_min/s_max below which gains are reduced; 0 = never"),
    Parameter("paper", 0, 0, 1, "1: predict by the goals' own increment, as published", True),
    Parameter("eliminate", 0, 0, 1, "1: the base's place is eliminated, not moved to", True),
)
_COLUMN: Final = {
    "k1": columns.K1,
    "k2": columns.K2,
    "corrections": columns.CORRECTIONS,
    "root_mobility": columns.ROOT_MOBILITY,
    "damping": columns.DAMPING,
    "singular": columns.SINGULAR,
    "max_effector_speed": columns.MAX_EFFECTOR_SPEED,
    "max_joint_step": columns.MAX_JOINT_STEP,
    "ease_s": columns.EASE_S,
    "ease_gain": columns.EASE_GAIN,
    "max_goal_step": columns.MAX_GOAL_STEP,
    "dexterity": columns.DEXTERITY,
    "paper": columns.PAPER,
    "eliminate": columns.ELIMINATE,
}

SecondaryTask = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class Clik:
    """Effectors reach their goals; what freedom is left imitates the performer's angles.

    `secondary`, if given, is called with the last root (3,) and rotations (n, 4) and returns an
    error (m,) and its Jacobian (m, 3 + 3n); J^T error is added to the imitation in the null space.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
        orientation_arm_m: float = 0.2,
        secondary: SecondaryTask | None = None,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        self.secondary = secondary
        plan = Plan(
            skeleton,
            effectors,
            limits=limits,
            mobilities=mobilities,
            orientation_arm_m=orientation_arm_m,
        )
        self.limits = plan.limits
        n, k, b = len(skeleton), len(self.effectors), len(plan.blocks)
        self._params = np.zeros(columns.PARAMS)
        for parameter in PARAMETERS:
            self._params[_COLUMN[parameter.name]] = parameter.default
        self._extra = np.zeros((1 + n, 3))
        self._poses = np.zeros((4, n, 4))
        self._roots = np.zeros((4, 3))
        marks = np.zeros((4, k, layout.GOAL_FLOATS))
        self._ease = np.zeros((k + 1, 2))
        self._rows = np.zeros((5, 3 * b))
        self._base = np.zeros(8)
        self._report = np.zeros(columns.REPORT)
        bound, free = static_bounds(plan)
        self._plan_arrays = (
            plan.joints_i,
            plan.joints_f,
            plan.effectors_i,
            plan.effectors_f,
            plan.blocks,
            plan.chains,
            plan.member,
        )
        self._state_arrays = (
            self._extra,
            self._params,
            self._poses,
            self._roots,
            marks,
            self._ease,
            np.zeros((n, 12)),
            np.zeros((k, 3)),
            free,
            bound,
            np.zeros((b, n, 3, 3)),
            np.zeros((2, 3 * b, 3 * b)),
            self._rows,
            np.zeros((1 + n, 3)),
            self._base,
            self._report,
        )
        self._solution = Solution(self._roots[0], self._poses[0], np.zeros(k))
        self.set_parameters(parameters or {})
        self.reset()

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past: start at the next frame's own posture, or ease in from `pose`."""
        start = self.skeleton.rest_pose() if pose is None else pose
        self._roots[:] = start.root
        self._poses[:] = start.rotations_xyzw
        self._ease[:] = 0.0
        self._rows[2] = 1.0
        self._report[:] = 0.0
        self._report[columns.LAST_BASE] = -1.0
        self._report[columns.FRESH] = 1.0 if pose is None else 2.0

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Change parameters between two frames."""
        for name, value in checked("clik", PARAMETERS, values).items():
            self._params[_COLUMN[name]] = value

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters in force."""
        return {p.name: float(self._params[_COLUMN[p.name]]) for p in PARAMETERS}

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve one frame that comes `dt` seconds after the last."""
        self._params[columns.DT] = dt
        if self.secondary is not None:
            error, jacobian = self.secondary(self._roots[0], self._poses[0])
            self._extra[:] = (jacobian.T @ error).reshape(-1, 3)
        step(
            *self._plan_arrays,
            targets.head,
            targets.rotations_xyzw,
            targets.goals,
            *self._state_arrays,
        )
        report = self._report
        solution = self._solution
        solution.residuals[:] = self._ease[:-1, 1]
        status = Status.OK
        if report[columns.CLIPPED] > 0.0:
            status |= Status.LIMITED
        if report[columns.WORST] > OUT_OF_REACH_M:
            status |= Status.OUT_OF_REACH
        if report[columns.FINITE] == 0.0:
            status |= Status.HELD
        solution.status = status
        return solution
