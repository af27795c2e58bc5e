"""The rows every solver shares, compiled: Jacobian and normal equations.

For a pose x, body increments d and per-joint mobilities P (the inverse of the weights), every
solver minimises |d - d0|^2 in the metric of P^-1 subject to rows J d = e that yield by N:

    d = d0 + P J^T (J P J^T + N)^-1 (e - J d0)

Without N this is the pseudo-inverse with d0 projected into the null space of J. Rows come in
blocks of three (a point's position or a body's orientation); arrays are described in `layout`.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import (
    ARM,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    EXACT,
    JOINT,
    MOBILITY,
    PLAIN,
    SELECT,
    SOFTNESS,
    STRENGTH,
)


@part("b1(i8[:, ::1], f8[:, ::1], i8)", inline=True)
def keeps_its_turn(joints_i, goals, j):
    """Whether joint j meets an orientation goal by itself, whatever the joints above it do."""
    e = joints_i[j, EXACT]
    return e >= 0 and goals[e, STRENGTH] > 0.0


@part(
    "void(i8[:, ::1], i8[::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1],"
    " f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, :, ::1])",
    inline=True,
)
def jacobian(
    joints_i, bound, effectors_i, effectors_f, goals, blocks, chains, world, reached, free, J
):
    """J (b, n, 3, 3): block, joint, tangent direction, row. Only the joints of a chain are written.

    A chain's sign is -1 for joints between the root and the base: what they turn is the rest of
    the body, the other way round. Joints marked in `bound` (n,) move only along `free` (n, 9).
    """
    depth = (chains.shape[1] - 1) // 2
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        turns = blocks[i, BLOCK_TURNS]
        # What the joints move: the point; above a joint that keeps its turn, that one's origin.
        x = reached[f, 0]
        y = reached[f, 1]
        z = reached[f, 2]
        arm = effectors_f[f, ARM]
        b = effectors_i[f, JOINT]
        if joints_i[b, EXACT] == f:
            x = world[b, 0]
            y = world[b, 1]
            z = world[b, 2]
        for c in range(chains[i, 0] - 1, -1, -1):
            j = chains[i, 1 + c]
            s = float(chains[i, 1 + depth + c])
            if keeps_its_turn(joints_i, goals, j):
                x = world[j, 0]
                y = world[j, 1]
                z = world[j, 2]
                arm = 0.0
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
                for k in range(3):
                    for r in range(3):
                        J[i, j, k, r] = s * arm * world[j, 3 + 3 * r + k]
            if bound[j] != 0:
                for r in range(3):
                    a0 = J[i, j, 0, r]
                    a1 = J[i, j, 1, r]
                    a2 = J[i, j, 2, r]
                    for k in range(3):
                        J[i, j, k, r] = (
                            free[j, 3 * k] * a0 + free[j, 3 * k + 1] * a1 + free[j, 3 * k + 2] * a2
                        )


@part(
    "void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[:, ::1],"
    " f8, f8[:, :, :, ::1], f8[:, ::1])",
    inline=True,
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


@part("i8(f8[:, ::1], i8)", inline=True)
def cholesky(A, m):
    """A's lower triangle <- its Cholesky factor, diagonal inverted; 0 if it is not definite.

    m is a multiple of three. Three columns at a time: the sums of a dozen rows are so short that
    a loop for each would cost more than its products.
    """
    for i in range(0, m, 3):
        s = A[i, i]
        if not s > 0.0:
            return 0
        p0 = 1.0 / np.sqrt(s)
        l10 = A[i + 1, i] * p0
        l20 = A[i + 2, i] * p0
        s = A[i + 1, i + 1] - l10 * l10
        if not s > 0.0:
            return 0
        p1 = 1.0 / np.sqrt(s)
        l21 = (A[i + 2, i + 1] - l20 * l10) * p1
        s = A[i + 2, i + 2] - l20 * l20 - l21 * l21
        if not s > 0.0:
            return 0
        p2 = 1.0 / np.sqrt(s)
        A[i, i] = p0
        A[i + 1, i] = l10
        A[i + 1, i + 1] = p1
        A[i + 2, i] = l20
        A[i + 2, i + 1] = l21
        A[i + 2, i + 2] = p2
        for r in range(i + 3, m):
            x0 = A[r, i] * p0
            x1 = (A[r, i + 1] - x0 * l10) * p1
            x2 = (A[r, i + 2] - x0 * l20 - x1 * l21) * p2
            A[r, i] = x0
            A[r, i + 1] = x1
            A[r, i + 2] = x2
            for c in range(i + 3, r + 1):
                A[r, c] -= x0 * A[c, i] + x1 * A[c, i + 1] + x2 * A[c, i + 2]
    return 1


@part("void(f8[:, ::1], f8[::1], i8)", inline=True)
def back_substitute(A, b, m):
    """b <- (L L^T)^-1 b for a factor left by `cholesky`."""
    for i in range(0, m, 3):
        x0 = b[i] * A[i, i]
        x1 = (b[i + 1] - A[i + 1, i] * x0) * A[i + 1, i + 1]
        x2 = (b[i + 2] - A[i + 2, i] * x0 - A[i + 2, i + 1] * x1) * A[i + 2, i + 2]
        b[i] = x0
        b[i + 1] = x1
        b[i + 2] = x2
        for r in range(i + 3, m):
            b[r] -= A[r, i] * x0 + A[r, i + 1] * x1 + A[r, i + 2] * x2
    for i in range(m - 3, -1, -3):
        x2 = b[i + 2] * A[i + 2, i + 2]
        x1 = (b[i + 1] - A[i + 2, i + 1] * x2) * A[i + 1, i + 1]
        x0 = (b[i] - A[i + 1, i] * x1 - A[i + 2, i] * x2) * A[i, i]
        b[i] = x0
        b[i + 1] = x1
        b[i + 2] = x2
        for c in range(i):
            b[c] -= A[i, c] * x0 + A[i + 1, c] * x1 + A[i + 2, c] * x2


@part(
    "void(i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8,"
    " f8[:, :, :, ::1], f8[:, ::1], f8[::1])",
    inline=True,
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


@part(
    "void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8,"
    " f8[:, :, :, ::1], f8[::1], f8[:, ::1])",
    inline=True,
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
