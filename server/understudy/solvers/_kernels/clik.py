"""The discrete closed-loop inverse kinematics filter (Choi and Ko), one frame in one compiled call.

Equation numbers are those of *Online motion retargetting*. Two ways of prediction share the rest:

* `paper`: the primary task's own increment, J^+ dx (steps 1 to 3 below equation 16);
* default: the performer's joint increments, carried over. They are nearer to the answer than the
  minimal-norm increment, and cost two quaternion products a joint.

Either way the error is measured on the predicted pose and corrected together with the imitation of
the performer's angles in the null space; further corrections of the primary task alone remove the
second-order effect of that null-space motion.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix
from understudy.kinematics.compiled import kernel, part
from understudy.kinematics.tables import table_at, vector
from understudy.solvers._kernels.base import BASE_AGE, can_turn_the_body, let_go, seat, take_base
from understudy.solvers._kernels.clik_layout import (
    DAMPING,
    DEXTERITY,
    ELIMINATE,
    K2,
    MAX_GOAL_STEP,
    MAX_SUBSTEPS,
    PAPER,
    SINGULAR,
)
from understudy.solvers._kernels.clik_paper import find_leaps, go_back, predict
from understudy.solvers._kernels.clik_settling import FAR_M, measure_seated, settle
from understudy.solvers._kernels.easing import aim, blend, ease_goals, gain_over, ramp
from understudy.solvers._kernels.frame import (
    begin,
    finish,
    hold_base,
    start_goals,
    status_of,
    usable,
)
from understudy.solvers._kernels.frame_layout import (
    AIMED,
    DT,
    EASE_S,
    EASED,
    FINITE,
    FRESH,
    K1,
    LAST,
    LAST_BASE,
    LAST_GOALS,
    MAX_EFFECTOR_SPEED,
    NOW,
    POSE,
    ROOT_MOBILITY,
    SMALLEST,
    UNREACHED,
    WANTED,
)
from understudy.solvers._kernels.layout import BASE, FARTHEST, JUMP, PLANTED, STRENGTH, TURN
from understudy.solvers._kernels.opening import MEMORY, opened
from understudy.solvers._kernels.pace import keep_pace, note_steps
from understudy.solvers._kernels.posture import carry_over, imitate, imitate_root
from understudy.solvers._kernels.rows import back_substitute, cholesky
from understudy.solvers._kernels.stages import (
    add_step,
    linearise,
    measure,
    move,
    place,
    subtract_step,
    weigh,
)
from understudy.solvers._kernels.strain import damp, tension

# The row that remembers the direction in which the last frame was nearest to singular, and the one
# with the diagonal of J P J^T + N.
PROBE = 2
DIAGONAL = 4


@part("void(i8[:, ::1], i8)")
def go_part_way(arrays, left):
    """NOW and WANTED <- the performer and the goals in this substep, the first of `left`."""
    w = opened(arrays)
    aimed = w.marks[AIMED]
    wanted = w.marks[WANTED]
    if left == 1:
        copy_matrix(w.source, w.poses[NOW])
        copy_matrix(aimed, wanted)
        for r in range(3):
            w.roots[NOW, r] = w.head[r]
        return
    fraction = 1.0 / left
    last_goals = w.marks[LAST_GOALS]
    for j in range(w.source.shape[0]):
        blend(w.poses[LAST], j, w.source, j, fraction, w.poses[NOW], j, 0)
    for r in range(3):
        w.roots[NOW, r] = w.roots[LAST, r] + fraction * (w.head[r] - w.roots[LAST, r])
    for f in range(aimed.shape[0]):
        for r in range(TURN):
            wanted[f, r] = last_goals[f, r] + fraction * (aimed[f, r] - last_goals[f, r])
        blend(last_goals, f, aimed, f, fraction, wanted, f, TURN)
        wanted[f, STRENGTH] = aimed[f, STRENGTH]
        wanted[f, PLANTED] = aimed[f, PLANTED]


@part("f8(i8[:, ::1])")
def dexterity_gain(arrays):
    """The factor on the gains by the dexterity of the last step: 1 unless it is asked for."""
    w = opened(arrays)
    if w.params[DEXTERITY] <= 0.0 or w.report[SMALLEST] <= 0.0:
        return 1.0
    trace = 0.0
    for i in range(3 * w.blocks.shape[0]):
        trace += w.rows[DIAGONAL, i]
    x = min(1.0, np.sqrt(w.report[SMALLEST] / max(trace, 1e-12)) / w.params[DEXTERITY])
    return max(0.05, x * x * (3.0 - 2.0 * x))


@part("void(i8[:, ::1], f8, f8, b1)")
def go_along_and_aim(arrays, dt, gain, jump):
    """POSE <- carried along with the performer (unless as published); EASED <- goals for it."""
    w = opened(arrays)
    wanted = w.marks[WANTED]
    eased = w.marks[EASED]
    if w.params[PAPER] == 0.0:
        carry_over(w.joints_i, w.joints_f, wanted, w.poses[LAST], w.poses[NOW], w.poses[POSE])
        for r in range(3):
            w.roots[POSE, r] += w.roots[NOW, r] - w.roots[LAST, r]
        if not jump:
            for f in range(wanted.shape[0]):
                if wanted[f, STRENGTH] > 0.0 and w.ease[0, f] == 0.0:
                    # A new effector starts where the performer's increment has taken it.
                    place(arrays, eased)
                    break
    start_goals(w.effectors_i, w.world, wanted, w.ease, w.marks[LAST_GOALS], eased)
    ease_goals(w.params, w.ease, wanted, w.marks[LAST_GOALS], dt, gain, eased)


@part("void(i8[:, ::1], f8, f8)")
def stand_on_base(arrays, dt, gain):
    """Seat the body on its base, which keeps its place when it is new and lets go of it later."""
    w = opened(arrays)
    base = vector(arrays, MEMORY)
    eased = w.marks[EASED]
    if w.report[LAST_BASE] != w.head[BASE]:
        base[0] = w.head[BASE]
        if w.report[FRESH] == 1.0:
            base[1:] = 0.0
            base[7] = 1.0
        else:
            take_base(w.effectors_i, eased, w.world, w.reached, base)
        w.report[LAST_BASE] = w.head[BASE]
    else:
        # One that is planted stays where it stands, however far that is from its goal.
        loose = 1.0 - w.marks[WANTED, int(w.head[BASE]), PLANTED]
        eager = gain_over(w.params[K1] * gain * ramp(base[BASE_AGE], w.params), dt)
        let_go(base, loose * eager)
        base[BASE_AGE] += dt
    seat(w.effectors_i, eased, w.world, base, w.roots[POSE], w.poses[POSE], w.reached)
    measure(arrays, eased)


@part("void(f8[:, ::1], f8[:, ::1], f8[::1])")
def probe_factor(L, rows, report):
    """report[SMALLEST] <- how near to singular: one warm inverse iteration on the factor L."""
    m = L.shape[0]
    y = rows[1]
    probe = rows[PROBE]
    for i in range(m):
        y[i] = probe[i]
    back_substitute(L, y, m)
    size = 0.0
    for i in range(m):
        size += y[i] * y[i]
    size = np.sqrt(size)
    for i in range(m):
        probe[i] = y[i] / size
    report[SMALLEST] = 1.0 / size


@part("void(i8[:, ::1], f8, f8, b1)")
def imitate_performer(arrays, gain, dt, eliminated):
    """d <- the way of POSE to the performer's, by `gain`."""
    w = opened(arrays)
    # The root goes no farther than goals do, or it would leave them; half a limb is near.
    longest_way = w.params[MAX_EFFECTOR_SPEED] * dt
    for f in range(w.goals.shape[0]):
        longest_way = max(longest_way, 0.25 * w.effectors_f[f, FARTHEST])
    q = w.poses[POSE]
    wanted = w.marks[WANTED]
    imitate(w.joints_i, wanted, w.bound, w.free, q, w.poses[NOW], w.extra, gain, w.d)
    imitate_root(w.roots[NOW], w.roots[POSE], w.extra, gain, longest_way, eliminated, w.d)


