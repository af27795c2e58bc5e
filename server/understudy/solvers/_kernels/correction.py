"""The iterated correction of a predicted pose to its goals.

For a prediction x0 whose joints have mobilities P and goals that yield by N, the pose is

    argmin |x - x0|^2 in the metric of P^-1  +  |goals - h(x)|^2 in the metric of N^-1,

the most probable pose if P and N are taken for covariances. Each pass solves the linearised problem
from wherever the last one has led (the iterated Kalman filter; Gauss and Newton's method). A pass
that makes matters worse is taken back and made shorter (Levenberg and Marquardt), as happens where
a limb is stretched and its goal out of reach.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.easing import blend
from understudy.solvers._kernels.frame_layout import (
    BEFORE,
    BEST,
    EASE_S,
    FRESH,
    LEVENBERG,
    POSE,
    PRIOR,
    ROOT_MOBILITY,
    WORST,
)
from understudy.solvers._kernels.layout import (
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    MOBILITY,
    PLANTED,
    SOFTNESS,
    STRENGTH,
)
from understudy.solvers._kernels.opening import opened
from understudy.solvers._kernels.pace import keep_pace
from understudy.solvers._kernels.posture import imitate, is_set_elsewhere
from understudy.solvers._kernels.rows import back_substitute, cholesky
from understudy.solvers._kernels.stages import (
    add_step,
    linearise,
    measure,
    move,
    subtract_step,
    weigh,
)

# What even a hard goal yields, m^2: the normal equations stay definite where rows conflict.
HARDEST = 1e-10
# Passes beyond those asked for go on while each takes away this much of the cost.
WORTHWHILE = 0.3
MORE_PASSES = 8
# Farther from a goal than this it was not met, m.
MISSED_M = 0.003
# How far a limb that comes back from beyond its reach leans towards the prediction, to begin with.
LEAN = 0.03


@part("void(f8[:, ::1], f8[:, ::1], i8[:, ::1], f8, f8[::1], f8[::1])")
def slacks(effectors_f, goals, blocks, noise, slack, more):
    """slack (3b,) <- N, what each row yields, m^2; more (3b,) <- by how much that passes its own.

    The normal equations hold a goal's own softness already. `noise` (m^2) is for goals in the air:
    what is planted does not yield by it, or it would slide.
    """
    for i in range(blocks.shape[0]):
        f = blocks[i, BLOCK_EFFECTOR]
        s = goals[f, STRENGTH]
        own = effectors_f[f, SOFTNESS] / (s * s) if s > 0.0 else 0.0
        free = 1.0 - goals[f, PLANTED]
        for r in range(3):
            slack[3 * i + r] = max(own + free * free * noise, HARDEST)
            more[3 * i + r] = slack[3 * i + r] - own


@part("f8(f8[:, ::1], f8, f8[:, ::1], f8[::1], f8[::1])")
def cost_of(joints_f, root_mobility, d, e, slack):
    """What is minimised, for the way back d (1 + n, 3) to the prediction and the errors e (3b,)."""
    cost = 0.0
    for i in range(e.shape[0]):
        cost += e[i] * e[i] / slack[i]
    for j in range(joints_f.shape[0]):
        if joints_f[j, MOBILITY] > 0.0:
            size = d[1 + j, 0] ** 2 + d[1 + j, 1] ** 2 + d[1 + j, 2] ** 2
            cost += size / joints_f[j, MOBILITY]
    if root_mobility > 0.0:
        cost += (d[0, 0] ** 2 + d[0, 1] ** 2 + d[0, 2] ** 2) / root_mobility
    return cost


@part("void(i8[:, ::1], i8[:, ::1], f8, f8[:, :, :, ::1])")
def take_chords(blocks, chains, chord, J):
    """Rows of positions become the slopes of chords: tangents times `chord`.

    A sigma point turns one joint by an angle s about one axis, and what hangs below goes along a
    circle: the chord between the points at +s and -s has exactly the tangent's direction, and
    sin(s) / s of its length. A turn itself is linear in s.
    """
    for i in range(blocks.shape[0]):
        if blocks[i, BLOCK_TURNS] == 0:
            for c in range(chains[i, 0]):
                j = chains[i, 1 + c]
                for k in range(3):
                    for r in range(3):
                        J[i, j, k, r] *= chord


@part("void(i8[:, ::1], f8[:, ::1], f8[:, :, ::1], f8[::1])")
def lean(joints_i, goals, poses, report):
    """Let a limb whose goal comes back into reach lean towards PRIOR: BEFORE is renewed.

    One that was stretched straight could bend either way, and by the smallest chance the wrong one.
    """
    if MISSED_M < report[WORST] < 0.99 * report[BEFORE]:
        for j in range(joints_i.shape[0]):
            if not is_set_elsewhere(joints_i, goals, j):
                blend(poses[POSE], j, poses[PRIOR], j, LEAN, poses[POSE], j, 0)
    report[BEFORE] = report[WORST]


@part("i8(i8[:, ::1], f8[:, ::1], f8, f8, i8)")
def correct(arrays, goals, noise, chord, passes):
    """Lead POSE from where it is to the optimum about PRIOR; says how many joints limits hold.

    `noise` (m^2) is what every goal yields besides its own softness; `chord` is 1 for tangents.
    """
    w = opened(arrays)
    m = 3 * w.blocks.shape[0]
    q = w.poses[POSE]
    root = w.roots[POSE]
    d = w.d
    e = w.rows[0]
    y = w.rows[1]
    slack = w.rows[2]
    more = w.rows[3]
    A = w.A[0]
    L = w.A[1]
    root_mobility = w.params[ROOT_MOBILITY]
    if root_mobility == 0.0:
        for r in range(3):
            root[r] = w.roots[PRIOR, r]
    slacks(w.effectors_f, goals, w.blocks, noise, slack, more)
    lean(w.joints_i, goals, w.poses, w.report)
    best = np.inf
    clipped = 0
    worst = 0
    done = 0
    astray = False
    returned = False
    shorter = w.report[LEVENBERG]
    last = passes + MORE_PASSES
    for attempt in range(last + 1):
        taken_back = False
        while True:
            turned_back = measure(arrays, goals)
            imitate(w.joints_i, goals, w.bound, w.free, q, w.poses[PRIOR], w.extra, 1.0, d)
            for r in range(3):
                d[0, r] = w.roots[PRIOR, r] - root[r]
            if taken_back:
                break
            cost = cost_of(w.joints_f, root_mobility, d, e, slack)
            if cost <= best or clipped > 0 or attempt == 0:
                returned = astray
                astray = False
                break
            if not astray and attempt < last:
                # The way is curved: a step along it is judged once the goals are met again.
                astray = True
                break
            # Too far: back to where it was better, and from there less far.
            copy_matrix(w.poses[BEST], q)
            for r in range(3):
                root[r] = w.roots[BEST, r]
            taken_back = True
        worst = max(worst, clipped + turned_back)
        if attempt == last:
            break
        if taken_back:
            astray = False
            largest = 0.0
            for i in range(m):
                largest = max(largest, A[i, i] / slack[i])
            shorter = max(10.0 * shorter, 0.1, 1e-3 * largest)
        else:
            enough = passes + 1 if clipped > 0 or returned else passes
            if astray:
                d[:] = 0.0
            else:
                if done >= enough and cost > (1.0 - WORTHWHILE) * best:
                    break
                if done > 0:
                    shorter = 0.1 * shorter if shorter > 0.1 else 0.0
                best = cost
                done += 1
                copy_matrix(q, w.poses[BEST])
                for r in range(3):
                    w.roots[BEST, r] = root[r]
            linearise(arrays, 0, goals)
            if chord != 1.0:
                take_chords(w.blocks, w.chains[0], chord, w.J[0])
            weigh(arrays, 0, goals, root_mobility, A)
        for i in range(m):
            for h in range(i):
                L[i, h] = A[i, h]
            L[i, i] = A[i, i] + more[i] + shorter * slack[i]
        if cholesky(L, m) == 0:
            break
        if shorter > 0.0:
            for j in range(d.shape[0]):
                for r in range(3):
                    d[j, r] /= 1.0 + shorter
        for i in range(m):
            y[i] = e[i]
        subtract_step(arrays, 0, root_mobility, y)
        back_substitute(L, y, m)
        add_step(arrays, 0, goals, root_mobility, y)
        clipped = move(arrays, goals)
    w.report[LEVENBERG] = min(shorter, 1e8)
    # Where goals contradict each other the way to the optimum is no motion: it is not held back.
    missing = 0.0
    for i in range(m):
        missing = max(missing, abs(e[i]))
    followed_s = w.ease[0, w.ease.shape[1] - 1]
    if missing < MISSED_M and w.report[FRESH] == 0.0 and followed_s >= w.params[EASE_S]:
        late = keep_pace(
            w.joints_i, w.joints_f, w.effectors_i, goals, w.params, w.steps, w.poses, w.free
        )
        if late > 0:
            measure(arrays, goals)
    return worst
