"""The performer's angles on the character: carried over, imitated, applied within the limits."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import kernel
from understudy.solvers._kernels.layout import EXACT, FREEDOM, LIMITED
from understudy.solvers._kernels.limits import project


@kernel("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def carry_over(joints_i, last, now, q):
    """q[j] <- q[j] last[j]^-1 now[j]: the performer's own increment, joint by joint."""
    for j in range(q.shape[0]):
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] != 0:
            continue
        ax = -last[j, 0]
        ay = -last[j, 1]
        az = -last[j, 2]
        aw = last[j, 3]
        bx = now[j, 0]
        by = now[j, 1]
        bz = now[j, 2]
        bw = now[j, 3]
        x = aw * bx + ax * bw + ay * bz - az * by
        y = aw * by - ax * bz + ay * bw + az * bx
        z = aw * bz + ax * by - ay * bx + az * bw
        w = aw * bw - ax * bx - ay * by - az * bz
        qx = q[j, 0]
        qy = q[j, 1]
        qz = q[j, 2]
        qw = q[j, 3]
        nx = qw * x + qx * w + qy * z - qz * y
        ny = qw * y - qx * z + qy * w + qz * x
        nz = qw * z + qx * y - qy * x + qz * w
        nw = qw * w - qx * x - qy * y - qz * z
        k = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
        q[j, 0] = nx * k
        q[j, 1] = ny * k
        q[j, 2] = nz * k
        q[j, 3] = nw * k


@kernel("void(i8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])")
def imitate(joints_i, bound, free, q, now, extra, gain, d):
    """d[1:] <- gain * log(q^-1 now) + extra: the way to the performer's angles, as far as free."""
    for j in range(q.shape[0]):
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] == 2:
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


@kernel("i8(i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8[::1], f8[:, ::1])")
def apply(joints_i, joints_f, bound, free, d, max_step, root, q):
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
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] == 2:
            continue
        turn(q, j, scale * d[1 + j, 0], scale * d[1 + j, 1], scale * d[1 + j, 2])
        if joints_i[j, LIMITED] == 1 and project(joints_f, j, q, free) > 0:
            if bound[j] == 0:
                bound[j] = 2
            clipped += 1
    return clipped