@part("UniTuple(i8, 4)(i8[:, ::1], i8, b1, b1, f8, f8)")
def solve(arrays, table, eliminated, jump, posture_gain, dt):
    """POSE <- the measured one corrected, with the imitation in the null space of the goals.

    Says whether it could be (1 or 0), and what `settle` says.
    """
    w = opened(arrays)
    m = 3 * w.blocks.shape[0]
    paper = w.params[PAPER] != 0.0
    chain = w.chains[table]
    wanted = w.marks[WANTED]
    e = w.rows[0]
    y = w.rows[1]
    dx = w.rows[3]
    d = w.d
    L = w.A[0]
    root_mobility = 0.0 if eliminated else w.params[ROOT_MOBILITY]
    linearise(arrays, table, wanted)
    weigh(arrays, table, wanted, root_mobility, L)
    for i in range(m):
        w.rows[DIAGONAL, i] = L[i, i]
    if cholesky(L, m) == 0:
        return 0, 0, 0, 0
    probe_factor(L, w.rows, w.report)
    damping = w.params[DAMPING] * max(0.0, 1.0 - w.report[SMALLEST] / w.params[SINGULAR])
    strained = not paper and w.report[UNREACHED] > FAR_M
    pull = 0.0
    if strained:
        pull = tension(w.joints_f, w.effectors_f, w.blocks, chain, w.world, w.reached, e)
    if paper:
        # Steps 1 to 3: predict with the primary increment, measure both errors there, go back.
        predict(arrays, table, root_mobility, jump)
        measure_seated(arrays, eliminated)
        imitate_performer(arrays, posture_gain, dt, eliminated)
        go_back(arrays)
    else:
        imitate_performer(arrays, posture_gain, dt, eliminated)
    if eliminated:
        for r in range(3):
            d[1, r] = 0.0
    for i in range(m):
        y[i] = 0.0
    subtract_step(arrays, table, root_mobility, y)
    back_substitute(L, y, m)
    layer = 0
    root_reach = root_mobility
    if damping > 0.0 or pull > 0.0:
        # Only the primary task is damped; the projector stays exact.
        layer = 1
        root_reach = root_mobility + pull if root_mobility > 0.0 else 0.0
        weigh(arrays, table, wanted, root_reach, w.A[1])
        damp(w.effectors_f, wanted, w.blocks, damping, pull, w.A[1])
        if cholesky(w.A[1], m) == 0:
            return 0, 0, 0, 0
    for i in range(m):
        dx[i] = e[i]
    back_substitute(w.A[layer], dx, m)
    share = 1.0
    if not paper:
        # The goals' hold on a stretched limb bends the surface on which the imitation moves: a
        # longer step would cross the optimum, and the next one back again.
        for i in range(m):
            e[i] = y[i] + dx[i]
        strain = tension(w.joints_f, w.effectors_f, w.blocks, chain, w.world, w.reached, e)
        share = min(1.0, 2.0 / (1.0 + strain))
    if share < 1.0:
        for i in range(m):
            y[i] *= share
        for j in range(d.shape[0]):
            for r in range(3):
                d[j, r] *= share
    if root_reach == root_mobility:
        for i in range(m):
            y[i] += dx[i]
    else:
        add_step(arrays, table, wanted, root_reach, dx)
    add_step(arrays, table, wanted, root_mobility, y)
    clipped = move(arrays, wanted)
    worst, held, settled = settle(
        arrays, table, eliminated, strained, damping, root_mobility, root_reach, layer, clipped
    )
    return 1, worst, held, settled


