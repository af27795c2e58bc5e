"""The kinematic sweep of Tak and Ko, one frame in one compiled call.

The prediction is the performer's posture; the goals are measurements that correct it. Joints have
mobilities (the state's covariance) and goals a softness (the measurements' noise), both the user's.
Covariance is not carried over to the next frame; where the performer is tracked, the prediction is
what an ordinary Kalman filter makes of all frames so far.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix
from understudy.kinematics.compiled import kernel, part
from understudy.kinematics.tables import matrix, table_at
from understudy.solvers._kernels.algorithm_one import gain, measurement, radii
from understudy.solvers._kernels.correction import correct
from understudy.solvers._kernels.following import VARIANCE, set_out, track
from understudy.solvers._kernels.frame import finish, hold_base, status_of, usable
from understudy.solvers._kernels.frame_layout import (
    DT,
    EASED,
    FRESH,
    NOW,
    POSE,
    PRIOR,
    ROOT_MOBILITY,
    TRACKED,
)
from understudy.solvers._kernels.layout import BASE, EXACT, FREEDOM, HEAD_FLOATS, JUMP
from understudy.solvers._kernels.opening import MEMORY, opened
from understudy.solvers._kernels.rows import back_substitute, cholesky
from understudy.solvers._kernels.stages import linearise, measure, move
from understudy.solvers._kernels.ukf_layout import (
    AGILITY,
    CARRY,
    FORM,
    KAPPA,
    NOISE_M,
    NOISE_RAD,
    PASSES,
    SIGMA_RAD,
)


@kernel("f8(i8[:, ::1])")
def coordinates(joints_i):
    """How many coordinates the state has: three of the root's place and what the joints can do."""
    count = 3.0
    for j in range(joints_i.shape[0]):
        if joints_i[j, EXACT] < 0:
            count += 3.0 if joints_i[j, FREEDOM] == 0 else 2.0 - joints_i[j, FREEDOM]
    return count


@part("i8(i8[:, ::1], f8[:, ::1])")
def as_published(arrays, goals):
    """POSE <- PRIOR corrected by Algorithm 1, as often as there are passes.

    Where its covariance is not definite there is no correction.
    """
    w = opened(arrays)
    m = 3 * w.blocks.shape[0]
    chain = w.chains[0]
    copy_matrix(w.poses[PRIOR], w.poses[POSE])
    for r in range(3):
        w.roots[POSE, r] = w.roots[PRIOR, r]
    spread = coordinates(w.joints_i) + w.params[KAPPA]
    variance = w.params[SIGMA_RAD] ** 2
    root_variance = variance * w.params[ROOT_MOBILITY]
    e = w.rows[0]
    y = w.rows[1]
    worst = 0
    for _ in range(int(w.params[PASSES])):
        worst = max(worst, measure(arrays, goals))
        linearise(arrays, 0, goals)
        radii(
            w.joints_i, w.joints_f, w.bound, w.effectors_i, w.effectors_f, goals, w.blocks, chain,
            w.world, w.reached, w.J[1],
        )  # fmt: skip
        measurement(
            w.joints_f, w.effectors_f, goals, w.blocks, chain, w.member[0], spread, variance,
            root_variance, w.J[0], w.J[1], w.A[0], y,
        )  # fmt: skip
        if cholesky(w.A[0], m) == 0:
            break
        for i in range(m):
            y[i] = e[i] - y[i]
        back_substitute(w.A[0], y, m)
        gain(
            w.joints_f, w.effectors_f, goals, w.blocks, chain, spread, variance, root_variance,
            w.J[0], y, w.d,
        )  # fmt: skip
        worst = max(worst, move(arrays, goals))
    return max(worst, measure(arrays, goals))


@kernel("i8(i8, f8)")
def step(address, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `tracks`; the rest is scratch or input.
    """
    arrays = table_at(address)
    w = opened(arrays)
    tracks = matrix(arrays, MEMORY)
    params = w.params
    params[DT] = dt
    if not usable(arrays):
        return status_of(w.report)
    followed = w.source
    where = w.head
    if params[CARRY] != 0.0:
        restart = 1 if w.head[JUMP] != 0.0 or w.report[FRESH] != 0.0 else 0
        followed = w.poses[TRACKED]
        where = w.roots[TRACKED]
        track(
            w.head, w.source, dt, params[AGILITY], params[NOISE_RAD], params[NOISE_M], restart,
            tracks, followed, where,
        )  # fmt: skip
        for r in range(3, HEAD_FLOATS):
            where[r] = w.head[r]
    else:
        tracks[0, VARIANCE] = 0.0
    set_out(arrays, where, followed)
    eased = w.marks[EASED]
    copy_matrix(w.poses[NOW], w.poses[PRIOR])
    for r in range(3):
        w.roots[PRIOR, r] = w.roots[NOW, r]
    if params[FORM] == 0.0:
        s = params[SIGMA_RAD]
        held = correct(arrays, eased, 0.0, np.sin(s) / s, int(params[PASSES]))
    else:
        held = as_published(arrays, eased)
    if w.head[BASE] >= 0.0:
        hold_base(w.head, eased, w.roots[POSE], w.world, w.reached)
    return finish(arrays, held)
