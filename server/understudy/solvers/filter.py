"""What the solvers that go frame by frame share: the packed body, their memory, their answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import ClassVar, Final

import numpy as np

from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.compiled import Call
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tables import ArrayTable
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers._kernels import frame_layout as common
from understudy.solvers._kernels import layout, opening
from understudy.solvers._kernels.pace import STEPS
from understudy.solvers.base import STATUSES, ParameterValue, Solution
from understudy.solvers.parameters import Parameter, checked
from understudy.solvers.plan import Plan, static_bounds

# An age that is not zero: zero is for effectors that are new.
_JUST_BEGUN_S: Final = 1e-9

COMMON_PARAMETERS: Final = (
    Parameter("k1", 1.0, 0.01, 1.0, "gain of the effectors' goals, per 1/30 s"),
    Parameter("root_mobility", 0.0099, 0.0, 1e3, "how readily the root leaves its goal, m^2"),
    Parameter(
        "max_effector_speed", 30.0, 0.1, 1e3, "a goal that leaves its limb faster is eased in, m/s"
    ),
    Parameter("max_joint_step", 0.7, 1e-3, 3.2, "largest turn of a joint in one solve, rad"),
    Parameter(
        "max_joint_lead",
        4.0,
        0.1,
        1e3,
        "how much faster a joint turns than 1.5 times the performer's, at most, rad/s",
    ),
    Parameter("ease_s", 0.5, 1e-3, 10.0, "time in which gains rise after a jump, s"),
    Parameter("ease_gain", 0.1, 0.01, 1.0, "factor on the gains right after a jump"),
)

# Where a parameter lives: the array and the place in it.
Slot = tuple[FloatArray, int | tuple[int, int]]


SecondaryTask = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


class Filter(ABC):
    """A causal solver around one compiled `step`, which all of them call with the same arrays.

    A solver names its compiled `kernel` and where that has its `entry`, the parameters it `knows`,
    the module with the columns of its `own` ones (a column is called like its parameter, in
    capitals) and how many `jacobians` its kernel keeps.
    """

    name: ClassVar[str]
    kernel: ClassVar[Callable[..., int]]
    entry: ClassVar[int]
    knows: ClassVar[Sequence[Parameter]]
    own: ClassVar[ModuleType]
    jacobians: ClassVar[int] = 1

    secondary: SecondaryTask | None = None

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        parameters: Mapping[str, ParameterValue] | None = None,
        *,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
        orientation_arm_m: float = 0.2,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        plan = Plan(
            skeleton,
            effectors,
            limits=limits,
            mobilities=mobilities,
            orientation_arm_m=orientation_arm_m,
        )
        self.limits = plan.limits
        n, k, b = len(skeleton), len(self.effectors), len(plan.blocks)
        self._params: FloatArray = np.zeros(self.own.PARAMS)
        columns = vars(common) | vars(self.own)
        self._slots: dict[str, Slot] = {
            parameter.name: (self._params, columns[parameter.name.upper()])
            for parameter in self.knows
        }
        self._known = list(self.knows)
        self._general = len(self._known)
        for parameter in self.knows:
            self._params[columns[parameter.name.upper()]] = parameter.default
        self.plan = plan
        self._memory = self._blank_memory()
        self._extra: FloatArray = np.zeros((1 + n, 3))
        self._poses: FloatArray = np.zeros((common.POSES, n, 4))
        self._roots: FloatArray = np.zeros((common.POSES, layout.HEAD_FLOATS))
        self._marks: FloatArray = np.zeros((common.MARKS, k, layout.GOAL_FLOATS))
        self._ease: FloatArray = np.zeros((2, k + 1))
        self._reached: FloatArray = np.zeros((k, 3))
        self._rows: FloatArray = np.zeros((5, 3 * b))
        self._report: FloatArray = np.zeros(common.REPORT)
        self._steps: FloatArray = np.zeros((n, STEPS))
        bound, free = static_bounds(plan)
        self._targets = Targets(n, k)
        self._arrays = ArrayTable(
            plan.joints_i,
            plan.joints_f,
            plan.effectors_i,
            plan.effectors_f,
            plan.blocks,
            plan.chains,
            plan.member,
            self._targets.head,
            self._targets.rotations_xyzw,
            self._targets.goals,
            self._extra,
            self._params,
            self._poses,
            self._roots,
            self._marks,
            self._ease,
            np.zeros((n, 12)),
            self._reached,
            free,
            bound,
            np.zeros((2, 3 * b, 3 * b)),
            self._rows,
            np.zeros((1 + n, 3)),
            self._report,
            np.zeros((self.jacobians, b, n, 3, 3)),
            self._steps,
            self._memory,
        )
        self._solution = Solution(
            self._roots[common.POSE, :3], self._poses[common.POSE], self._ease[1, :k]
        )
        self._add_own()
        self.reset()
        self.set_parameters(parameters or {})

    @abstractmethod
    def _blank_memory(self) -> FloatArray:
        """What the solver remembers besides poses and goals, zeroed by a reset."""

    @abstractmethod
    def _add_own(self) -> None:
        """Add what a solver has beyond that: parameters and figures of this character alone."""

    @property
    def call(self) -> Call | None:
        """What `step` does with the targets it was given last; None with a secondary task."""
        return None if self.secondary is not None else Call(self.entry, self._arrays.address)

    def reset(self, pose: Pose | None = None) -> None:
        """Forget the past: start at the next frame's own posture, or ease in from `pose`."""
        start = self.skeleton.rest_pose() if pose is None else pose
        self._roots[:, :3] = start.root
        self._poses[:] = start.rotations_xyzw
        self._ease[:] = 0.0
        self._memory[:] = 0.0
        self._steps[:] = 0.0
        self._report[:] = 0.0
        self._report[common.LAST_BASE] = -1.0
        self._report[common.FRESH] = 1.0 if pose is None else 2.0

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        """Change parameters between two frames; the pose goes over smoothly."""
        for name, value in checked(self.name, self._known, values).items():
            array, at = self._slots[name]
            array[at] = value
        if values:
            self._ease_in()

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters in force; of those of this character alone, the ones that were changed."""
        result = {}
        for number, parameter in enumerate(self._known):
            array, at = self._slots[parameter.name]
            if number < self._general or array[at] != parameter.default:
                result[parameter.name] = parameter.shown(float(array[at]))
        return result

    @property
    def own_parameters(self) -> tuple[Parameter, ...]:
        """The parameters of this character alone, whatever they are now."""
        return tuple(self._known[self._general :])

    @property
    def settings(self) -> FloatArray:
        """The parameters as the compiled code has them."""
        return self._params

    def setting(self, column: int) -> float:
        """One of them."""
        return float(self._params[column])

    def step(self, targets: Targets, dt: float) -> Solution:
        """Solve one frame that comes `dt` seconds after the last."""
        if self.secondary is not None:
            error, jacobian = self.secondary(self._solution.root, self._poses[common.POSE])
            self._extra[:] = (jacobian.T @ error).reshape(-1, 3)
        if targets is not self._targets:
            self._targets = targets
            self._arrays.put(opening.HEAD, targets.head)
            self._arrays.put(opening.SOURCE, targets.rotations_xyzw)
            self._arrays.put(opening.GOALS, targets.goals)
        solution = self._solution
        solution.status = STATUSES[self.kernel(self._arrays.address, dt)]
        return solution

    def _add_slot(self, name: str, high: float, meaning: str, slot: Slot) -> None:
        """A parameter of this character alone, from 0 to `high`; it starts as what is there."""
        array, at = slot
        self._known.append(Parameter(name, float(array[at]), 0.0, high, meaning))
        self._slots[name] = slot

    def _ease_in(self) -> None:
        """Start what changed from the pose it finds, as after a jump, but without standing still.

        The goals and the performer's posture begin where the character is; what is missing to the
        true ones is made up while the gains rise.
        """
        self._marks[common.EASED, :, layout.GOAL : layout.GOAL + 3] = self._reached
        self._poses[common.NOW] = self._poses[common.POSE]
        self._roots[common.NOW] = self._roots[common.POSE]
        self._let_gains_rise()
        self._memory[:] = 0.0

    def _let_gains_rise(self) -> None:
        """Begin again with small gains, for all that is followed already."""
        self._ease[0] = np.where(self._ease[0] > 0.0, _JUST_BEGUN_S, 0.0)
