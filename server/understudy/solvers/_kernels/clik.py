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

from understudy.kinematics._kernels import copy_matrix, log_of, product
from understudy.kinematics.compiled import kernel, part
from understudy.kinematics.tables import matrix, tensor4, vector
from understudy.solvers._kernels.base import BASE_AGE, can_turn_the_body, let_go, seat, take_base
from understudy.solvers._kernels.body import errors, forward
from understudy.solvers._kernels.clik_layout import (
    CORRECTIONS,
    DAMPING,
    DEXTERITY,
    ELIMINATE,
    K2,
    MAX_GOAL_STEP,
    MAX_SUBSTEPS,
    PAPER,
    SINGULAR,
)
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
    MAX_JOINT_STEP,
    NOW,
    POSE,
    ROOT_MOBILITY,
    SMALLEST,
    UNREACHED,
    WANTED,
)
from understudy.solvers._kernels.layout import (
    ARM,
    BASE,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    FARTHEST,
    GOAL,
    JUMP,
    PLANTED,
    STRENGTH,
    TURN,
)
from understudy.solvers._kernels.opening import JACOBIANS, MEMORY, PERFORMED, opened
from understudy.solvers._kernels.pace import keep_pace, note_steps
from understudy.solvers._kernels.posture import apply, carry_over, imitate, imitate_root
from understudy.solvers._kernels.rows import (
    add_transposed,
    back_substitute,
    cholesky,
    gram,
    jacobian,
    subtract_rows,
)
from understudy.solvers._kernels.strain import damp, tension

# The row that remembers the direction in which the last frame was nearest to singular.
PROBE = 2

# Farther from a goal than NEAR_M corrections go on while they help; farther than FAR_M the
# Jacobian of the first step has had its day and is made anew.
NEAR_M = 0.0002
FAR_M = 0.003
RESCUES = 6


@part("void(f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8, i8, f8[::1])")
def goal_step(effectors_f, last_goals, goals, blocks, i, f, dx):
    """dx[3i:3i+3] <- the goal's own increment in the rows of block i, m."""
    if blocks[i, BLOCK_TURNS] == 0:
        for r in range(3):
            part = 0.0
            for t in range(3):
                part += effectors_f[f, 3 * r + t] * (goals[f, GOAL + t] - last_goals[f, GOAL + t])
            dx[3 * i + r] = part
    else:
        # log(R_n R_{n-1}^T), a rotation vector of the world; a frame's turn is far below pi
        x, y, z, w = product(
            goals[f, TURN], goals[f, TURN + 1], goals[f, TURN + 2], goals[f, TURN + 3],
            -last_goals[f, TURN], -last_goals[f, TURN + 1], -last_goals[f, TURN + 2],
            last_goals[f, TURN + 3],
        )  # fmt: skip
        x, y, z = log_of(x, y, z, w)
        dx[3 * i] = effectors_f[f, ARM] * x
        dx[3 * i + 1] = effectors_f[f, ARM] * y
        dx[3 * i + 2] = effectors_f[f, ARM] * z


