"""The mathematics every solver shares, compiled: kinematics, limits, Jacobian, normal equations.

For a pose x, body increments d and per-joint mobilities P (the inverse of the weights), every
solver minimises |d - d0|^2 in the metric of P^-1 subject to rows J d = e that yield by N:

    d = d0 + P J^T (J P J^T + N)^-1 (e - J d0)

Without N this is the pseudo-inverse with d0 projected into the null space of J. Rows come in
blocks of three (a point's position or a body's orientation); arrays are described in `layout`.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import kernel
from understudy.solvers._kernels.layout import (
    ARM,
    BASIS,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    CENTRE,
    EXACT,
    GOAL,
    HIGH,
    JOINT,
    LIMITED,
    LOW,
    MOBILITY,
    OFFSET,
    PARENT,
    PLAIN,
    POINT,
    POSITION,
    ROTATION,
    SELECT,
    SOFTNESS,
    STRENGTH,
    TURN,
)


@kernel("void(f8[:, ::1], i8, f8, f8, f8)")
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


@kernel("i8(f8[:, ::1], i8, f8[:, ::1], f8[:, ::1])")
def project(joints_f, j, q, free):
    """Bring joint j back into its swing and twist range; says how many directions were clipped.

    With r = centre^-1 q = swing * twist about the bone, the swing's sine parts s1, s2 and the
    twist's tangent are bounded. Each clipped direction, as a unit vector of the body tangent, is
    taken out of `free[j]`, the 3x3 projector on the directions that are left.
    """
    cx = -joints_f[j, CENTRE]
    cy = -joints_f[j, CENTRE + 1]
    cz = -joints_f[j, CENTRE + 2]
    cw = joints_f[j, CENTRE + 3]
    x = q[j, 0]
    y = q[j, 1]
    z = q[j, 2]
    w = q[j, 3]
    rx = cw * x + cx * w + cy * z - cz * y
    ry = cw * y - cx * z + cy * w + cz * x
    rz = cw * z + cx * y - cy * x + cz * w
    rw = cw * w - cx * x - cy * y - cz * z
    if rw < 0.0:
        rx = -rx
        ry = -ry
        rz = -rz
        rw = -rw
    b = BASIS
    v1 = joints_f[j, b] * rx + joints_f[j, b + 1] * ry + joints_f[j, b + 2] * rz
    v2 = joints_f[j, b + 3] * rx + joints_f[j, b + 4] * ry + joints_f[j, b + 5] * rz
    v3 = joints_f[j, b + 6] * rx + joints_f[j, b + 7] * ry + joints_f[j, b + 8] * rz
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
    rx = joints_f[j, b] * v1 + joints_f[j, b + 3] * v2 + joints_f[j, b + 6] * v3
    ry = joints_f[j, b + 1] * v1 + joints_f[j, b + 4] * v2 + joints_f[j, b + 7] * v3
    rz = joints_f[j, b + 2] * v1 + joints_f[j, b + 5] * v2 + joints_f[j, b + 8] * v3
    cx = -cx
    cy = -cy
    cz = -cz
    q[j, 0] = cw * rx + cx * rw + cy * rz - cz * ry
    q[j, 1] = cw * ry - cx * rz + cy * rw + cz * rx
    q[j, 2] = cw * rz + cx * ry - cy * rx + cz * rw
    q[j, 3] = cw * rw - cx * rx - cy * ry - cz * rz
    return count


@kernel("i8(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8, i8, i8)")
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
    gx = goals[e, TURN]
    gy = goals[e, TURN + 1]
    gz = goals[e, TURN + 2]
    gw = goals[e, TURN + 3]
    x = pw * gx - px * gw - py * gz + pz * gy
    y = pw * gy + px * gz - py * gw - pz * gx
    z = pw * gz - px * gy + py * gx - pz * gw
    w = pw * gw + px * gx + py * gy + pz * gz
    k = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
    q[j, 0] = x * k
    q[j, 1] = y * k
    q[j, 2] = z * k
    q[j, 3] = w * k
    if joints_i[j, LIMITED] == 1:
        return project(joints_f, j, q, free)
    return 0


@kernel("i8(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
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


@kernel("UniTuple(f8, 3)(f8, f8, f8, f8, f8[:, ::1], i8)")
def turn_error(gx, gy, gz, gw, world, j):
    """log(R_goal R_joint^T): the world rotation vector (rad) that takes joint j to the goal g."""
    g00 = 1.0 - 2.0 * (gy * gy + gz * gz)
    g01 = 2.0 * (gx * gy - gw * gz)
    g02 = 2.0 * (gx * gz + gw * gy)
    g10 = 2.0 * (gx * gy + gw * gz)
    g11 = 1.0 - 2.0 * (gx * gx + gz * gz)
    g12 = 2.0 * (gy * gz - gw * gx)
    g20 = 2.0 * (gx * gz - gw * gy)
    g21 = 2.0 * (gy * gz + gw * gx)
    g22 = 1.0 - 2.0 * (gx * gx + gy * gy)
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
    if w < 0.0:
        x = -x
        y = -y
        z = -z
        w = -w
    sine = np.sqrt(x * x + y * y + z * z)
    scale = 2.0 / w if sine < 1e-9 * w else 2.0 * np.arctan2(sine, w) / sine
    return scale * x, scale * y, scale * z


@kernel("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])")
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


@kernel(
    "void(i8[:, ::1], i8[::1], i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[:, ::1], f8[:, :, :, ::1])"
)
def jacobian(joints_i, bound, effectors_i, effectors_f, blocks, chains, world, reached, free, J):
    """J (b, n, 3, 3): block, joint, tangent direction, row. Only the joints of a chain are written.

    A chain's sign is -1 for joints between the root and the base: what they turn is the rest of
    the body, the other way round. Joints marked in `bound` (n,) move only along `free` (n, 9).
    """
    depth = (chains.shape[1] - 1) // 2
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        turns = blocks[i, BLOCK_TURNS]
        if turns == 0:
            x = reached[f, 0]
            y = reached[f, 1]
            z = reached[f, 2]
            if joints_i[effectors_i[f, JOINT], EXACT] == f:
                # The joint keeps its orientation by itself: what the others move is its origin.
                b = effectors_i[f, JOINT]
                x = world[b, 0]
                y = world[b, 1]
                z = world[b, 2]
        for c in range(chains[i, 0]):
            j = chains[i, 1 + c]
            s = float(chains[i, 1 + depth + c])
            if turns == 0:
                dx = s * (x - world[j, 0])
                dy = s * (y - world[j, 1])
                dz = s * (z - world[j, 2])
                for k in range(3):
                    ax = world[j, 3 + k]
                    ay = world[j, 6 + k]
                    az = world[j, 9 + k]
                    J[i, j, k, 0] = ay * dz - az * dy
                    J[i, j, k, 1] = az * dx - ax * dz
                    J[i, j, k, 2] = ax * dy - ay * dx
                if effectors_i[f, PLAIN] == 0:
                    for k in range(3):
                        a0 = J[i, j, k, 0]
                        a1 = J[i, j, k, 1]
                        a2 = J[i, j, k, 2]
                        for r in range(3):
                            J[i, j, k, r] = (
                                effectors_f[f, SELECT + 3 * r] * a0
                                + effectors_f[f, SELECT + 3 * r + 1] * a1
                                + effectors_f[f, SELECT + 3 * r + 2] * a2
                            )
            else:
                s *= effectors_f[f, ARM]
                for k in range(3):
                    for r in range(3):
                        J[i, j, k, r] = s * world[j, 3 + 3 * r + k]
            if bound[j] != 0:
                for r in range(3):
                    a0 = J[i, j, 0, r]
                    a1 = J[i, j, 1, r]
                    a2 = J[i, j, 2, r]
                    for k in range(3):
                        J[i, j, k, r] = (
                            free[j, 3 * k] * a0 + free[j, 3 * k + 1] * a1 + free[j, 3 * k + 2] * a2
                        )


@kernel(
    "void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[:, ::1],"
    " f8, f8[:, :, :, ::1], f8[:, ::1])"
)
def gram(joints_f, effectors_i, effectors_f, goals, blocks, chains, member, root_mobility, J, A):
    """A (3b, 3b), lower triangle <- J P J^T + N.

    `member` (b, n) is 1 where a joint moves a block; rows that do not count get a one on the
    diagonal, so that they solve to nothing.
    """
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        for h in range(i + 1):
            g = blocks[h, BLOCK_EFFECTOR]
            s00 = s01 = s02 = s10 = s11 = s12 = s20 = s21 = s22 = 0.0
            if goals[f, STRENGTH] > 0.0 and goals[g, STRENGTH] > 0.0:
                for c in range(chains[i, 0]):
                    j = chains[i, 1 + c]
                    if member[h, j] == 0:
                        continue
                    m = joints_f[j, MOBILITY]
                    for k in range(3):
                        x0 = m * J[i, j, k, 0]
                        x1 = m * J[i, j, k, 1]
                        x2 = m * J[i, j, k, 2]
                        y0 = J[h, j, k, 0]
                        y1 = J[h, j, k, 1]
                        y2 = J[h, j, k, 2]
                        s00 += x0 * y0
                        s01 += x0 * y1
                        s02 += x0 * y2
                        s10 += x1 * y0
                        s11 += x1 * y1
                        s12 += x1 * y2
                        s20 += x2 * y0
                        s21 += x2 * y1
                        s22 += x2 * y2
            a = 3 * i
            b = 3 * h
            A[a, b] = s00
            A[a, b + 1] = s01
            A[a, b + 2] = s02
            A[a + 1, b] = s10
            A[a + 1, b + 1] = s11
            A[a + 1, b + 2] = s12
            A[a + 2, b] = s20
            A[a + 2, b + 1] = s21
            A[a + 2, b + 2] = s22
            if (
                root_mobility > 0.0
                and blocks[i, BLOCK_TURNS] == 0
                and blocks[h, BLOCK_TURNS] == 0
                and goals[f, STRENGTH] > 0.0
                and goals[g, STRENGTH] > 0.0
            ):
                if effectors_i[f, PLAIN] == 1 and effectors_i[g, PLAIN] == 1:
                    for r in range(3):
                        A[a + r, b + r] += root_mobility
                else:
                    for r in range(3):
                        for t in range(3):
                            dot = 0.0
                            for k in range(3):
                                dot += (
                                    effectors_f[f, SELECT + 3 * r + k]
                                    * effectors_f[g, SELECT + 3 * t + k]
                                )
                            A[a + r, b + t] += root_mobility * dot
        s = goals[f, STRENGTH]
        for r in range(3):
            d = 3 * i + r
            if A[d, d] <= 0.0:
                A[d, d] = 1.0
            else:
                # A strength below one yields more: full at 1, free as it goes to 0.
                A[d, d] += effectors_f[f, SOFTNESS] / (s * s)


@kernel("i8(f8[:, ::1], i8)")
def cholesky(A, m):
    """A's lower triangle <- its Cholesky factor, diagonal inverted; 0 if it is not definite."""
    for i in range(m):
        for k in range(i):
            s = A[i, k]
            for t in range(k):
                s -= A[i, t] * A[k, t]
            A[i, k] = s * A[k, k]
        s = A[i, i]
        for t in range(i):
            s -= A[i, t] * A[i, t]
        if not s > 0.0:
            return 0
        A[i, i] = 1.0 / np.sqrt(s)
    return 1


