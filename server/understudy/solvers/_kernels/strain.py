"""Goals out of reach: how they strain the limbs, and what keeps steps towards them short enough."""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part
from understudy.solvers._kernels.layout import (
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    MOBILITY,
    SOFTNESS,
    STRENGTH,
)

# A soft goal is damped this many times as much as the firmest at most, or its limb would take
# seconds to come back from where it could not reach.
SOFTEST = 100.0


@part("f8(f8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])")
def tension(joints_f, effectors_f, blocks, chains, world, reached, y):
    """How much forces y (3b,) on the points bend the way of the joints that carry them.

    A joint turns its points along circles. Seen from a pull outwards, a circle falls away on both
    sides like a parabola of this curvature; a pull inwards is no hindrance.
    """
    total = 0.0
    for i in range(blocks.shape[0]):
        if blocks[i, BLOCK_TURNS] == 1:
            continue
        f = blocks[i, BLOCK_EFFECTOR]
        a = y[3 * i]
        b = y[3 * i + 1]
        c = y[3 * i + 2]
        fx = effectors_f[f, 0] * a + effectors_f[f, 3] * b + effectors_f[f, 6] * c
        fy = effectors_f[f, 1] * a + effectors_f[f, 4] * b + effectors_f[f, 7] * c
        fz = effectors_f[f, 2] * a + effectors_f[f, 5] * b + effectors_f[f, 8] * c
        for t in range(chains[i, 0]):
            j = chains[i, 1 + t]
            pull = (
                fx * (reached[f, 0] - world[j, 0])
                + fy * (reached[f, 1] - world[j, 1])
                + fz * (reached[f, 2] - world[j, 2])
            )
            total += joints_f[j, MOBILITY] * max(0.0, pull)
    return total


@part("void(f8[:, ::1], f8[:, ::1], i8[:, ::1], f8, f8, f8[:, ::1])")
def damp(effectors_f, goals, blocks, damping, pull, A):
    """A's diagonal <- damped by the same for all, and by `pull` (m^2) for the firmest goal.

    The pull counts in proportion to what goals yield anyway, so that where they conflict the firm
    one still wins.
    """
    firmest = np.inf
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        if goals[f, STRENGTH] > 0.0:
            firmest = min(firmest, effectors_f[f, SOFTNESS] / goals[f, STRENGTH] ** 2)
    firmest = max(firmest, 1e-12)
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        more = damping
        if pull > 0.0 and goals[f, STRENGTH] > 0.0:
            softer = effectors_f[f, SOFTNESS] / (goals[f, STRENGTH] ** 2 * firmest)
            more += pull * min(max(1.0, softer), SOFTEST)
        for r in range(3):
            A[3 * i + r, 3 * i + r] += more
