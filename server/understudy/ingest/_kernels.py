"""Compiled checks and interpolation of source poses."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import kernel


@kernel("i8(f8[:, ::1], f8)")
def normalise(q, tolerance):
    """Bring every row to unit length; the first row farther than `tolerance` from it, or -1."""
    for j in range(q.shape[0]):
        length = np.sqrt(
            q[j, 0] * q[j, 0] + q[j, 1] * q[j, 1] + q[j, 2] * q[j, 2] + q[j, 3] * q[j, 3]
        )
        if not np.abs(length - 1.0) <= tolerance:  # NaN is refused too
            return j
        k = 1.0 / length
        for c in range(4):
            q[j, c] *= k
    return -1


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