@kernel("void(f8[:, ::1], f8[::1], i8)")
def back_substitute(A, b, m):
    """b <- (L L^T)^-1 b for a factor left by `cholesky`."""
    for i in range(m):
        s = b[i]
        for t in range(i):
            s -= A[i, t] * b[t]
        b[i] = s * A[i, i]
    for i in range(m - 1, -1, -1):
        s = b[i]
        for t in range(i + 1, m):
            s -= A[t, i] * b[t]
        b[i] = s * A[i, i]


@kernel(
    "void(i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8,"
    " f8[:, :, :, ::1], f8[:, ::1], f8[::1])"
)
def subtract_rows(effectors_i, effectors_f, blocks, chains, root_moves, J, d, e):
    """e <- e - J d for an increment d (1 + n, 3): root translation, then body increments."""
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        e0 = 0.0
        e1 = 0.0
        e2 = 0.0
        for c in range(chains[i, 0]):
            j = chains[i, 1 + c]
            for k in range(3):
                w = d[1 + j, k]
                e0 += J[i, j, k, 0] * w
                e1 += J[i, j, k, 1] * w
                e2 += J[i, j, k, 2] * w
        if root_moves > 0.0 and blocks[i, BLOCK_TURNS] == 0:
            if effectors_i[f, PLAIN] == 1:
                e0 += d[0, 0]
                e1 += d[0, 1]
                e2 += d[0, 2]
            else:
                x = d[0, 0]
                y = d[0, 1]
                z = d[0, 2]
                e0 += effectors_f[f, 0] * x + effectors_f[f, 1] * y + effectors_f[f, 2] * z
                e1 += effectors_f[f, 3] * x + effectors_f[f, 4] * y + effectors_f[f, 5] * z
                e2 += effectors_f[f, 6] * x + effectors_f[f, 7] * y + effectors_f[f, 8] * z
        e[3 * i] -= e0
        e[3 * i + 1] -= e1
        e[3 * i + 2] -= e2


@kernel(
    "void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8,"
    " f8[:, :, :, ::1], f8[::1], f8[:, ::1])"
)
def add_transposed(
    joints_f, effectors_i, effectors_f, goals, blocks, chains, root_mobility, J, y, d
):
    """d <- d + P J^T y."""
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        if goals[f, STRENGTH] <= 0.0:
            continue
        y0 = y[3 * i]
        y1 = y[3 * i + 1]
        y2 = y[3 * i + 2]
        for c in range(chains[i, 0]):
            j = chains[i, 1 + c]
            m = joints_f[j, MOBILITY]
            for k in range(3):
                d[1 + j, k] += m * (J[i, j, k, 0] * y0 + J[i, j, k, 1] * y1 + J[i, j, k, 2] * y2)
        if root_mobility > 0.0 and blocks[i, BLOCK_TURNS] == 0:
            if effectors_i[f, PLAIN] == 1:
                d[0, 0] += root_mobility * y0
                d[0, 1] += root_mobility * y1
                d[0, 2] += root_mobility * y2
            else:
                for k in range(3):
                    d[0, k] += root_mobility * (
                        effectors_f[f, k] * y0
                        + effectors_f[f, 3 + k] * y1
                        + effectors_f[f, 6 + k] * y2
                    )
