"""Example-guided inverse kinematics (Tak and Ko), one frame in one compiled call.

With d[n] the deviation of the character from the performer, joint by joint, a frame minimises

    alpha c^2 |goals - h|^2
        + beta (|d[n]|^2 + k1 |d[n] - d[n-1]|^2 + k2 |d[n] - 2 d[n-1] + d[n-2]|^2)

for beta = 1 - alpha. The terms of beta are (1 + k1 + k2) |d[n] - d0|^2 and a constant, about

    d0 = (k1 d[n-1] + k2 (2 d[n-1] - d[n-2])) / (1 + k1 + k2),

which makes it the shared correction: a prediction at d0, goals that yield by
N = beta (1 + k1 + k2) / (alpha c^2).
"""

from __future__ import annotations

from understudy.kinematics._kernels import copy_matrix, difference, turn
from understudy.kinematics.compiled import kernel, part
from understudy.kinematics.tables import cube, matrix, tensor4
from understudy.solvers._kernels.body import errors, forward
from understudy.solvers._kernels.correction import correct
from understudy.solvers._kernels.easing import aim, stand_still
from understudy.solvers._kernels.egik_layout import (
    ACCELERATION,
    ALPHA,
    LINKS_M,
    PASSES,
    VELOCITY,
    C,
)
from understudy.solvers._kernels.following import set_out
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
    WANTED,
)
from understudy.solvers._kernels.layout import BASE, FREEDOM, JUMP, STRENGTH
from understudy.solvers._kernels.opening import JACOBIANS, MEMORY, PERFORMED, opened
from understudy.solvers._kernels.pace import note_steps
from understudy.solvers._kernels.posture import apply

# Radians that weigh as much as the length of all links, where the user names no c.
RADIANS_PER_BODY = 5.0


@part("f8(f8[::1])")
def radians_per_metre(params):
    """The user's c, or the one that goes with the body's size."""
    if params[C] > 0.0:
        return params[C]
    return RADIANS_PER_BODY / params[LINKS_M]


@part("void(i8[:, ::1], f8, f8, f8[:, :, ::1], f8[:, :, ::1], f8[:, ::1])")
def predict(joints_i, k1, k2, past, poses, roots):
    """PRIOR <- NOW moved by d0; `past` (2, 1 + n, 3) holds d[n-1] and d[n-2]."""
    total = 1.0 + k1 + k2
    u = (k1 + 2.0 * k2) / total
    v = k2 / total
    copy_matrix(poses[NOW], poses[PRIOR])
    for r in range(3):
        roots[PRIOR, r] = roots[NOW, r] + u * past[0, 0, r] - v * past[1, 0, r]
    for j in range(joints_i.shape[0]):
        if joints_i[j, FREEDOM] != 2:
            x = u * past[0, 1 + j, 0] - v * past[1, 1 + j, 0]
            y = u * past[0, 1 + j, 1] - v * past[1, 1 + j, 1]
            z = u * past[0, 1 + j, 2] - v * past[1, 1 + j, 2]
            if x != 0.0 or y != 0.0 or z != 0.0:
                turn(poses[PRIOR], j, x, y, z)


@part("void(f8[:, :, ::1], f8[:, ::1], f8[:, :, ::1])")
def remember(poses, roots, past):
    """past <- d[n] before what it held."""
    copy_matrix(past[0], past[1])
    for r in range(3):
        past[0, 0, r] = roots[POSE, r] - roots[NOW, r]
    for j in range(poses.shape[1]):
        x, y, z = difference(poses[NOW], j, poses[POSE], j)
        past[0, 1 + j, 0] = x
        past[0, 1 + j, 1] = y
        past[0, 1 + j, 2] = z


@kernel("i8(i8[:, ::1], f8)")
def step(arrays, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `past`; the rest is scratch or input.
    """
    (
        joints_i, joints_f, effectors_i, effectors_f, blocks, chains, member, head, source, goals,
        extra, params, poses, roots, marks, ease, world, reached, free, bound, A, rows, d, report,
    ) = opened(arrays)  # fmt: skip
    J = tensor4(arrays, JACOBIANS)
    past = cube(arrays, MEMORY)
    params[DT] = dt
    if not usable(head, source, goals, extra, params, report):
        return status_of(report)
    aimed = marks[AIMED]
    aim(effectors_f, head, goals, aimed)
    if head[JUMP] != 0.0 or report[FRESH] != 0.0:
        past[:] = 0.0
    performed = matrix(arrays, PERFORMED)
    note_steps(poses, source, head[JUMP] != 0.0 or report[FRESH] != 0.0, performed)
    set_out(
        joints_i, joints_f, effectors_i, head, source, aimed, params, poses, roots, marks, ease,
        world, free, bound, report,
    )  # fmt: skip
    eased = marks[EASED]
    # Weights count frames of 1/30 s: the pull of a velocity is the same at every rate.
    frames = 1.0 / (30.0 * params[DT])
    k1 = params[VELOCITY] * frames
    k2 = params[ACCELERATION] * frames * frames
    predict(joints_i, k1, k2, past, poses, roots)
    alpha = params[ALPHA]
    if alpha > 0.0:
        c = radians_per_metre(params)
        held = correct(
            joints_i,
            joints_f,
            effectors_i,
            effectors_f,
            blocks,
            chains[0],
            member[0],
            eased,
            (1.0 - alpha) * (1.0 + k1 + k2) / (alpha * c * c),
            1.0,
            int(params[PASSES]),
            params,
            extra,
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
            ease,
            performed,
            report,
        )
        remember(poses, roots, past)
        if head[BASE] >= 0.0:
            hold_base(head, eased, roots[POSE], world, reached)
    else:  # pure copying: no goal counts, not even for a foot's own orientation
        wanted = marks[WANTED]
        copy_matrix(eased, wanted)
        for f in range(aimed.shape[0]):
            wanted[f, STRENGTH] = 0.0
        copy_matrix(poses[PRIOR], poses[POSE])
        for r in range(3):
            roots[POSE, r] = roots[PRIOR, r]
        d[:] = 0.0
        held = apply(
            joints_i,
            joints_f,
            wanted,
            bound,
            free,
            d,
            params[MAX_JOINT_STEP],
            roots[POSE],
            poses[POSE],
        )
        forward(joints_i, joints_f, wanted, roots[POSE], poses[POSE], world, free)
        errors(effectors_i, effectors_f, wanted, blocks, world, reached, rows[0])
        remember(poses, roots, past)
        # Goals that will count again begin where the copied posture has the effectors.
        for f in range(aimed.shape[0]):
            if aimed[f, STRENGTH] > 0.0:
                stand_still(effectors_i, world, aimed, f, eased)
    return finish(effectors_f, goals, poses, roots, ease, reached, held, report)