@kernel("i8(i8, f8)")
def step(address, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `base`; the rest is scratch or input.
    """
    arrays = table_at(address)
    w = opened(arrays)
    head = w.head
    params = w.params
    report = w.report
    params[DT] = dt
    if not usable(arrays):
        return status_of(report)
    k = w.goals.shape[0]
    aimed = w.marks[AIMED]
    eased = w.marks[EASED]
    aim(w.effectors_f, head, w.goals, aimed)
    fresh = report[FRESH] == 1.0
    jump = head[JUMP] != 0.0 or report[FRESH] != 0.0
    note_steps(w.poses, w.source, jump, w.steps)
    farthest = begin(arrays, head, w.source, aimed)
    if params[PAPER] != 0.0 and not jump:
        farthest = find_leaps(arrays)
    steps = 1 + int(min(farthest / params[MAX_GOAL_STEP], MAX_SUBSTEPS - 1.0))
    dt /= steps
    # A base whose turn does not depend on the root's cannot turn the body: it is moved to instead.
    eliminated = params[ELIMINATE] != 0.0 and head[BASE] >= 0.0
    eliminated = eliminated and can_turn_the_body(w.joints_i, w.effectors_i, aimed, int(head[BASE]))
    table = 1 + int(head[BASE]) if eliminated else 0
    clipped = 0
    held = 0  # exact joints that a limit holds back
    settled = 0
    for s in range(steps):
        go_part_way(arrays, steps - s)
        gain = dexterity_gain(arrays)
        posture_gain = gain_over(params[K2] * gain * ramp(w.ease[0, k], params), dt)
        if fresh:
            posture_gain = 1.0
        w.ease[0, k] += dt
        go_along_and_aim(arrays, dt, gain, jump)
        measure(arrays, eased)
        if eliminated:
            stand_on_base(arrays, dt, gain)
        else:
            report[LAST_BASE] = -1.0
        solved, worst, held, settled = solve(arrays, table, eliminated, jump, posture_gain, dt)
        if solved == 0:
            break
        clipped = max(clipped, worst)
        copy_matrix(w.poses[NOW], w.poses[LAST])
        for r in range(3):
            w.roots[LAST, r] = w.roots[NOW, r]
        copy_matrix(w.marks[WANTED], w.marks[LAST_GOALS])
        jump = False
    if not fresh and params[PAPER] == 0.0 and w.ease[0, k] >= params[EASE_S]:
        late = keep_pace(
            w.joints_i, w.joints_f, w.effectors_i, eased, params, w.steps, w.poses, w.free
        )
        if late > 0:
            settled = 0
    if settled == 0:
        held = measure_seated(arrays, eliminated)
    if not eliminated and head[BASE] >= 0.0:
        hold_base(head, eased, w.roots[POSE], w.world, w.reached)
    status = finish(arrays, clipped + held)
    if report[FINITE] == 0.0:
        for i in range(w.rows.shape[1]):
            w.rows[PROBE, i] = 1.0
    return status
