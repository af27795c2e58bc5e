"""Copying in one compiled call, with the distance of every effector from its goal."""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import kernel
from understudy.solvers._kernels.body import forward
from understudy.solvers._kernels.layout import (
    AXIS,
    CENTRE,
    FREEDOM,
    GOAL,
    JOINT,
    POINT,
    STRENGTH,
)


@kernel("void(f8[:, ::1], i8, f8[:, ::1], f8[:, ::1])")
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


@kernel(
    "i8(i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[::1],"
    " f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])"
)
def copy_pose(
    joints_i,
    joints_f,
    effectors_i,
    head,
    source,
    goals,
    root,
    q,
    good_root,
    good_q,
    world,
    free,
    residuals,
):
    """root, q <- the targets' posture; the last good one, and 0, if that is not finite."""
    total = head[0] + head[1] + head[2]
    for j in range(source.shape[0]):
        for r in range(4):
            total += source[j, r]
    if not np.isfinite(total):
        for r in range(3):
            root[r] = good_root[r]
        q[:] = good_q
        return 0
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
        residuals[f] = np.sqrt(size) if goals[f, STRENGTH] > 0.0 else 0.0
    return 1
