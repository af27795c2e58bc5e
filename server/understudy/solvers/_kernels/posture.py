"""The performer's angles on the character: carried over, imitated, applied within the limits."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import (
    difference,
    product,
    put_row,
    put_unit,
    row_quotient,
    turn,
)
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import AXIS, CENTRE, EXACT, FREEDOM, LIMITED, STRENGTH
from understudy.solvers._kernels.limits import project


@part("void(f8[:, ::1], i8, f8[:, ::1], f8[:, ::1])")
def on_hinge(joints_f, j, source, q):
    """q[j] <- the rotation about the hinge's axis that is nearest to source[j]."""
    rx, ry, rz, rw = row_quotient(joints_f, j, CENTRE, source, j, 0)
    ax = joints_f[j, AXIS]
    ay = joints_f[j, AXIS + 1]
    az = joints_f[j, AXIS + 2]
    s = rx * ax + ry * ay + rz * az
    length = np.sqrt(s * s + rw * rw)
    if length < 1e-9:
        s = 0.0
        rw = 1.0
        length = 1.0
    s /= length
    rw /= length
    c = CENTRE
    x, y, z, w = product(
        joints_f[j, c], joints_f[j, c + 1], joints_f[j, c + 2], joints_f[j, c + 3],
        s * ax, s * ay, s * az, rw,
    )  # fmt: skip
    put_row(q, j, 0, x, y, z, w)


@part("b1(i8[:, ::1], f8[:, ::1], i8)")
def is_set_elsewhere(joints_i, goals, j):
    """Whether joint j cannot turn, or is turned by an orientation goal that counts."""
    e = joints_i[j, EXACT]
    return joints_i[j, FREEDOM] == 2 or (e >= 0 and goals[e, STRENGTH] > 0.0)


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])", inline=True)
def carry_over(joints_i, joints_f, goals, last, now, q):
    """q[j] <- q[j] last[j]^-1 now[j]: the performer's own increment, joint by joint."""
    for j in range(q.shape[0]):
        if is_set_elsewhere(joints_i, goals, j):
            continue
        if joints_i[j, FREEDOM] == 1:
            x, y, z = difference(last, j, now, j)
            along = x * joints_f[j, AXIS] + y * joints_f[j, AXIS + 1] + z * joints_f[j, AXIS + 2]
            turn(
                q,
                j,
                along * joints_f[j, AXIS],
                along * joints_f[j, AXIS + 1],
                along * joints_f[j, AXIS + 2],
            )
            continue
        x, y, z, w = row_quotient(last, j, 0, now, j, 0)
        x, y, z, w = product(q[j, 0], q[j, 1], q[j, 2], q[j, 3], x, y, z, w)
        put_unit(q, j, x, y, z, w)


@part(
    "void(i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8,"
    " f8[:, ::1])",
    inline=True,
)
def imitate(joints_i, goals, bound, free, q, now, extra, gain, d):
    """d[1:] <- gain * log(q^-1 now) + extra: the way to the performer's angles, as far as free."""
    for j in range(q.shape[0]):
        if is_set_elsewhere(joints_i, goals, j):
            for k in range(3):
                d[1 + j, k] = 0.0
            continue
        x, y, z = difference(q, j, now, j)
        x = gain * x + extra[1 + j, 0]
        y = gain * y + extra[1 + j, 1]
        z = gain * z + extra[1 + j, 2]
        if bound[j] != 0:
            for k in range(3):
                d[1 + j, k] = free[j, 3 * k] * x + free[j, 3 * k + 1] * y + free[j, 3 * k + 2] * z
        else:
            d[1 + j, 0] = x
            d[1 + j, 1] = y
            d[1 + j, 2] = z


@part("void(f8[::1], f8[::1], f8[:, ::1], f8, f8, b1, f8[:, ::1])", inline=True)
def imitate_root(now, root, extra, gain, most, eliminated, d):
    """d[0] <- the root's way to its place, at `most` m of it; none where the base is eliminated."""
    x = now[0] - root[0]
    y = now[1] - root[1]
    z = now[2] - root[2]
    size = np.sqrt(x * x + y * y + z * z)
    if eliminated:
        d[0, 0] = d[0, 1] = d[0, 2] = 0.0
        return
    if gain * size > most:
        gain = most / size
    d[0, 0] = gain * x + extra[0, 0]
    d[0, 1] = gain * y + extra[0, 1]
    d[0, 2] = gain * z + extra[0, 2]


@part(
    "i8(i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8[::1],"
    " f8[:, ::1])",
    inline=True,
)
def apply(joints_i, joints_f, goals, bound, free, d, max_step, root, q):
    """Move the body by d, shortened as a whole if a joint would turn too far; then the limits.

    Says how many joints a limit has newly held back; they are marked in `bound`.
    """
    largest = 0.0
    for j in range(1, d.shape[0]):
        size = d[j, 0] * d[j, 0] + d[j, 1] * d[j, 1] + d[j, 2] * d[j, 2]
        largest = max(largest, size)
    scale = 1.0
    if largest > max_step * max_step:
        scale = max_step / np.sqrt(largest)
    for r in range(3):
        root[r] += scale * d[0, r]
    clipped = 0
    for j in range(q.shape[0]):
        if is_set_elsewhere(joints_i, goals, j):
            continue
        turn(q, j, scale * d[1 + j, 0], scale * d[1 + j, 1], scale * d[1 + j, 2])
        if joints_i[j, LIMITED] == 1 and project(joints_f, j, q, free) > 0:
            if bound[j] == 0:
                bound[j] = 2
            clipped += 1
    return clipped
