"""Where a body is and how far its effectors are from their goals, compiled."""

from __future__ import annotations

from understudy.kinematics._kernels import log_of, matrix_of, product, put_unit
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import (
    ARM,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    EXACT,
    GOAL,
    JOINT,
    LIMITED,
    OFFSET,
    PARENT,
    PLAIN,
    POINT,
    POSITION,
    ROTATION,
    SELECT,
    STRENGTH,
    TURN,
)
from understudy.solvers._kernels.limits import project


@part("UniTuple(f8, 3)(f8, f8, f8, f8, f8[:, ::1], i8)", inline=True)
def turn_error(gx, gy, gz, gw, world, j):
    """log(R_goal R_joint^T): the world rotation vector (rad) that takes joint j to the goal g."""
    g00, g01, g02, g10, g11, g12, g20, g21, g22 = matrix_of(gx, gy, gz, gw)
    # M = R_goal R_joint^T
    m00 = g00 * world[j, 3] + g01 * world[j, 4] + g02 * world[j, 5]
    m01 = g00 * world[j, 6] + g01 * world[j, 7] + g02 * world[j, 8]
    m02 = g00 * world[j, 9] + g01 * world[j, 10] + g02 * world[j, 11]
    m10 = g10 * world[j, 3] + g11 * world[j, 4] + g12 * world[j, 5]
    m11 = g10 * world[j, 6] + g11 * world[j, 7] + g12 * world[j, 8]
    m12 = g10 * world[j, 9] + g11 * world[j, 10] + g12 * world[j, 11]
    m20 = g20 * world[j, 3] + g21 * world[j, 4] + g22 * world[j, 5]
    m21 = g20 * world[j, 6] + g21 * world[j, 7] + g22 * world[j, 8]
    m22 = g20 * world[j, 9] + g21 * world[j, 10] + g22 * world[j, 11]
    trace = m00 + m11 + m22
    if trace > 0.0:
        x = m21 - m12
        y = m02 - m20
        z = m10 - m01
        w = 1.0 + trace
    elif m00 >= m11 and m00 >= m22:
        x = 1.0 + m00 - m11 - m22
        y = m01 + m10
        z = m02 + m20
        w = m21 - m12
    elif m11 >= m22:
        x = m01 + m10
        y = 1.0 - m00 + m11 - m22
        z = m12 + m21
        w = m02 - m20
    else:
        x = m02 + m20
        y = m12 + m21
        z = 1.0 - m00 - m11 + m22
        w = m10 - m01
    return log_of(x, y, z, w)


@part(
    "i8(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8, i8, i8)",
    inline=True,
)
def meet_orientation(joints_i, joints_f, goals, q, world, free, j, p, e):
    """q[j] <- the local rotation that turns joint j to effector e's orientation in the world."""
    # The parent's world rotation as a quaternion (Shepperd's choice of the largest part).
    m00 = world[p, 3]
    m11 = world[p, 7]
    m22 = world[p, 11]
    trace = m00 + m11 + m22
    if trace > 0.0:
        px = world[p, 10] - world[p, 8]
        py = world[p, 5] - world[p, 9]
        pz = world[p, 6] - world[p, 4]
        pw = 1.0 + trace
    elif m00 >= m11 and m00 >= m22:
        px = 1.0 + m00 - m11 - m22
        py = world[p, 4] + world[p, 6]
        pz = world[p, 5] + world[p, 9]
        pw = world[p, 10] - world[p, 8]
    elif m11 >= m22:
        px = world[p, 4] + world[p, 6]
        py = 1.0 - m00 + m11 - m22
        pz = world[p, 8] + world[p, 10]
        pw = world[p, 5] - world[p, 9]
    else:
        px = world[p, 5] + world[p, 9]
        py = world[p, 8] + world[p, 10]
        pz = 1.0 - m00 - m11 + m22
        pw = world[p, 6] - world[p, 4]
    x, y, z, w = product(
        -px, -py, -pz, pw,
        goals[e, TURN], goals[e, TURN + 1], goals[e, TURN + 2], goals[e, TURN + 3],
    )  # fmt: skip
    put_unit(q, j, x, y, z, w)
    if joints_i[j, LIMITED] == 1:
        return project(joints_f, j, q, free)
    return 0


