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


@part("void(f8[:, ::1], f8[:, ::1])", inline=True)
def copy_matrix(source, out):
    """out <- source, element by element: a slice assignment takes six times as long in a kernel."""
    for i in range(source.size):
        out.flat[i] = source.flat[i]


@part("f8(f8[:, ::1])", inline=True)
def sum_of_sizes(a):
    """The sum of |a|: not finite where any element is not."""
    total = 0.0
    for i in range(a.size):
        total += abs(a.flat[i])
    return total


@part("UniTuple(f8, 4)(f8, f8, f8, f8, f8, f8, f8, f8)", inline=True)
def product(ax, ay, az, aw, bx, by, bz, bw):
    """The quaternion a b, parts x, y, z, w."""
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@part("UniTuple(f8, 4)(f8[:, ::1], i8, i8, f8[:, ::1], i8, i8)", inline=True)
def row_product(a, i, at, b, j, bt):
    """The quaternion a[i, at:at+4] b[j, bt:bt+4]."""
    return product(
        a[i, at], a[i, at + 1], a[i, at + 2], a[i, at + 3],
        b[j, bt], b[j, bt + 1], b[j, bt + 2], b[j, bt + 3],
    )  # fmt: skip


@part("UniTuple(f8, 4)(f8[:, ::1], i8, i8, f8[:, ::1], i8, i8)", inline=True)
def row_quotient(a, i, at, b, j, bt):
    """The quaternion a[i, at:at+4]^-1 b[j, bt:bt+4]: what comes after a to make b."""
    return product(
        -a[i, at], -a[i, at + 1], -a[i, at + 2], a[i, at + 3],
        b[j, bt], b[j, bt + 1], b[j, bt + 2], b[j, bt + 3],
    )  # fmt: skip


@part("void(f8[:, ::1], i8, i8, f8, f8, f8, f8)", inline=True)
def put_row(out, j, at, x, y, z, w):
    """out[j, at:at+4] <- x, y, z, w."""
    out[j, at] = x
    out[j, at + 1] = y
    out[j, at + 2] = z
    out[j, at + 3] = w


@part("UniTuple(f8, 3)(f8, f8, f8, f8, f8, f8, f8)", inline=True)
def rotated(x, y, z, w, vx, vy, vz):
    """The vector v turned by a unit quaternion."""
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    return (
        vx + w * tx + y * tz - z * ty,
        vy + w * ty + z * tx - x * tz,
        vz + w * tz + x * ty - y * tx,
    )


@part("UniTuple(f8, 9)(f8, f8, f8, f8)", inline=True)
def matrix_of(x, y, z, w):
    """The rotation matrix of a unit quaternion, row by row."""
    return (
        1.0 - 2.0 * (y * y + z * z),
        2.0 * (x * y - w * z),
        2.0 * (x * z + w * y),
        2.0 * (x * y + w * z),
        1.0 - 2.0 * (x * x + z * z),
        2.0 * (y * z - w * x),
        2.0 * (x * z - w * y),
        2.0 * (y * z + w * x),
        1.0 - 2.0 * (x * x + y * y),
    )


@part("void(f8[:, ::1], i8, f8, f8, f8, f8)", inline=True)
def put_unit(q, j, x, y, z, w):
    """q[j] <- the quaternion (x, y, z, w) at unit length."""
    size = x * x + y * y + z * z + w * w
    off = size - 1.0
    if -1e-6 < off < 1e-6:  # as after every product of two unit ones: a root would be wasted
        k = 1.0 - off * (0.5 - 0.375 * off)
    else:
        k = 1.0 / np.sqrt(size)
    put_row(q, j, 0, x * k, y * k, z * k, w * k)


@part("void(f8[:, ::1], i8, f8, f8, f8)", inline=True)
def turn(q, j, x, y, z):
    """q[j] <- q[j] exp(w) for the body increment w = (x, y, z) rad, kept at unit length."""
    t = 0.25 * (x * x + y * y + z * z)
    if t < 1e-2:  # the series are exact to 1e-16 here and need no trigonometry
        c = 1.0 - t * (1 / 2 - t * (1 / 24 - t * (1 / 720 - t * (1 / 40320 - t / 3628800))))
        s = 0.5 - t * (1 / 12 - t * (1 / 240 - t * (1 / 10080 - t / 725760)))
    else:
        a = np.sqrt(t)
        c = np.cos(a)
        s = 0.5 * np.sin(a) / a
    x, y, z, w = product(q[j, 0], q[j, 1], q[j, 2], q[j, 3], s * x, s * y, s * z, c)
    put_unit(q, j, x, y, z, w)


@part("UniTuple(f8, 3)(f8, f8, f8, f8)", inline=True)
def log_of(x, y, z, w):
    """The rotation vector (rad, at most pi long) of a quaternion of any length."""
    if w < 0.0:
        x = -x
        y = -y
        z = -z
        w = -w
    n2 = x * x + y * y + z * z
    if n2 < 0.04 * w * w:  # up to 22 degrees: atan(u) / u as a series, the next term below 1e-17
        k = 1.0 / w
        t = n2 * k * k
        series = 1 / 15 - t * (1 / 17 - t * (1 / 19 - t / 21))
        series = 1 / 7 - t * (1 / 9 - t * (1 / 11 - t * (1 / 13 - t * series)))
        f = 2.0 * k * (1.0 - t * (1 / 3 - t * (1 / 5 - t * series)))
    else:
        n = np.sqrt(n2)
        f = 2.0 * np.arctan2(n, w) / n
    return f * x, f * y, f * z


@part("UniTuple(f8, 3)(f8[:, ::1], i8, f8[:, ::1], i8)", inline=True)
def difference(a, i, b, j):
    """log(a[i]^-1 b[j]): the body increment (rad, at most pi long) that takes a[i] to b[j]."""
    x, y, z, w = row_quotient(a, i, 0, b, j, 0)
    return log_of(x, y, z, w)


@kernel("void(i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1])")
def forward(parents, offsets, root, q, positions, rotations):
    """World positions (n, 3) and rotations (n, 3, 3) of every joint; the root stands at `root`."""
    for j in range(parents.shape[0]):
        r00, r01, r02, r10, r11, r12, r20, r21, r22 = matrix_of(q[j, 0], q[j, 1], q[j, 2], q[j, 3])
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
