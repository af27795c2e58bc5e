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
from understudy.kinematics.tables import cube, table_at
from understudy.solvers._kernels.correction import correct
from understudy.solvers._kernels.easing import stand_still
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
    NOW,
    POSE,
    PRIOR,
    WANTED,
)
from understudy.solvers._kernels.layout import BASE, FREEDOM, JUMP, STRENGTH
from understudy.solvers._kernels.opening import MEMORY, opened
from understudy.solvers._kernels.stages import measure, move

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


@kernel("i8(i8, f8)")
def step(address, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `past`; the rest is scratch or input.
    """
    arrays = table_at(address)
    w = opened(arrays)
    past = cube(arrays, MEMORY)
    w.params[DT] = dt
    if not usable(arrays):
        return status_of(w.report)
    if w.head[JUMP] != 0.0 or w.report[FRESH] != 0.0:
        past[:] = 0.0
    set_out(arrays, w.head, w.source)
    eased = w.marks[EASED]
    # Weights count frames of 1/30 s: the pull of a velocity is the same at every rate.
    frames = 1.0 / (30.0 * dt)
    k1 = w.params[VELOCITY] * frames
    k2 = w.params[ACCELERATION] * frames * frames
    predict(w.joints_i, k1, k2, past, w.poses, w.roots)
    alpha = w.params[ALPHA]
    if alpha > 0.0:
        c = radians_per_metre(w.params)
        noise = (1.0 - alpha) * (1.0 + k1 + k2) / (alpha * c * c)
        held = correct(arrays, eased, noise, 1.0, int(w.params[PASSES]))
        remember(w.poses, w.roots, past)
        if w.head[BASE] >= 0.0:
            hold_base(w.head, eased, w.roots[POSE], w.world, w.reached)
    else:  # pure copying: no goal counts, not even for a foot's own orientation
        wanted = w.marks[WANTED]
        copy_matrix(eased, wanted)
        for f in range(wanted.shape[0]):
            wanted[f, STRENGTH] = 0.0
        copy_matrix(w.poses[PRIOR], w.poses[POSE])
        for r in range(3):
            w.roots[POSE, r] = w.roots[PRIOR, r]
        w.d[:] = 0.0
        held = move(arrays, wanted)
        measure(arrays, wanted)
        remember(w.poses, w.roots, past)
        # Goals that will count again begin where the copied posture has the effectors.
        aimed = w.marks[AIMED]
        for f in range(aimed.shape[0]):
            if aimed[f, STRENGTH] > 0.0:
                stand_still(w.effectors_i, w.world, aimed, f, eased)
    return finish(arrays, held)