@part(
    "i8(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])",
    inline=True,
)
def forward(joints_i, joints_f, goals, root, q, world, free):
    """World positions and rotations; joints that meet an orientation goal exactly are set here.

    Says how many of those were held back by their limits.
    """
    clipped = 0
    for j in range(joints_i.shape[0]):
        p = joints_i[j, PARENT]
        e = joints_i[j, EXACT]
        if e >= 0 and goals[e, STRENGTH] > 0.0:
            clipped += meet_orientation(joints_i, joints_f, goals, q, world, free, j, p, e)
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = matrix_of(q[j, 0], q[j, 1], q[j, 2], q[j, 3])
        if p < 0:
            world[j, 0] = root[0]
            world[j, 1] = root[1]
            world[j, 2] = root[2]
            world[j, 3] = r00
            world[j, 4] = r01
            world[j, 5] = r02
            world[j, 6] = r10
            world[j, 7] = r11
            world[j, 8] = r12
            world[j, 9] = r20
            world[j, 10] = r21
            world[j, 11] = r22
        else:
            ox = joints_f[j, OFFSET]
            oy = joints_f[j, OFFSET + 1]
            oz = joints_f[j, OFFSET + 2]
            for r in range(3):
                a = world[p, 3 + 3 * r]
                b = world[p, 4 + 3 * r]
                c = world[p, 5 + 3 * r]
                world[j, r] = world[p, r] + a * ox + b * oy + c * oz
                world[j, 3 + 3 * r] = a * r00 + b * r10 + c * r20
                world[j, 4 + 3 * r] = a * r01 + b * r11 + c * r21
                world[j, 5 + 3 * r] = a * r02 + b * r12 + c * r22
    return clipped


@part(
    "void(i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])",
    inline=True,
)
def errors(effectors_i, effectors_f, goals, blocks, world, reached, e):
    """e (3b,) <- goal minus reached in the axes that count, m; orientation in m by the arm.

    `reached` (k, 3) <- the effectors' points in the world, m.
    """
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        j = effectors_i[f, JOINT]
        s = goals[f, STRENGTH]
        if blocks[i, BLOCK_TURNS] == 0:
            x = goals[f, POINT]
            y = goals[f, POINT + 1]
            z = goals[f, POINT + 2]
            for r in range(3):
                c = (
                    world[j, POSITION + r]
                    + world[j, ROTATION + 3 * r] * x
                    + world[j, ROTATION + 3 * r + 1] * y
                    + world[j, ROTATION + 3 * r + 2] * z
                )
                reached[f, r] = c
                e[3 * i + r] = goals[f, GOAL + r] - c
            if effectors_i[f, PLAIN] == 0:
                dx = e[3 * i]
                dy = e[3 * i + 1]
                dz = e[3 * i + 2]
                for r in range(3):
                    e[3 * i + r] = (
                        effectors_f[f, SELECT + 3 * r] * dx
                        + effectors_f[f, SELECT + 3 * r + 1] * dy
                        + effectors_f[f, SELECT + 3 * r + 2] * dz
                    )
        else:
            x, y, z = turn_error(
                goals[f, TURN], goals[f, TURN + 1], goals[f, TURN + 2], goals[f, TURN + 3], world, j
            )
            e[3 * i] = effectors_f[f, ARM] * x
            e[3 * i + 1] = effectors_f[f, ARM] * y
            e[3 * i + 2] = effectors_f[f, ARM] * z
        if s <= 0.0:
            for r in range(3):
                e[3 * i + r] = 0.0
