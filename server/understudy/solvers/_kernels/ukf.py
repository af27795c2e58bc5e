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
from understudy.kinematics.tables import matrix, tensor5
from understudy.solvers._kernels.algorithm_one import gain, measurement, radii
from understudy.solvers._kernels.body import errors, forward
from understudy.solvers._kernels.correction import correct
from understudy.solvers._kernels.easing import aim
from understudy.solvers._kernels.following import VARIANCE, set_out, track
from understudy.solvers._kernels.frame import finish, hold_base, status_of, usable
from understudy.solvers._kernels.frame_layout import (
    AIMED,
    DT,
    EASED,
    FRESH,
    MAX_JOINT_STEP,
    NOW,
    POSE,
    PRIOR,
    ROOT_MOBILITY,
    TRACKED,
)
from understudy.solvers._kernels.layout import BASE, EXACT, FREEDOM, HEAD_FLOATS, JUMP
from understudy.solvers._kernels.opening import JACOBIANS, MEMORY, PERFORMED, opened
from understudy.solvers._kernels.pace import note_steps
from understudy.solvers._kernels.posture import apply
from understudy.solvers._kernels.rows import back_substitute, cholesky, jacobian
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


@part(
    "i8(i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[:, ::1],"
    " f8[:, ::1], f8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1],"
    " f8[:, :, :, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1])"
)
def as_published(
    joints_i,
    joints_f,
    effectors_i,
    effectors_f,
    blocks,
    chain,
    moves,
    goals,
    params,
    poses,
    roots,
    world,
    reached,
    free,
    bound,
    J,
    A,
    rows,
    d,
):
    """POSE <- PRIOR corrected by Algorithm 1, as often as there are passes.

    Where its covariance is not definite there is no correction.
    """
    m = 3 * blocks.shape[0]
    q = poses[POSE]
    root = roots[POSE]
    copy_matrix(poses[PRIOR], q)
    for r in range(3):
        root[r] = roots[PRIOR, r]
    spread = coordinates(joints_i) + params[KAPPA]
    variance = params[SIGMA_RAD] ** 2
    root_variance = variance * params[ROOT_MOBILITY]
    e = rows[0]
    y = rows[1]
    worst = 0
    for _ in range(int(params[PASSES])):
        worst = max(worst, forward(joints_i, joints_f, goals, root, q, world, free))
        errors(effectors_i, effectors_f, goals, blocks, world, reached, e)
        jacobian(
            joints_i,
            bound,
            effectors_i,
            effectors_f,
            goals,
            blocks,
            chain,
            world,
            reached,
            free,
            J[0],
        )
        radii(
            joints_i,
            joints_f,
            bound,
            effectors_i,
            effectors_f,
            goals,
            blocks,
            chain,
            world,
            reached,
            J[1],
        )
        measurement(
            joints_f,
            effectors_f,
            goals,
            blocks,
            chain,
            moves,
            spread,
            variance,
            root_variance,
            J[0],
            J[1],
            A[0],
            y,
        )
        if cholesky(A[0], m) == 0:
            break
        for i in range(m):
            y[i] = e[i] - y[i]
        back_substitute(A[0], y, m)
        gain(
            joints_f,
            effectors_f,
            goals,
            blocks,
            chain,
            spread,
            variance,
            root_variance,
            J[0],
            y,
            d,
        )
        worst = max(
            worst,
            apply(joints_i, joints_f, goals, bound, free, d, params[MAX_JOINT_STEP], root, q),
        )
    worst = max(worst, forward(joints_i, joints_f, goals, root, q, world, free))
    errors(effectors_i, effectors_f, goals, blocks, world, reached, e)
    return worst


@kernel("i8(i8[:, ::1], f8)")
def step(arrays, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `tracks`; the rest is scratch or input.
    """
    (
        joints_i, joints_f, effectors_i, effectors_f, blocks, chains, member, head, source, goals,
        extra, params, poses, roots, marks, ease, world, reached, free, bound, A, rows, d, report,
    ) = opened(arrays)  # fmt: skip
    J = tensor5(arrays, JACOBIANS)
    tracks = matrix(arrays, MEMORY)
    params[DT] = dt
    if not usable(head, source, goals, extra, params, report):
        return status_of(report)
    aimed = marks[AIMED]
    aim(effectors_f, head, goals, aimed)
    followed = source
    where = head
    if params[CARRY] != 0.0:
        restart = 1 if head[JUMP] != 0.0 or report[FRESH] != 0.0 else 0
        followed = poses[TRACKED]
        where = roots[TRACKED]
        track(
            head,
            source,
            params[DT],
            params[AGILITY],
            params[NOISE_RAD],
            params[NOISE_M],
            restart,
            tracks,
            followed,
            where,
        )
        for r in range(3, HEAD_FLOATS):
            where[r] = head[r]
    else:
        tracks[0, VARIANCE] = 0.0
    performed = matrix(arrays, PERFORMED)
    note_steps(poses, followed, head[JUMP] != 0.0 or report[FRESH] != 0.0, performed)
    set_out(
        joints_i, joints_f, effectors_i, where, followed, aimed, params, poses, roots, marks, ease,
        world, free, bound, report,
    )  # fmt: skip
    eased = marks[EASED]
    copy_matrix(poses[NOW], poses[PRIOR])
    for r in range(3):
        roots[PRIOR, r] = roots[NOW, r]
    if params[FORM] == 0.0:
        s = params[SIGMA_RAD]
        held = correct(
            joints_i,
            joints_f,
            effectors_i,
            effectors_f,
            blocks,
            chains[0],
            member[0],
            eased,
            0.0,
            np.sin(s) / s,
            int(params[PASSES]),
            params,
            extra,
            poses,
            roots,
            world,
            reached,
            free,
            bound,
            J[0],
            A,
            rows,
            d,
            ease,
            performed,
            report,
        )
    else:
        held = as_published(
            joints_i,
            joints_f,
            effectors_i,
            effectors_f,
            blocks,
            chains[0],
            member[0],
            eased,
            params,
            poses,
            roots,
            world,
            reached,
            free,
            bound,
            J,
            A,
            rows,
            d,
        )
    if head[BASE] >= 0.0:
        hold_base(head, eased, roots[POSE], world, reached)
    return finish(effectors_f, goals, poses, roots, ease, reached, held, report)
