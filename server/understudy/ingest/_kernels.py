"""Compiled checks, change of axes and interpolation of source poses."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import kernel
from understudy.kinematics.tables import matrix, single_vector, table_at, vector

# Places in the table of `take_in`.
NUMBERS, LAST_ROOT, ROOT, ROTATIONS = range(4)


@kernel("f8(i8, f8, f8)")
def take_in(address, tolerance, farthest):
    """Copy a frame's NUMBERS (root, then rotations) and bring every rotation to unit length.

    The answer is how far (m, along an axis) the root is from LAST_ROOT, which becomes this one;
    or -1 - j if the length of rotation j is farther than `tolerance` from 1; or -1 - n if the root
    is not within `farthest` of the origin.
    """
    rows = table_at(address)
    numbers = single_vector(rows, NUMBERS)
    last_root = vector(rows, LAST_ROOT)
    root = vector(rows, ROOT)
    q = matrix(rows, ROTATIONS)
    n = q.shape[0]
    for r in range(3):
        if not np.abs(numbers[r]) <= farthest:  # NaN is refused too
            return -1.0 - n
    for j in range(n):
        k = 3 + 4 * j
        x = np.float64(numbers[k])
        y = np.float64(numbers[k + 1])
        z = np.float64(numbers[k + 2])
        w = np.float64(numbers[k + 3])
        length = np.sqrt(x * x + y * y + z * z + w * w)
        if not np.abs(length - 1.0) <= tolerance:
            return -1.0 - j
        q[j, 0] = x / length
        q[j, 1] = y / length
        q[j, 2] = z / length
        q[j, 3] = w / length
    moved = 0.0
    for r in range(3):
        root[r] = numbers[r]
        moved = max(moved, np.abs(root[r] - last_root[r]))
        last_root[r] = root[r]
    return moved


@kernel("void(f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8, f8[::1], f8[:, ::1])")
def blend(root_a, q_a, root_b, q_b, fraction, root, q):
    """The pose `fraction` of the way from a to b: a line for the root, arcs for the joints."""
    for r in range(3):
        root[r] = root_a[r] + fraction * (root_b[r] - root_a[r])
    for j in range(q_a.shape[0]):
        x, y, z = difference(q_a, j, q_b, j)
        for c in range(4):
            q[j, c] = q_a[j, c]
        turn(q, j, fraction * x, fraction * y, fraction * z)


@kernel("i8(f4[:, ::1], i8[::1], f8, f8, f8[:, ::1], f8[:, ::1], b1[::1])")
def poses_from_vmc(wire, bones, farthest, tolerance, positions, rotations, good):
    """Rows x y z qx qy qz qw in Unity's axes to positions and unit rotations in ours.

    Row k is that of bone `bones[k]`. One that is not finite, farther than `farthest` or whose
    quaternion's length is more than `tolerance` from one leaves its bone as it was, `good[k]`
    being False. Returns how many there are. Unity is left-handed and faces +Z as we do: its x is
    mirrored.
    """
    bad = 0
    for k in range(wire.shape[0]):
        x, y, z = np.float64(wire[k, 0]), np.float64(wire[k, 1]), np.float64(wire[k, 2])
        qx, qy = np.float64(wire[k, 3]), np.float64(wire[k, 4])
        qz, qw = np.float64(wire[k, 5]), np.float64(wire[k, 6])
        length = np.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
        good[k] = (
            np.abs(x) <= farthest
            and np.abs(y) <= farthest
            and np.abs(z) <= farthest
            and np.abs(length - 1.0) <= tolerance
        )  # comparisons with NaN are false
        if not good[k]:
            bad += 1
            continue
        i = bones[k]
        positions[i, 0] = -x
        positions[i, 1] = y
        positions[i, 2] = z
        s = 1.0 / length
        rotations[i, 0] = s * qx
        rotations[i, 1] = -s * qy
        rotations[i, 2] = -s * qz
        rotations[i, 3] = s * qw
    return bad
