"""The filter's prediction as published: the primary task's own increment, J^+ dx."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix, log_of, product
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.frame_layout import (
    AIMED,
    DT,
    EASED,
    LAST,
    LAST_GOALS,
    MAX_EFFECTOR_SPEED,
    POSE,
    WANTED,
)
from understudy.solvers._kernels.layout import (
    ARM,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    GOAL,
    STRENGTH,
    TURN,
)
from understudy.solvers._kernels.opening import opened
from understudy.solvers._kernels.rows import back_substitute
from understudy.solvers._kernels.stages import add_step, move, place


@part("f8(i8[:, ::1])")
def find_leaps(arrays):
    """How far (m) the farthest goal has gone; one that goes too far is eased in, as a new one is.

    No increment of the performer's is carried over here: a goal that leaps has leapt.
    """
    w = opened(arrays)
    aimed = w.marks[AIMED]
    farthest = 0.0
    for f in range(aimed.shape[0]):
        size = 0.0
        for r in range(3):
            size += (aimed[f, GOAL + r] - w.marks[LAST_GOALS, f, GOAL + r]) ** 2
        if np.sqrt(size) > w.params[MAX_EFFECTOR_SPEED] * w.params[DT]:
            w.ease[0, f] = 0.0
        elif aimed[f, STRENGTH] > 0.0:
            farthest = max(farthest, np.sqrt(size))
    place(arrays, w.marks[EASED])
    return farthest


@part("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8, i8, f8[::1])")
def goal_step(effectors_f, last_goals, goals, blocks, i, f, dx):
    """dx[3i:3i+3] <- the goal's own increment in the rows of block i, m."""
    if blocks[i, BLOCK_TURNS] == 0:
        for r in range(3):
            way = 0.0
            for t in range(3):
                way += effectors_f[f, 3 * r + t] * (goals[f, GOAL + t] - last_goals[f, GOAL + t])
            dx[3 * i + r] = way
    else:
        # log(R_n R_{n-1}^T), a rotation vector of the world; a frame's turn is far below pi
        x, y, z, w = product(
            goals[f, TURN], goals[f, TURN + 1], goals[f, TURN + 2], goals[f, TURN + 3],
            -last_goals[f, TURN], -last_goals[f, TURN + 1], -last_goals[f, TURN + 2],
            last_goals[f, TURN + 3],
        )  # fmt: skip
        x, y, z = log_of(x, y, z, w)
        dx[3 * i] = effectors_f[f, ARM] * x
        dx[3 * i + 1] = effectors_f[f, ARM] * y
        dx[3 * i + 2] = effectors_f[f, ARM] * z


@part("void(i8[:, ::1], i8, f8, b1)")
def predict(arrays, table, root_mobility, jump):
    """POSE <- moved by J^+ dx (step 1 below equation 16), from where it was, kept in LAST.

    The increment dx of the goals is left in rows[3]; after a jump there is none.
    """
    w = opened(arrays)
    m = 3 * w.blocks.shape[0]
    wanted = w.marks[WANTED]
    y = w.rows[1]
    dx = w.rows[3]
    for i in range(m):
        dx[i] = 0.0
    if not jump:
        for i in range(w.blocks.shape[0]):
            f = w.blocks[i, BLOCK_EFFECTOR]
            goal_step(w.effectors_f, w.marks[LAST_GOALS], wanted, w.blocks, i, f, dx)
    for i in range(m):
        y[i] = dx[i]
    back_substitute(w.A[0], y, m)
    w.d[:] = 0.0
    add_step(arrays, table, wanted, root_mobility, y)
    copy_matrix(w.poses[POSE], w.poses[LAST])
    for r in range(3):
        w.roots[LAST, r] = w.roots[POSE, r]
    move(arrays, wanted)


@part("void(i8[:, ::1])")
def go_back(arrays):
    """POSE <- as it was before the prediction; the goals' increment counts with their errors."""
    w = opened(arrays)
    for i in range(3 * w.blocks.shape[0]):
        w.rows[0, i] += w.rows[3, i]
    copy_matrix(w.poses[LAST], w.poses[POSE])
    for r in range(3):
        w.roots[POSE, r] = w.roots[LAST, r]
