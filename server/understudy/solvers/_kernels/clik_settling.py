"""The filter's further corrections: of the primary task alone, until the goals are met."""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part
from understudy.kinematics.tables import vector
from understudy.solvers._kernels.base import seat
from understudy.solvers._kernels.clik_layout import CORRECTIONS
from understudy.solvers._kernels.frame_layout import EASED, FRESH, POSE, UNREACHED, WANTED
from understudy.solvers._kernels.opening import MEMORY, opened
from understudy.solvers._kernels.rows import back_substitute, cholesky
from understudy.solvers._kernels.stages import add_step, linearise, measure, move, weigh
from understudy.solvers._kernels.strain import damp, tension

# Farther from a goal than NEAR_M corrections go on while they help; farther than FAR_M the
# Jacobian of the first step has had its day and is made anew.
NEAR_M = 0.0002
FAR_M = 0.003
RESCUES = 6
# The first frame after a reset starts from the performer's posture, far from the goals.
FIRST_CORRECTIONS = 12


@part("i8(i8[:, ::1], b1)")
def measure_seated(arrays, eliminated):
    """Measure POSE, its base seated if that is eliminated; says how many exact joints are held."""
    w = opened(arrays)
    eased = w.marks[EASED]
    held = measure(arrays, eased)
    if eliminated:
        base = vector(arrays, MEMORY)
        seat(w.effectors_i, eased, w.world, base, w.roots[POSE], w.poses[POSE], w.reached)
        measure(arrays, eased)
    return held


@part("UniTuple(i8, 3)(i8[:, ::1], i8, b1, b1, f8, f8, f8, i8, i8)")
def settle(
    arrays, table, eliminated, strained, damping, root_mobility, root_reach, layer, clipped
):  # fmt: skip
    """Correct POSE until its goals are met, or no nearer; `clipped` joints are held back before.

    The factor of the normal equations is A[layer], made with `root_reach` and `damping`. Says how
    many joints limits have held back at the worst, how many exact ones in the end, and whether
    what is measured is that of the pose: 1 or 0.
    """
    w = opened(arrays)
    m = 3 * w.blocks.shape[0]
    wanted = w.marks[WANTED]
    e = w.rows[0]
    factor = w.A[layer]
    fresh = w.report[FRESH] == 1.0
    corrections = int(w.params[CORRECTIONS])
    if fresh:
        corrections = max(corrections, FIRST_CORRECTIONS)
    rescues = RESCUES if corrections > 0 else 0
    worst = clipped
    held = 0
    before = np.inf
    for c in range(corrections + rescues):
        held = measure_seated(arrays, eliminated)
        missing = 0.0
        for i in range(m):
            missing = max(missing, abs(e[i]))
        if c > 0:
            w.report[UNREACHED] = missing
        if c >= corrections and (missing < NEAR_M or missing > 0.7 * before):
            return worst, held, 1
        before = missing
        if clipped > 0 or fresh or missing > FAR_M:
            linearise(arrays, table, wanted)
            pull = 0.0
            if strained:
                pull = tension(
                    w.joints_f, w.effectors_f, w.blocks, w.chains[table], w.world, w.reached, e
                )
            root_reach = root_mobility + pull if root_mobility > 0.0 else 0.0
            weigh(arrays, table, wanted, root_reach, factor)
            damp(w.effectors_f, wanted, w.blocks, damping, pull, factor)
            if cholesky(factor, m) == 0:
                return worst, held, 0
        back_substitute(factor, e, m)
        w.d[:] = 0.0
        add_step(arrays, table, wanted, root_reach, e)
        clipped = move(arrays, wanted)
        worst = max(worst, clipped)
    return worst, held, 0
