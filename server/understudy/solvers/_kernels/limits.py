"""Joint limits, compiled: bring a joint back into its range and tell what was held back."""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import BASIS, HIGH, LOW, RANGE


@part("void(f8[:, ::1], i8, f8, f8, f8)", inline=True)
def take_out(free, j, x, y, z):
    """free[j] <- free[j] without the direction (x, y, z) of the body tangent."""
    # The projector is symmetric; what is left of the direction in it is normalised first.
    a = free[j, 0] * x + free[j, 1] * y + free[j, 2] * z
    b = free[j, 3] * x + free[j, 4] * y + free[j, 5] * z
    c = free[j, 6] * x + free[j, 7] * y + free[j, 8] * z
    length = a * a + b * b + c * c
    if length < 1e-8:
        return
    k = 1.0 / length
    free[j, 0] -= a * a * k
    free[j, 1] -= a * b * k
    free[j, 2] -= a * c * k
    free[j, 3] -= b * a * k
    free[j, 4] -= b * b * k
    free[j, 5] -= b * c * k
    free[j, 6] -= c * a * k
    free[j, 7] -= c * b * k
    free[j, 8] -= c * c * k


@part("i8(f8[:, ::1], i8, f8[:, ::1], f8[:, ::1])", inline=True)
def project(joints_f, j, q, free):
    """Bring joint j back into its swing and twist range; says how many directions were clipped.

    With r = centre^-1 q = swing * twist about the bone, the swing's sine parts s1, s2 and the
    twist's tangent are bounded. Each clipped direction, as a unit vector of the body tangent, is
    taken out of `free[j]`, the 3x3 projector on the directions that are left.
    """
    x = q[j, 0]
    y = q[j, 1]
    z = q[j, 2]
    w = q[j, 3]
    m = RANGE
    f = joints_f
    v1 = f[j, m] * x + f[j, m + 1] * y + f[j, m + 2] * z + f[j, m + 3] * w
    v2 = f[j, m + 4] * x + f[j, m + 5] * y + f[j, m + 6] * z + f[j, m + 7] * w
    v3 = f[j, m + 8] * x + f[j, m + 9] * y + f[j, m + 10] * z + f[j, m + 11] * w
    rw = f[j, m + 12] * x + f[j, m + 13] * y + f[j, m + 14] * z + f[j, m + 15] * w
    if rw < 0.0:
        v1 = -v1
        v2 = -v2
        v3 = -v3
        rw = -rw
    n = np.sqrt(rw * rw + v3 * v3)
    # Tested without division or trigonometry: nearly every call ends here.
    p1 = v1 * rw - v2 * v3
    p2 = v2 * rw + v1 * v3
    if (
        joints_f[j, LOW] * n <= p1 <= joints_f[j, HIGH] * n
        and joints_f[j, LOW + 1] * n <= p2 <= joints_f[j, HIGH + 1] * n
        and joints_f[j, LOW + 2] * rw <= v3 <= joints_f[j, HIGH + 2] * rw
    ):
        return 0
    if n < 1e-12:  # turned by pi across the bone: no twist can be told, take none
        c = 1.0
        t = 0.0
        s1 = v1
        s2 = v2
    else:
        c = rw / n
        t = v3 / n
        s1 = p1 / n
        s2 = p2 / n
    b = BASIS
    count = 0
    tangent = t / max(c, 1e-9)
    held = min(max(tangent, joints_f[j, LOW + 2]), joints_f[j, HIGH + 2])
    if held != tangent:
        c = 1.0 / np.sqrt(1.0 + held * held)
        t = held * c
        take_out(free, j, joints_f[j, b + 6], joints_f[j, b + 7], joints_f[j, b + 8])
        count += 1
    u1 = min(max(s1, joints_f[j, LOW]), joints_f[j, HIGH])
    u2 = min(max(s2, joints_f[j, LOW + 1]), joints_f[j, HIGH + 1])
    # A swing axis seen from the body is turned back by the twist (half-angle parts c, t).
    cos = c * c - t * t
    sin = 2.0 * c * t
    if u1 != s1:
        take_out(
            free,
            j,
            cos * joints_f[j, b] - sin * joints_f[j, b + 3],
            cos * joints_f[j, b + 1] - sin * joints_f[j, b + 4],
            cos * joints_f[j, b + 2] - sin * joints_f[j, b + 5],
        )
        count += 1
    if u2 != s2:
        take_out(
            free,
            j,
            sin * joints_f[j, b] + cos * joints_f[j, b + 3],
            sin * joints_f[j, b + 1] + cos * joints_f[j, b + 4],
            sin * joints_f[j, b + 2] + cos * joints_f[j, b + 5],
        )
        count += 1
    length = u1 * u1 + u2 * u2
    if length > 1.0:
        k = 1.0 / np.sqrt(length)
        u1 *= k
        u2 *= k
        length = 1.0
    sw = np.sqrt(1.0 - length)
    v1 = c * u1 + t * u2
    v2 = c * u2 - t * u1
    v3 = sw * t
    rw = sw * c
    for r in range(4):
        q[j, r] = f[j, m + r] * v1 + f[j, m + 4 + r] * v2 + f[j, m + 8 + r] * v3
        q[j, r] += f[j, m + 12 + r] * rw
    return count
