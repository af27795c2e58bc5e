"""Copying in one compiled call, with the distance of every effector from its goal."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix, is_finite
from understudy.kinematics.compiled import kernel
from understudy.kinematics.tables import index_matrix, matrix, table_at, vector
from understudy.solvers._kernels.body import forward
from understudy.solvers._kernels.frame_layout import HELD
from understudy.solvers._kernels.layout import FREEDOM, GOAL, JOINT, POINT, STRENGTH
from understudy.solvers._kernels.posture import on_hinge

# Places in the table of `step`; the targets may lie elsewhere in every frame.
HEAD, SOURCE, GOALS = range(3)
JOINTS_I, JOINTS_F, EFFECTORS_I = range(3, 6)
ROOT, ROTATIONS, GOOD_ROOT, GOOD_ROTATIONS, WORLD, FREE, RESIDUALS = range(6, 13)


@kernel("i8(i8, f8)")
def step(address, dt):
    """root, q <- the targets' posture; the last good one, and HELD, if that is not finite.

    Copying remembers nothing, so `dt` does not matter.
    """
    arrays = table_at(address)
    joints_i = index_matrix(arrays, JOINTS_I)
    joints_f = matrix(arrays, JOINTS_F)
    effectors_i = index_matrix(arrays, EFFECTORS_I)
    head = vector(arrays, HEAD)
    source = matrix(arrays, SOURCE)
    goals = matrix(arrays, GOALS)
    root = vector(arrays, ROOT)
    q = matrix(arrays, ROTATIONS)
    good_root = vector(arrays, GOOD_ROOT)
    good_q = matrix(arrays, GOOD_ROTATIONS)
    world = matrix(arrays, WORLD)
    free = matrix(arrays, FREE)
    residuals = vector(arrays, RESIDUALS)
    total = head[0] + head[1] + head[2]
    for j in range(source.shape[0]):
        for r in range(4):
            total += source[j, r]
    if not is_finite(total):
        for r in range(3):
            root[r] = good_root[r]
        copy_matrix(good_q, q)
        return HELD
    for r in range(3):
        root[r] = head[r]
        good_root[r] = head[r]
    for j in range(source.shape[0]):
        if joints_i[j, FREEDOM] == 1:
            on_hinge(joints_f, j, source, q)
        elif joints_i[j, FREEDOM] == 0:
            for r in range(4):
                q[j, r] = source[j, r]
        for r in range(4):
            good_q[j, r] = q[j, r]
    forward(joints_i, joints_f, goals, root, q, world, free)
    for f in range(goals.shape[0]):
        j = effectors_i[f, JOINT]
        size = 0.0
        for r in range(3):
            c = world[j, r]
            for t in range(3):
                c += world[j, 3 + 3 * r + t] * goals[f, POINT + t]
            size += (goals[f, GOAL + r] - c) ** 2
        if not goals[f, STRENGTH] > 0.0:
            residuals[f] = 0.0
        elif is_finite(size):  # a goal that is not a place leaves the last distance standing
            residuals[f] = np.sqrt(size)
    return 0
