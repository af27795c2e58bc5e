"""Compiled kinematics: scalar loops over arrays, explicit signatures, nothing allocated.

Quaternions are x, y, z, w rows; world rotations are (n, 3, 3) matrices `world_from_joint`.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import kernel, part

LARGEST = 1.7e308


@part("b1(f8)")
def is_finite(x):
    """Whether x is neither NaN nor infinite. Never `np.isfinite` in a kernel.

    That one is x - x == 0 underneath, and the reordering our kernels allow makes zero of it.
    """
    return abs(x) <= LARGEST


@part("void(f8[:, ::1], i8, f8, f8, f8)", inline=True)
def turn(q, j, x, y, z):
    """q[j] <- q[j] exp(w) for the body increment w = (x, y, z) rad, kept at unit length."""
    a2 = 0.25 * (x * x + y * y + z * z)
    if a2 < 1e-3:  # the series is exact to 1e-16 here and needs no trigonometry
        c = 1.0 - a2 * (0.5 - a2 * (1.0 / 24.0 - a2 * (1.0 / 720.0 - a2 / 40320.0)))
        s = 0.5 * (1.0 - a2 * (1.0 / 6.0 - a2 * (1.0 / 120.0 - a2 / 5040.0)))
    else:
        a = np.sqrt(a2)
        c = np.cos(a)
        s = 0.5 * np.sin(a) / a
    x *= s
    y *= s
    z *= s
    qx = q[j, 0]
    qy = q[j, 1]
    qz = q[j, 2]
    qw = q[j, 3]
    nx = qw * x + qx * c + qy * z - qz * y
    ny = qw * y - qx * z + qy * c + qz * x
    nz = qw * z + qx * y - qy * x + qz * c
    nw = qw * c - qx * x - qy * y - qz * z
    k = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    q[j, 0] = nx * k
    q[j, 1] = ny * k
    q[j, 2] = nz * k
    q[j, 3] = nw * k


@part("UniTuple(f8, 3)(f8[:, ::1], i8, f8[:, ::1], i8)", inline=True)
def difference(a, i, b, j):
    """log(a[i]^-1 b[j]): the body increment (rad, at most pi long) that takes a[i] to b[j]."""
    ax = -a[i, 0]
    ay = -a[i, 1]
    az = -a[i, 2]
    aw = a[i, 3]
    bx = b[j, 0]
    by = b[j, 1]
    bz = b[j, 2]
    bw = b[j, 3]
    x = aw * bx + ax * bw + ay * bz - az * by
    y = aw * by - ax * bz + ay * bw + az * bx
    z = aw * bz + ax * by - ay * bx + az * bw
    w = aw * bw - ax * bx - ay * by - az * bz
    if w < 0.0:
        x = -x
        y = -y
        z = -z
        w = -w
    n2 = x * x + y * y + z * z
    if n2 < 1e-5:  # asin series; the next term is below 1e-17
        f = 2.0 * (1.0 + n2 * (1.0 / 6.0 + n2 * (3.0 / 40.0 + n2 * (15.0 / 336.0))))
    else:
        n = np.sqrt(n2)
        f = 2.0 * np.arctan2(n, w) / n
    return f * x, f * y, f * z


@kernel("void(i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def forward(parents, offsets, root, q, positions, rotations):
    """World positions (n, 3) and rotations (n, 3, 3) of every joint; the root stands at `root`."""
    for j in range(parents.shape[0]):
        x = q[j, 0]
        y = q[j, 1]
        z = q[j, 2]
        w = q[j, 3]
        r00 = 1.0 - 2.0 * (y * y + z * z)
        r01 = 2.0 * (x * y - w * z)
        r02 = 2.0 * (x * z + w * y)
        r10 = 2.0 * (x * y + w * z)
        r11 = 1.0 - 2.0 * (x * x + z * z)
        r12 = 2.0 * (y * z - w * x)
        r20 = 2.0 * (x * z - w * y)
        r21 = 2.0 * (y * z + w * x)
        r22 = 1.0 - 2.0 * (x * x + y * y)
        p = parents[j]
        if p < 0:
            rotations[j, 0, 0] = r00
            rotations[j, 0, 1] = r01
            rotations[j, 0, 2] = r02
            rotations[j, 1, 0] = r10
            rotations[j, 1, 1] = r11
            rotations[j, 1, 2] = r12
            rotations[j, 2, 0] = r20
            rotations[j, 2, 1] = r21
            rotations[j, 2, 2] = r22
            for r in range(3):
                positions[j, r] = root[r]
        else:
            ox = offsets[j, 0]
            oy = offsets[j, 1]
            oz = offsets[j, 2]
            for r in range(3):
                a = rotations[p, r, 0]
                b = rotations[p, r, 1]
                c = rotations[p, r, 2]
                positions[j, r] = positions[p, r] + a * ox + b * oy + c * oz
                rotations[j, r, 0] = a * r00 + b * r10 + c * r20
                rotations[j, r, 1] = a * r01 + b * r11 + c * r21
                rotations[j, r, 2] = a * r02 + b * r12 + c * r22


@part("void(i1[::1], f8[:, ::1], i8[::1], i8, f8[:, ::1])")
def restrict(kinds, axes, parents, j, J):
    """Keep of joint j's three columns what its kind can do: all, the hinge's axis, or nothing."""
    if parents[j] < 0 or kinds[j] == 0:
        return
    for r in range(J.shape[0]):
        along = 0.0
        if kinds[j] == 1:
            for k in range(3):
                along += J[r, 3 + 3 * j + k] * axes[j, k]
        for k in range(3):
            J[r, 3 + 3 * j + k] = along * axes[j, k]


@kernel("void(i8[::1], i1[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1], i8, f8[::1], f8[:, ::1])")
def point_jacobian(parents, kinds, axes, positions, rotations, joint, point, J):
    """J (3, 3 + 3n) <- d(point)/d(root translation, body increments); `point` is fixed to `joint`.

    A ball joint fills its three columns; a hinge puts d/d(angle) along its axis, so that the
    increment angle * axis moves the point as the hinge does; a fixed joint leaves zeros. The root
    is always free.
    """
    J[:] = 0.0
    for r in range(3):
        J[r, r] = 1.0
    j = joint
    while j >= 0:
        dx = point[0] - positions[j, 0]
        dy = point[1] - positions[j, 1]
        dz = point[2] - positions[j, 2]
        for k in range(3):
            ax = rotations[j, 0, k]
            ay = rotations[j, 1, k]
            az = rotations[j, 2, k]
            J[0, 3 + 3 * j + k] = ay * dz - az * dy
            J[1, 3 + 3 * j + k] = az * dx - ax * dz
            J[2, 3 + 3 * j + k] = ax * dy - ay * dx
        restrict(kinds, axes, parents, j, J)
        j = parents[j]


@kernel("void(i8[::1], i1[::1], f8[:, ::1], f8[:, :, ::1], i8, f8[:, ::1])")
def orientation_jacobian(parents, kinds, axes, rotations, joint, J):
    """J (3, 3 + 3n) <- d(world rotation vector of `joint`)/d(root translation, body increments)."""
    J[:] = 0.0
    j = joint
    while j >= 0:
        for r in range(3):
            for k in range(3):
                J[r, 3 + 3 * j + k] = rotations[j, r, k]
        restrict(kinds, axes, parents, j, J)
        j = parents[j]
