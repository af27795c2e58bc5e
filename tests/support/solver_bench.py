"""The solvers' kernels on a bench: packed arrays for one body, one pose, one set of goals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from support.bodies import world_by_scipy
from understudy.kinematics import FloatArray, ForwardKinematics, Pose, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import NO_BASE, Effector, Targets
from understudy.solvers._kernels import body, layout, rows
from understudy.solvers._kernels.base import seat
from understudy.solvers.plan import Plan, static_bounds


class Bench:
    """Everything the kernels take, for a pose and goals that a test sets."""

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        *,
        points: FloatArray | None = None,
        base: int = NO_BASE,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        self.plan = Plan(skeleton, effectors, limits=limits, mobilities=mobilities)
        self.base = base
        self.targets = Targets.allocate(skeleton, effectors)
        if points is not None:
            self.targets.points[:] = points
        n, blocks = len(skeleton), len(self.plan.blocks)
        self.chain = self.plan.chains[1 + base].copy()
        self.member = self.plan.member[1 + base].copy()
        self.world = np.zeros((n, 12))
        self.reached = np.zeros((len(self.effectors), 3))
        self.bound, self.free = static_bounds(self.plan)
        self.J = np.zeros((blocks, n, 3, 3))
        self.A = np.zeros((3 * blocks, 3 * blocks))
        self.e = np.zeros(3 * blocks)

    def aim_at(self, pose: Pose) -> None:
        """Goals where `pose` has the effectors."""
        positions, matrices = world_by_scipy(self.skeleton, pose)
        for k, effector in enumerate(self.effectors):
            j = effector.joint
            self.targets.positions[k] = positions[j] + matrices[j] @ self.targets.points[k]
            self.targets.orientations_xyzw[k] = rotations.from_matrix(matrices[j])

    def place(self, pose: Pose) -> Pose:
        """World, errors and reached points of `pose`, the base seated; the pose as it ends up."""
        root, q = pose.root.copy(), pose.rotations_xyzw.copy()
        self._forward(root, q)
        if self.base != NO_BASE:
            seating = np.zeros(8)
            seating[0], seating[7] = self.base, 1.0
            seat(self.plan.effectors_i, self.targets.goals, self.world, seating, root, q,
                 self.reached)  # fmt: skip
            self._forward(root, q)
        return Pose(root, q)

    def _forward(self, root: FloatArray, q: FloatArray) -> None:
        plan = self.plan
        body.forward(plan.joints_i, plan.joints_f, self.targets.goals, root, q, self.world,
                     self.free)  # fmt: skip
        body.errors(plan.effectors_i, plan.effectors_f, self.targets.goals, plan.blocks,
                    self.world, self.reached, self.e)  # fmt: skip

    def jacobian(self) -> FloatArray:
        """Dense J (3b, 3n) of the placed pose, by the kernel."""
        plan = self.plan
        rows.jacobian(
            plan.joints_i,
            self.bound,
            plan.effectors_i,
            plan.effectors_f,
            self.targets.goals,
            plan.blocks,
            self.chain,
            self.world,
            self.reached,
            self.free,
            self.J,
        )
        return self.dense()

    def dense(self) -> FloatArray:
        """The kernel's blocks (b, n, direction, row) as rows and columns."""
        b, n = self.J.shape[:2]
        return np.ascontiguousarray(self.J.transpose(0, 3, 1, 2)).reshape(3 * b, 3 * n)

    def gram(self, root_mobility: float) -> FloatArray:
        """J P J^T + N of the last `jacobian`, made symmetric."""
        plan = self.plan
        rows.gram(plan.joints_f, plan.effectors_i, plan.effectors_f, self.targets.goals,
                  plan.blocks, self.chain, self.member, root_mobility, self.J, self.A)  # fmt: skip
        lower = np.tril(self.A)
        return np.asarray(lower + np.tril(lower, -1).T, np.float64)

    def root_columns(self) -> FloatArray:
        """d(rows)/d(root translation) (3b, 3)."""
        plan = self.plan
        columns = np.zeros((plan.row_count, 3))
        for i, (effector, turns) in enumerate(plan.blocks):
            if not turns:
                select = plan.effectors_f[effector, layout.SELECT : layout.SELECT + 9]
                columns[3 * i : 3 * i + 3] = select.reshape(3, 3)
        return columns


def goals_of(
    skeleton: Skeleton, effectors: Sequence[Effector], targets: Targets, pose: Pose
) -> None:
    """Fill the targets with a pose: posture, root, and every effector's place in it."""
    kinematics = ForwardKinematics(skeleton)
    kinematics.update(pose.root, pose.rotations_xyzw)
    targets.root[:] = pose.root
    targets.rotations_xyzw[:] = pose.rotations_xyzw
    for k, effector in enumerate(effectors):
        targets.positions[k] = kinematics.point(effector.joint, targets.points[k])
        targets.orientations_xyzw[k] = rotations.from_matrix(kinematics.rotations[effector.joint])
