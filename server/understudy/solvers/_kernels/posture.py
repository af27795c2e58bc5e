"""The performer's angles on the character: carried over, imitated, applied within the limits."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import AXIS, CENTRE, EXACT, FREEDOM, LIMITED, STRENGTH
from understudy.solvers._kernels.limits import project


@part("void(f8[:, ::1], i8, f8[:, ::1], f8[:, ::1])")
def on_hinge(joints_f, j, source, q):
    """q[j] <- the rotation about the hinge's axis that is nearest to source[j]."""
    cx = -joints_f[j, CENTRE]
    cy = -joints_f[j, CENTRE + 1]
    cz = -joints_f[j, CENTRE + 2]
    cw = joints_f[j, CENTRE + 3]
    x = source[j, 0]
    y = source[j, 1]
    z = source[j, 2]
    w = source[j, 3]
    rx = cw * x + cx * w + cy * z - cz * y
    ry = cw * y - cx * z + cy * w + cz * x
    rz = cw * z + cx * y - cy * x + cz * w
    rw = cw * w - cx * x - cy * y - cz * z
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
    cx = -cx
    cy = -cy
    cz = -cz
    q[j, 0] = cw * s * ax + cx * rw + cy * s * az - cz * s * ay
    q[j, 1] = cw * s * ay - cx * s * az + cy * rw + cz * s * ax
    q[j, 2] = cw * s * az + cx * s * ay - cy * s * ax + cz * rw
    q[j, 3] = cw * rw - s * (cx * ax + cy * ay + cz * az)


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
