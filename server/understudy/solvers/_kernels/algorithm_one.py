"""The unscented update as published (Tak and Ko, Algorithm 1), in closed form.

Covariance is diagonal, so a sigma point changes one coordinate: joint j turns by +s or -s about one
of its axes a, with s^2 = (n + kappa) P_j, and a point at r from the joint goes along a circle:

    y(+s) - y(-s) = 2 sin(s) a x r        y(+s) + y(-s) - 2 y = -2 (1 - cos s) (r - a (a . r))

The root's place and orientation rows are linear in their coordinates.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import (
    AXIS,
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
from understudy.solvers._kernels.rows import keeps_its_turn


@part(
    "void(i8[:, ::1], f8[:, ::1], i8[::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1],"
    " i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, :, ::1])"
)
def radii(
    joints_i, joints_f, bound, effectors_i, effectors_f, goals, blocks, chains, world, reached, C
):
    """C (b, n, 3, 3): block, joint, axis, row <- the radius from the axis to the block's point.

    A hinge has one axis; its radius stands in the place of the first.
    """
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        # As for the Jacobian: a joint that keeps its turn is moved by its origin only.
        b = effectors_i[f, JOINT]
        exact = joints_i[b, EXACT] == f
        px = world[b, 0] if exact else reached[f, 0]
        py = world[b, 1] if exact else reached[f, 1]
        pz = world[b, 2] if exact else reached[f, 2]
        for c in range(chains[i, 0] - 1, -1, -1):
            j = chains[i, 1 + c]
            if keeps_its_turn(joints_i, goals, j):
                px = world[j, 0]
                py = world[j, 1]
                pz = world[j, 2]
            for k in range(3):
                for r in range(3):
                    C[i, j, k, r] = 0.0
            if blocks[i, BLOCK_TURNS] == 1 or bound[j] == 2:
                continue
            x = px - world[j, 0]
            y = py - world[j, 1]
            z = pz - world[j, 2]
            for k in range(1 if bound[j] == 1 else 3):
                if bound[j] == 1:
                    ax = ay = az = 0.0
                    for t in range(3):
                        ax += world[j, 3 + t] * joints_f[j, AXIS + t]
                        ay += world[j, 6 + t] * joints_f[j, AXIS + t]
                        az += world[j, 9 + t] * joints_f[j, AXIS + t]
                else:
                    ax = world[j, 3 + k]
                    ay = world[j, 6 + k]
                    az = world[j, 9 + k]
                along = ax * x + ay * y + az * z
                cx = x - along * ax
                cy = y - along * ay
                cz = z - along * az
                if effectors_i[f, PLAIN] == 1:
                    C[i, j, k, 0] = cx
                    C[i, j, k, 1] = cy
                    C[i, j, k, 2] = cz
                else:
                    for r in range(3):
                        C[i, j, k, r] = (
                            effectors_f[f, SELECT + 3 * r] * cx
                            + effectors_f[f, SELECT + 3 * r + 1] * cy
                            + effectors_f[f, SELECT + 3 * r + 2] * cz
                        )


@part(
    "void(f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], i8[:, ::1], f8, f8, f8,"
    " f8[:, :, :, ::1], f8[:, :, :, ::1], f8[:, ::1], f8[::1])"
)
def measurement(
    joints_f,
    effectors_f,
    goals,
    blocks,
    chains,
    member,
    spread,
    variance,
    root_variance,
    J,
    C,
    A,
    bias,
):
    """A (3b, 3b), lower triangle <- Pyy + N; bias (3b,) <- y^ - h(x).

    `spread` is n + kappa and `variance` (rad^2) that of a joint of mobility one; softness counts in
    the same measure.
    """
    for i in range(blocks.shape[0]):
        for r in range(3):
            bias[3 * i + r] = 0.0
        if blocks[i, BLOCK_TURNS] == 1 or goals[blocks[i, BLOCK_EFFECTOR], STRENGTH] <= 0.0:
            continue
        for c in range(chains[i, 0]):
            j = chains[i, 1 + c]
            s = np.sqrt(spread * variance * joints_f[j, MOBILITY])
            w = (np.cos(s) - 1.0) / spread
            for k in range(3):
                for r in range(3):
                    bias[3 * i + r] += w * C[i, j, k, r]
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        for h in range(i + 1):
            g = blocks[h, BLOCK_EFFECTOR]
            both = goals[f, STRENGTH] > 0.0 and goals[g, STRENGTH] > 0.0
            for r in range(3):
                for t in range(3):
                    A[3 * i + r, 3 * h + t] = -bias[3 * i + r] * bias[3 * h + t] if both else 0.0
            if not both:
                continue
            for c in range(chains[i, 0]):
                j = chains[i, 1 + c]
                if member[h, j] == 0:
                    continue
                s = np.sqrt(spread * variance * joints_f[j, MOBILITY])
                u = np.sin(s) ** 2 / spread
                v = (1.0 - np.cos(s)) ** 2 / spread
                if blocks[i, BLOCK_TURNS] == 1:
                    u = s * s / spread if blocks[h, BLOCK_TURNS] == 1 else s * np.sin(s) / spread
                elif blocks[h, BLOCK_TURNS] == 1:
                    u = s * np.sin(s) / spread
                for k in range(3):
                    for r in range(3):
                        for t in range(3):
                            A[3 * i + r, 3 * h + t] += (
                                u * J[i, j, k, r] * J[h, j, k, t]
                                + v * C[i, j, k, r] * C[h, j, k, t]
                            )
            if blocks[i, BLOCK_TURNS] == 0 and blocks[h, BLOCK_TURNS] == 0:
                for r in range(3):
                    for t in range(3):
                        dot = 0.0
                        for k in range(3):
                            dot += (
                                effectors_f[f, SELECT + 3 * r + k]
                                * effectors_f[g, SELECT + 3 * t + k]
                            )
                        A[3 * i + r, 3 * h + t] += root_variance * dot
        s = goals[f, STRENGTH]
        for r in range(3):
            a = 3 * i + r
            if A[a, a] == 0.0:
                A[a, a] = 1.0
            else:
                A[a, a] += variance * effectors_f[f, SOFTNESS] / (s * s)


@part(
    "void(f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8, f8, f8,"
    " f8[:, :, :, ::1], f8[::1], f8[:, ::1])"
)
def gain(joints_f, effectors_f, goals, blocks, chains, spread, variance, root_variance, J, y, d):
    """d (1 + n, 3) <- Pxy y."""
    d[:] = 0.0
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        if goals[f, STRENGTH] <= 0.0:
            continue
        for c in range(chains[i, 0]):
            j = chains[i, 1 + c]
            s = np.sqrt(spread * variance * joints_f[j, MOBILITY])
            w = s * (s if blocks[i, BLOCK_TURNS] == 1 else np.sin(s)) / spread
            for k in range(3):
                for r in range(3):
                    d[1 + j, k] += w * J[i, j, k, r] * y[3 * i + r]
        if blocks[i, BLOCK_TURNS] == 0:
            for k in range(3):
                for r in range(3):
                    d[0, k] += root_variance * effectors_f[f, SELECT + 3 * r + k] * y[3 * i + r]