@kernel("i8(i8[:, ::1], f8)")
def step(arrays, dt):
    """One frame, `dt` seconds after the last; says its status, in bits of `Status`.

    State: `poses`, `roots`, `marks`, `ease`, `base`; the rest is scratch or input.
    """
    (
        joints_i, joints_f, effectors_i, effectors_f, blocks, chains, member, head, source, goals,
        extra, params, poses, roots, marks, ease, world, reached, free, bound, A, rows, d, report,
    ) = opened(arrays)  # fmt: skip
    J = tensor4(arrays, JACOBIANS)
    base = vector(arrays, MEMORY)
    performed = matrix(arrays, PERFORMED)
    n = joints_i.shape[0]
    k = goals.shape[0]
    m = 3 * blocks.shape[0]
    q = poses[POSE]
    last = poses[LAST]
    now = poses[NOW]
    root = roots[POSE]
    last_root = roots[LAST]
    now_root = roots[NOW]
    last_goals = marks[LAST_GOALS]
    wanted = marks[WANTED]
    eased = marks[EASED]
    e = rows[0]
    y = rows[1]
    probe = rows[PROBE]
    dx = rows[3]
    L = A[0]
    params[DT] = dt
    if not usable(head, source, goals, extra, params, report):
        return status_of(report)
    aimed = marks[AIMED]
    aim(effectors_f, head, goals, aimed)
    fresh = report[FRESH] == 1.0
    jump = head[JUMP] != 0.0 or report[FRESH] != 0.0
    note_steps(poses, source, jump, performed)
    farthest = begin(
        joints_i,
        joints_f,
        effectors_i,
        head,
        source,
        aimed,
        params,
        poses,
        roots,
        marks,
        ease,
        world,
        free,
        bound,
        report,
    )
    if params[PAPER] != 0.0 and not jump:
        # No increment of the performer's is carried over here: a goal that leaps has leapt.
        farthest = 0.0
        for f in range(k):
            size = 0.0
            for r in range(3):
                size += (aimed[f, GOAL + r] - last_goals[f, GOAL + r]) ** 2
            if np.sqrt(size) > params[MAX_EFFECTOR_SPEED] * params[DT]:
                ease[0, f] = 0.0
            elif aimed[f, STRENGTH] > 0.0:
                farthest = max(farthest, np.sqrt(size))
        forward(joints_i, joints_f, eased, root, q, world, free)
    steps = 1 + int(min(farthest / params[MAX_GOAL_STEP], MAX_SUBSTEPS - 1.0))
    dt /= steps
    # A base whose turn does not depend on the root's cannot turn the body: it is moved to instead.
    eliminated = params[ELIMINATE] != 0.0 and head[BASE] >= 0.0
    eliminated = eliminated and can_turn_the_body(joints_i, effectors_i, aimed, int(head[BASE]))
    table = 1 + int(head[BASE]) if eliminated else 0
    chain = chains[table]
    moves = member[table]
    root_mobility = 0.0 if eliminated else params[ROOT_MOBILITY]
    clipped = 0
    worst_clip = 0
    held = 0  # exact joints that a limit holds back
    settled = False
    for s in range(1, steps + 1):
        # The performer and the goals at this substep, in `now`, `now_root`, `wanted`.
        if s == steps:
            copy_matrix(source, now)
            copy_matrix(aimed, wanted)
            for r in range(3):
                now_root[r] = head[r]
        else:
            fraction = 1.0 / (steps - s + 1)
            for j in range(n):
                blend(last, j, source, j, fraction, now, j, 0)
            for r in range(3):
                now_root[r] = last_root[r] + fraction * (head[r] - last_root[r])
            for f in range(k):
                for r in range(TURN):
                    wanted[f, r] = last_goals[f, r] + fraction * (aimed[f, r] - last_goals[f, r])
                blend(last_goals, f, aimed, f, fraction, wanted, f, TURN)
                wanted[f, STRENGTH] = aimed[f, STRENGTH]
                wanted[f, PLANTED] = aimed[f, PLANTED]
        gain = 1.0
        if params[DEXTERITY] > 0.0 and report[SMALLEST] > 0.0:
            trace = 0.0
            for i in range(m):
                trace += rows[4, i]
            x = min(1.0, np.sqrt(report[SMALLEST] / max(trace, 1e-12)) / params[DEXTERITY])
            gain = max(0.05, x * x * (3.0 - 2.0 * x))
        # The root goes no farther than goals do, or it would leave them; half a limb is near.
        longest_way = params[MAX_EFFECTOR_SPEED] * dt
        for f in range(k):
            longest_way = max(longest_way, 0.25 * effectors_f[f, FARTHEST])
        posture_gain = gain_over(params[K2] * gain * ramp(ease[0, k], params), dt)
        if fresh:
            posture_gain = 1.0
        ease[0, k] += dt
        if params[PAPER] == 0.0:
            carry_over(joints_i, joints_f, wanted, last, now, q)
            for r in range(3):
                root[r] += now_root[r] - last_root[r]
            if not jump:
                for f in range(k):
                    if wanted[f, STRENGTH] > 0.0 and ease[0, f] == 0.0:
                        # A new effector starts where the performer's increment has taken it.
                        forward(joints_i, joints_f, eased, root, q, world, free)
                        break
        start_goals(effectors_i, world, wanted, ease, last_goals, eased)
        ease_goals(params, ease, wanted, last_goals, dt, gain, eased)
        forward(joints_i, joints_f, eased, root, q, world, free)
        errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
        if eliminated:
            if report[LAST_BASE] != head[BASE]:
                base[0] = head[BASE]
                if fresh:
                    base[1:] = 0.0
                    base[7] = 1.0
                else:
                    take_base(effectors_i, eased, world, reached, base)
                report[LAST_BASE] = head[BASE]
            else:
                # One that is planted stays where it stands, however far that is from its goal.
                loose = 1.0 - wanted[int(head[BASE]), PLANTED]
                eager = gain_over(params[K1] * gain * ramp(base[BASE_AGE], params), dt)
                let_go(base, loose * eager)
                base[BASE_AGE] += dt
            seat(effectors_i, eased, world, base, root, q, reached)
            forward(joints_i, joints_f, eased, root, q, world, free)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
        else:
            report[LAST_BASE] = -1.0
        jacobian(
            joints_i,
            bound,
            effectors_i,
            effectors_f,
            wanted,
            blocks,
            chain,
            world,
            reached,
            free,
            J,
        )
        gram(joints_f, effectors_i, effectors_f, wanted, blocks, chain, moves, root_mobility, J, L)
        for i in range(m):
            rows[4, i] = L[i, i]
        if cholesky(L, m) == 0:
            break
        # How near to singular: one warm inverse iteration on the factor.
        size = 0.0
        for i in range(m):
            y[i] = probe[i]
        back_substitute(L, y, m)
        for i in range(m):
            size += y[i] * y[i]
        size = np.sqrt(size)
        for i in range(m):
            probe[i] = y[i] / size
        report[SMALLEST] = 1.0 / size
        damping = params[DAMPING] * max(0.0, 1.0 - report[SMALLEST] / params[SINGULAR])
        strained = params[PAPER] == 0.0 and report[UNREACHED] > FAR_M
        pull = 0.0
        if strained:
            pull = tension(joints_f, effectors_f, blocks, chain, world, reached, e)
        if params[PAPER] != 0.0:
            # Steps 1 to 3: predict with the primary increment, measure both errors there, go back.
            for i in range(m):
                dx[i] = 0.0
            if not jump:
                for i in range(blocks.shape[0]):
                    f = blocks[i, BLOCK_EFFECTOR]
                    goal_step(effectors_f, last_goals, wanted, blocks, i, f, dx)
            for i in range(m):
                y[i] = dx[i]
            back_substitute(L, y, m)
            d[:] = 0.0
            add_transposed(
                joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_mobility, J, y, d
            )
            copy_matrix(q, last)
            for r in range(3):
                last_root[r] = root[r]
            apply(joints_i, joints_f, wanted, bound, free, d, params[MAX_JOINT_STEP], root, q)
            forward(joints_i, joints_f, eased, root, q, world, free)
            if eliminated:
                errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
                seat(effectors_i, eased, world, base, root, q, reached)
                forward(joints_i, joints_f, eased, root, q, world, free)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            imitate(joints_i, wanted, bound, free, q, now, extra, posture_gain, d)
            imitate_root(now_root, root, extra, posture_gain, longest_way, eliminated, d)
            for i in range(m):
                e[i] += dx[i]
            copy_matrix(last, q)
            for r in range(3):
                root[r] = last_root[r]
        else:
            imitate(joints_i, wanted, bound, free, q, now, extra, posture_gain, d)
            imitate_root(now_root, root, extra, posture_gain, longest_way, eliminated, d)
        if eliminated:
            for r in range(3):
                d[1, r] = 0.0
        for i in range(m):
            y[i] = 0.0
        subtract_rows(effectors_i, effectors_f, blocks, chain, root_mobility, J, d, y)
        back_substitute(L, y, m)
        factor = L
        root_reach = root_mobility
        if damping > 0.0 or pull > 0.0:
            # Only the primary task is damped; the projector stays exact.
            factor = A[1]
            root_reach = root_mobility + pull if root_mobility > 0.0 else 0.0
            gram(
                joints_f,
                effectors_i,
                effectors_f,
                wanted,
                blocks,
                chain,
                moves,
                root_reach,
                J,
                factor,
            )
            damp(effectors_f, wanted, blocks, damping, pull, factor)
            if cholesky(factor, m) == 0:
                break
        for i in range(m):
            dx[i] = e[i]
        back_substitute(factor, dx, m)
        share = 1.0
        if params[PAPER] == 0.0:
            # The goals' hold on a stretched limb bends the surface on which the imitation moves: a
            # longer step would cross the optimum, and the next one back again.
            for i in range(m):
                e[i] = y[i] + dx[i]
            strain = tension(joints_f, effectors_f, blocks, chain, world, reached, e)
            share = min(1.0, 2.0 / (1.0 + strain))
        if share < 1.0:
            for i in range(m):
                y[i] *= share
            for j in range(n + 1):
                for r in range(3):
                    d[j, r] *= share
        if root_reach == root_mobility:
            for i in range(m):
                y[i] += dx[i]
        else:
            add_transposed(
                joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_reach, J, dx, d
            )
        add_transposed(
            joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_mobility, J, y, d
        )
        clipped = apply(joints_i, joints_f, wanted, bound, free, d, params[MAX_JOINT_STEP], root, q)
        corrections = int(params[CORRECTIONS])
        if fresh:
            corrections = max(corrections, 12)
        rescues = RESCUES if corrections > 0 else 0
        before = np.inf
        settled = False
        for c in range(corrections + rescues):
            worst_clip = max(worst_clip, clipped)
            held = forward(joints_i, joints_f, eased, root, q, world, free)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            if eliminated:
                seat(effectors_i, eased, world, base, root, q, reached)
                forward(joints_i, joints_f, eased, root, q, world, free)
                errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            missing = 0.0
            for i in range(m):
                missing = max(missing, abs(e[i]))
            if c > 0:
                report[UNREACHED] = missing
            if c >= corrections and (missing < NEAR_M or missing > 0.7 * before):
                settled = True  # and `world`, `reached`, `e` are those of the pose
                break
            before = missing
            if clipped > 0 or fresh or missing > FAR_M:
                jacobian(
                    joints_i,
                    bound,
                    effectors_i,
                    effectors_f,
                    wanted,
                    blocks,
                    chain,
                    world,
                    reached,
                    free,
                    J,
                )
                pull = 0.0
                if strained:
                    pull = tension(joints_f, effectors_f, blocks, chain, world, reached, e)
                root_reach = root_mobility + pull if root_mobility > 0.0 else 0.0
                gram(
                    joints_f,
                    effectors_i,
                    effectors_f,
                    wanted,
                    blocks,
                    chain,
                    moves,
                    root_reach,
                    J,
                    factor,
                )
                damp(effectors_f, wanted, blocks, damping, pull, factor)
                if cholesky(factor, m) == 0:
                    break
            back_substitute(factor, e, m)
            d[:] = 0.0
            add_transposed(
                joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_reach, J, e, d
            )
            clipped = apply(
                joints_i, joints_f, wanted, bound, free, d, params[MAX_JOINT_STEP], root, q
            )
        worst_clip = max(worst_clip, clipped)
        copy_matrix(now, last)
        for r in range(3):
            last_root[r] = now_root[r]
        copy_matrix(wanted, last_goals)
        jump = False
    if not fresh and params[PAPER] == 0.0 and ease[0, k] >= params[EASE_S]:
        late = keep_pace(joints_i, joints_f, effectors_i, eased, params, performed, poses, free)
        settled = settled and late == 0
    if not settled:
        held = forward(joints_i, joints_f, eased, root, q, world, free)
        errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
        if eliminated:
            seat(effectors_i, eased, world, base, root, q, reached)
            forward(joints_i, joints_f, eased, root, q, world, free)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
    worst_clip += held
    if not eliminated and head[BASE] >= 0.0:
        hold_base(head, eased, root, world, reached)
    status = finish(effectors_f, goals, poses, roots, ease, reached, worst_clip, report)
    if report[FINITE] == 0.0:
        for i in range(m):
            probe[i] = 1.0
    return status
