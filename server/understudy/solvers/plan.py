"""A character and its effectors, packed into the arrays that the compiled solvers take."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from understudy.kinematics import FIXED, HINGE, FloatArray, IntArray, Skeleton, rotations
from understudy.kinematics.limits import FREE_RANGE_RAD, JointLimits
from understudy.kinematics.tasks import NO_BASE, Effector
from understudy.solvers._kernels import layout
from understudy.solvers.base import SolverError

# How far a goal may be from the root's place, in lengths of the longest limb: beyond all reach.
FARTHEST_PER_REACH: Final = 2.0

# The half-angle tangent that stands for "no limit on the twist".
FREE_TANGENT: Final = 1e9


class Plan:
    """What stays the same from frame to frame; see `_kernels.layout` for the columns."""

    def __init__(
        self,
        skeleton: Skeleton,
        effectors: Sequence[Effector],
        *,
        limits: JointLimits | None = None,
        mobilities: FloatArray | None = None,
        orientation_arm_m: float = 0.2,
    ) -> None:
        self.skeleton = skeleton
        self.effectors = tuple(effectors)
        self.limits = JointLimits.none(skeleton) if limits is None else limits
        self.joints_i, self.joints_f = _joints(skeleton, self.effectors, self.limits, mobilities)
        self.effectors_i, self.effectors_f, self.blocks = _effectors(
            self.effectors, orientation_arm_m
        )
        self.effectors_f[:, layout.FARTHEST] = FARTHEST_PER_REACH * _longest_reach(skeleton)
        self.chains, self.member = _chains(skeleton, self.effectors, self.blocks, self.joints_i)

    @property
    def row_count(self) -> int:
        """Rows of the Jacobian; a block has three."""
        return 3 * len(self.blocks)


def _joints(
    skeleton: Skeleton,
    effectors: tuple[Effector, ...],
    limits: JointLimits,
    mobilities: FloatArray | None,
) -> tuple[IntArray, FloatArray]:
    n = len(skeleton)
    ints = np.zeros((n, layout.JOINT_INTS), np.int64)
    ints[:, layout.PARENT] = skeleton.parents
    ints[:, layout.EXACT] = -1
    ints[:, layout.LIMITED] = limits.limited
    ints[1:, layout.FREEDOM] = skeleton.kinds[1:]
    for number, effector in enumerate(effectors):
        if not 0 <= effector.joint < n:
            raise SolverError(
                f"effector {effector.name!r}: joint {effector.joint} of a skeleton of {n} joints"
            )
        if effector.orientation != "exact":
            continue
        name = skeleton.names[effector.joint]
        if skeleton.parents[effector.joint] < 0 or skeleton.kinds[effector.joint] != 0:
            raise SolverError(
                f"effector {effector.name!r}: joint {name!r} must be a ball joint below the root"
                " to meet an orientation exactly"
            )
        if ints[effector.joint, layout.EXACT] >= 0:
            other = effectors[ints[effector.joint, layout.EXACT]].name
            raise SolverError(
                f"effector {effector.name!r}: joint {name!r} meets the orientation of effector"
                f" {other!r} already; a joint can meet one exactly"
            )
        ints[effector.joint, layout.EXACT] = number
    floats = np.zeros((n, layout.JOINT_FLOATS))
    floats[:, layout.OFFSET : layout.OFFSET + 3] = skeleton.offsets
    floats[:, layout.MOBILITY] = 1.0 if mobilities is None else mobilities
    floats[:, layout.AXIS : layout.AXIS + 3] = skeleton.axes
    floats[:, layout.CENTRE : layout.CENTRE + 4] = limits.centre_xyzw
    floats[:, layout.BASIS : layout.BASIS + 9] = limits.basis.reshape(n, 9)
    # centre^-1 q is linear in q, and so are its parts along the axes.
    parts = rotations.multiply(rotations.conjugate(limits.centre_xyzw)[:, None], np.eye(4))
    parts[:, :, :3] = parts[:, :, :3] @ limits.basis.transpose(0, 2, 1)
    floats[:, layout.RANGE : layout.RANGE + 16] = parts.transpose(0, 2, 1).reshape(n, 16)
    for side, angles, sign in (
        (layout.LOW, limits.low_rad, -1.0),
        (layout.HIGH, limits.high_rad, 1.0),
    ):
        swing = np.clip(angles[:, :2], -math.pi, math.pi)
        floats[:, side : side + 2] = np.sin(0.5 * swing)
        wide = limits.high_rad[:, 2] - limits.low_rad[:, 2] >= FREE_RANGE_RAD
        twist = np.clip(angles[:, 2], -3.0, 3.0)
        floats[:, side + 2] = np.where(wide, sign * FREE_TANGENT, np.tan(0.5 * twist))
    return ints, floats


def _effectors(
    effectors: tuple[Effector, ...], arm_m: float
) -> tuple[IntArray, FloatArray, IntArray]:
    ints = np.full((len(effectors), layout.EFFECTOR_INTS), -1, np.int64)
    floats = np.zeros((len(effectors), layout.EFFECTOR_FLOATS))
    blocks: list[tuple[int, int]] = []
    for number, effector in enumerate(effectors):
        axes_from_world = rotations.matrix(np.asarray(effector.world_from_axes_xyzw)).T
        select = axes_from_world * np.array(effector.axes, np.float64)[:, None]
        ints[number, layout.JOINT] = effector.joint
        ints[number, layout.PLAIN] = bool(np.array_equal(select, np.eye(3)))
        floats[number, layout.SELECT : layout.SELECT + 9] = select.ravel()
        floats[number, layout.SOFTNESS] = effector.softness_m2
        floats[number, layout.ARM] = arm_m
        ints[number, layout.POSITION_BLOCK] = len(blocks)
        blocks.append((number, 0))
        if effector.orientation == "rows":
            ints[number, layout.ORIENTATION_BLOCK] = len(blocks)
            blocks.append((number, 1))
    return ints, floats, np.array(blocks, np.int64).reshape(-1, layout.BLOCK_INTS)


def _chains(
    skeleton: Skeleton, effectors: tuple[Effector, ...], blocks: IntArray, joints_i: IntArray
) -> tuple[IntArray, IntArray]:
    """Which joints move which block, without a base and with each effector as the base.

    A joint that carries both the base and the block moves neither against the other; one that
    carries only the base moves the block the other way round. Those come first: the joints above a
    block are in the order of the tree, the last of them nearest to it. A joint that meets an
    effector's orientation takes no part in moving that effector.
    """
    movable = [j for j in range(len(skeleton)) if joints_i[j, layout.FREEDOM] != FIXED]
    above: list[set[int]] = [set(skeleton.ancestors(effector.joint)) for effector in effectors]
    tables: list[list[dict[int, int]]] = []
    for base, carries_base in [(NO_BASE, set()), *enumerate(above)]:
        table = []
        for number, _ in blocks:
            signs = {
                j: int(j in above[number]) - int(j in carries_base)
                for j in movable
                if joints_i[j, layout.EXACT] < 0 or joints_i[j, layout.EXACT] not in (number, base)
            }
            ordered = sorted(signs.items(), key=lambda item: item[1])
            table.append({j: sign for j, sign in ordered if sign != 0})
        tables.append(table)
    depth = max((len(chain) for table in tables for chain in table), default=0)
    chains = np.zeros((len(tables), len(blocks), 1 + 2 * depth), np.int64)
    member = np.zeros((len(tables), len(blocks), len(skeleton)), np.int64)
    for t, table in enumerate(tables):
        for b, chain in enumerate(table):
            chains[t, b, 0] = len(chain)
            chains[t, b, 1 : 1 + len(chain)] = list(chain)
            chains[t, b, 1 + depth : 1 + depth + len(chain)] = list(chain.values())
            member[t, b, list(chain)] = 1
    return chains, member


def _longest_reach(skeleton: Skeleton) -> float:
    """The length (m) of the longest limb, from the root to its end; 1 for a body without any."""
    reach = np.zeros(len(skeleton))
    for j in range(1, len(skeleton)):
        reach[j] = reach[skeleton.parents[j]] + np.linalg.norm(skeleton.offsets[j])
    tips = np.where(skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0)
    longest = float(np.max(reach + tips))
    return longest if longest > 0.0 else 1.0


def static_bounds(plan: Plan) -> tuple[IntArray, FloatArray]:
    """`bound` (n,) and `free` (n, 9) with the hinges' axes in place."""
    n = len(plan.skeleton)
    bound = np.zeros(n, np.int64)
    free = np.tile(np.eye(3).ravel(), (n, 1))
    for j in range(1, n):
        if plan.skeleton.kinds[j] == HINGE:
            bound[j] = 1
            axis = plan.skeleton.axes[j]
            free[j] = np.outer(axis, axis).ravel()
    return bound, free
