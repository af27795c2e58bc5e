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

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import kernel
from understudy.solvers._kernels.core import (
    add_transposed,
    back_substitute,
    cholesky,
    errors,
    forward,
    gram,
    jacobian,
    project,
    subtract_rows,
    turn_error,
)
from understudy.solvers._kernels.layout import (
    ARM,
    BASE,
    BASE_HOLD,
    BLOCK_EFFECTOR,
    BLOCK_TURNS,
    EXACT,
    FREEDOM,
    GOAL,
    JOINT,
    JUMP,
    LIMITED,
    STRENGTH,
    TURN,
)

# params (16,)
DT = 0
K1 = 1  # gain of the primary task, per 1/30 s
K2 = 2  # gain of the imitation, per 1/30 s
CORRECTIONS = 3
ROOT_MOBILITY = 4  # of the root's translation, m^2 (a joint's default is 1 rad^2)
DAMPING = 5  # largest added damping, m^2
SINGULAR = 6  # squared singular value below which damping sets in, m^2
MAX_EFFECTOR_STEP = 7  # m a frame
MAX_JOINT_STEP = 8  # rad a solve
EASE_S = 9  # seconds over which gains rise after a jump or for a new effector
EASE_GAIN = 10  # where they start
MAX_GOAL_STEP = 11  # m: a longer way of a goal between two frames is walked in substeps
DEXTERITY = 12  # s_min / s_max below which the gains are reduced; 0 leaves them
PAPER = 13  # 1: predict by J^+ dx
ELIMINATE = 14  # 1: the base's six coordinates are eliminated; 0: the body is moved at the end
PARAMS = 15

# report (6,)
WORST = 0  # m, the largest distance of a goal from what was reached
CLIPPED = 1  # joints held back by a limit
SMALLEST = 2  # m^2, estimate of the smallest eigenvalue of J P J^T + N
FINITE = 3  # 1 if the result is finite; 0: the last pose was kept
LAST_BASE = 4  # memory: the base of the last frame
FRESH = 5  # memory: after a reset, 1 starts at the first frame's posture, 2 eases in from a pose
REPORT = 6

MAX_SUBSTEPS = 8


@kernel("f8(f8, f8)")
def gain_over(gain, dt):
    """What a gain per 1/30 s amounts to over dt seconds."""
    if gain >= 1.0:
        return 1.0
    return 1.0 - (1.0 - gain) ** (30.0 * dt)


@kernel("f8(f8, f8[::1])")
def ramp(age, params):
    """The factor on a gain, `age` seconds after a jump or an effector's first frame."""
    if age >= params[EASE_S]:
        return 1.0
    x = age / params[EASE_S]
    return params[EASE_GAIN] + (1.0 - params[EASE_GAIN]) * x * x * (3.0 - 2.0 * x)


@kernel("void(f8[:, ::1], i8, f8[:, ::1], i8, f8, f8[:, ::1], i8, i8)")
def blend(a, i, b, j, fraction, out, o, at):
    """out[o, at:at+4] <- a[i] to b[j] by `fraction`, along the shorter arc."""
    dot = 0.0
    for r in range(4):
        dot += a[i, at + r] * b[j, at + r]
    sign = 1.0 if dot >= 0.0 else -1.0
    dot = min(abs(dot), 1.0)
    if dot > 0.9995:
        u = 1.0 - fraction
        v = fraction
    else:
        angle = np.arccos(dot)
        u = np.sin((1.0 - fraction) * angle) / np.sin(angle)
        v = np.sin(fraction * angle) / np.sin(angle)
    v *= sign
    length = 0.0
    for r in range(4):
        x = u * a[i, at + r] + v * b[j, at + r]
        out[o, at + r] = x
        length += x * x
    k = 1.0 / np.sqrt(length)
    for r in range(4):
        out[o, at + r] *= k


@kernel("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def carry_over(joints_i, last, now, q):
    """q[j] <- q[j] last[j]^-1 now[j]: the performer's own increment, joint by joint."""
    for j in range(q.shape[0]):
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] != 0:
            continue
        ax = -last[j, 0]
        ay = -last[j, 1]
        az = -last[j, 2]
        aw = last[j, 3]
        bx = now[j, 0]
        by = now[j, 1]
        bz = now[j, 2]
        bw = now[j, 3]
        x = aw * bx + ax * bw + ay * bz - az * by
        y = aw * by - ax * bz + ay * bw + az * bx
        z = aw * bz + ax * by - ay * bx + az * bw
        w = aw * bw - ax * bx - ay * by - az * bz
        qx = q[j, 0]
        qy = q[j, 1]
        qz = q[j, 2]
        qw = q[j, 3]
        nx = qw * x + qx * w + qy * z - qz * y
        ny = qw * y - qx * z + qy * w + qz * x
        nz = qw * z + qx * y - qy * x + qz * w
        nw = qw * w - qx * x - qy * y - qz * z
        k = 1.0 / np.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
        q[j, 0] = nx * k
        q[j, 1] = ny * k
        q[j, 2] = nz * k
        q[j, 3] = nw * k


@kernel("void(i8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])")
def imitate(joints_i, bound, free, q, now, extra, gain, d):
    """d[1:] <- gain * log(q^-1 now) + extra: the way to the performer's angles, as far as free."""
    for j in range(q.shape[0]):
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] == 2:
            for k in range(3):
                d[1 + j, k] = 0.0
            continue
        x, y, z = difference(q, j, now, j)
        x = gain * x + extra[1 + j, 0]
        y = gain * y + extra[1 + j, 1]
        z = gain * z + extra[1 + j, 2]
        if bound[j] != 0:
            for k in range(3):
                d[1 + j, k] = free[j, 3 * k] * x + free[j, 3 * k + 1] * y + free[j, 3 * k + 2] * z
        else:
            d[1 + j, 0] = x
            d[1 + j, 1] = y
            d[1 + j, 2] = z


@kernel("i8(i8[:, ::1], f8[:, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8[::1], f8[:, ::1])")
def apply(joints_i, joints_f, bound, free, d, max_step, root, q):
    """Move the body by d, shortened as a whole if a joint would turn too far; then the limits.

    Says how many joints a limit has newly held back; they are marked in `bound`.
    """
    largest = 0.0
    for j in range(1, d.shape[0]):
        size = d[j, 0] * d[j, 0] + d[j, 1] * d[j, 1] + d[j, 2] * d[j, 2]
        largest = max(largest, size)
    scale = 1.0
    if largest > max_step * max_step:
        scale = max_step / np.sqrt(largest)
    for r in range(3):
        root[r] += scale * d[0, r]
    clipped = 0
    for j in range(q.shape[0]):
        if joints_i[j, EXACT] >= 0 or joints_i[j, FREEDOM] == 2:
            continue
        turn(q, j, scale * d[1 + j, 0], scale * d[1 + j, 1], scale * d[1 + j, 2])
        if joints_i[j, LIMITED] == 1 and project(joints_f, j, q, free) > 0:
            if bound[j] == 0:
                bound[j] = 2
            clipped += 1
    return clipped


@kernel("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def seat(effectors_i, goals, world, base, root, q, reached):
    """Move the whole body rigidly so that the base stands where it must: its error becomes zero.

    `base` (8,): the effector, then what it kept of its own place when it became the base: a
    translation (m) and a rotation x, y, z, w on top of the goal's.
    """
    f = int(base[0])
    j = effectors_i[f, JOINT]
    # The wanted orientation: kept * goal.
    ax = base[4]
    ay = base[5]
    az = base[6]
    aw = base[7]
    bx = goals[f, TURN]
    by = goals[f, TURN + 1]
    bz = goals[f, TURN + 2]
    bw = goals[f, TURN + 3]
    x, y, z = turn_error(
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
        world,
        j,
    )
    # The root turns by w = (x, y, z) in the world: exp(w) q_root = q_root exp(G_root^T w).
    turn(
        q,
        0,
        world[0, 3] * x + world[0, 6] * y + world[0, 9] * z,
        world[0, 4] * x + world[0, 7] * y + world[0, 10] * z,
        world[0, 5] * x + world[0, 8] * y + world[0, 11] * z,
    )
    # Its position swings about the base's point with it.
    px = root[0] - reached[f, 0]
    py = root[1] - reached[f, 1]
    pz = root[2] - reached[f, 2]
    angle = np.sqrt(x * x + y * y + z * z)
    s = 1.0 - angle * angle / 6.0 if angle < 1e-4 else np.sin(angle) / angle
    c = 0.5 - angle * angle / 24.0 if angle < 1e-4 else (1.0 - np.cos(angle)) / (angle * angle)
    cx = y * pz - z * py
    cy = z * px - x * pz
    cz = x * py - y * px
    root[0] = goals[f, GOAL] + base[1] + px + s * cx + c * (y * cz - z * cy)
    root[1] = goals[f, GOAL + 1] + base[2] + py + s * cy + c * (z * cx - x * cz)
    root[2] = goals[f, GOAL + 2] + base[3] + pz + s * cz + c * (x * cy - y * cx)


@kernel("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])")
def take_base(effectors_i, goals, world, reached, base):
    """The new base keeps the place it has now, so that nothing pops: note how it differs."""
    f = int(base[0])
    j = effectors_i[f, JOINT]
    for r in range(3):
        base[1 + r] = reached[f, r] - goals[f, GOAL + r]
    x, y, z = turn_error(
        goals[f, TURN], goals[f, TURN + 1], goals[f, TURN + 2], goals[f, TURN + 3], world, j
    )
    # What the goal still lacks is turned back: kept = exp(-w).
    angle = np.sqrt(x * x + y * y + z * z)
    k = -0.5 if angle < 1e-6 else -np.sin(0.5 * angle) / angle
    base[4] = k * x
    base[5] = k * y
    base[6] = k * z
    base[7] = np.cos(0.5 * angle)


@kernel("i8(f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, f8[:, ::1], i8)")
def ease_goals(params, ease, reached, eased, dt, gain, goals, fresh):
    """eased <- goals, except where an effector is still being eased in or its step is too long.

    There the goal is moved back along the way from what is reached, so that the error falls by
    the gain in each frame: e[n] = (1 - K1) e[n-1] (equation 13). Says whether any was moved.
    """
    moved = 0
    for f in range(goals.shape[0]):
        for r in range(TURN):
            eased[f, r] = goals[f, r]
        eased[f, STRENGTH] = goals[f, STRENGTH]
        if goals[f, STRENGTH] <= 0.0:
            ease[f, 0] = 0.0
            continue
        k = 1.0
        if not fresh:
            k = gain_over(params[K1] * gain * ramp(ease[f, 0], params), dt)
            ease[f, 0] += dt
        else:
            ease[f, 0] = params[EASE_S]
        dx = goals[f, GOAL] - reached[f, 0]
        dy = goals[f, GOAL + 1] - reached[f, 1]
        dz = goals[f, GOAL + 2] - reached[f, 2]
        length = k * np.sqrt(dx * dx + dy * dy + dz * dz)
        p = k
        if not fresh and length > params[MAX_EFFECTOR_STEP]:
            p = k * params[MAX_EFFECTOR_STEP] / length
        if p < 1.0:
            moved = 1
            eased[f, GOAL] = reached[f, 0] + p * dx
            eased[f, GOAL + 1] = reached[f, 1] + p * dy
            eased[f, GOAL + 2] = reached[f, 2] + p * dz
        if k < 1.0:
            blend(eased, f, goals, f, k, eased, f, TURN)
        else:
            for r in range(4):
                eased[f, TURN + r] = goals[f, TURN + r]
    return moved


@kernel("void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], i8, i8, f8[::1])")
def goal_step(effectors_f, effectors_i, last_goals, goals, blocks, i, f, dx):
    """dx[3i:3i+3] <- the goal's own increment in the rows of block i, m."""
    if blocks[i, BLOCK_TURNS] == 0:
        for r in range(3):
            part = 0.0
            for t in range(3):
                part += effectors_f[f, 3 * r + t] * (goals[f, GOAL + t] - last_goals[f, GOAL + t])
            dx[3 * i + r] = part
    else:
        # log(R_n R_{n-1}^T), a rotation vector of the world; a frame's turn is far below pi
        ax = -last_goals[f, TURN]
        ay = -last_goals[f, TURN + 1]
        az = -last_goals[f, TURN + 2]
        aw = last_goals[f, TURN + 3]
        bx = goals[f, TURN]
        by = goals[f, TURN + 1]
        bz = goals[f, TURN + 2]
        bw = goals[f, TURN + 3]
        x = bw * ax + bx * aw + by * az - bz * ay
        y = bw * ay - bx * az + by * aw + bz * ax
        z = bw * az + bx * ay - by * ax + bz * aw
        w = bw * aw - bx * ax - by * ay - bz * az
        sine = np.sqrt(x * x + y * y + z * z)
        k = 2.0 if sine < 1e-9 else 2.0 * np.arctan2(sine, abs(w)) / sine
        if w < 0.0:
            k = -k
        k *= effectors_f[f, ARM]
        dx[3 * i] = k * x
        dx[3 * i + 1] = k * y
        dx[3 * i + 2] = k * z


@kernel(
    "void(i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, :, ::1],"
    " i8[:, :, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, :, ::1],"
    " f8[:, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1],"
    " f8[:, :, :, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1])"
)
def step(
    joints_i,
    joints_f,
    effectors_i,
    effectors_f,
    blocks,
    chains,
    member,
    head,
    source,
    goals,
    extra,
    params,
    poses,
    roots,
    marks,
    ease,
    world,
    reached,
    free,
    bound,
    J,
    A,
    rows,
    d,
    base,
    report,
):
    """One frame. State: `poses`, `roots`, `marks`, `ease`, `base`; the rest is scratch or input."""
    n = joints_i.shape[0]
    k = goals.shape[0]
    m = 3 * blocks.shape[0]
    q = poses[0]
    last = poses[1]
    now = poses[2]
    kept = poses[3]
    root = roots[0]
    last_root = roots[1]
    now_root = roots[2]
    last_goals = marks[0]
    wanted = marks[1]
    eased = marks[2]
    e = rows[0]
    y = rows[1]
    probe = rows[2]
    dx = rows[3]
    L = A[0]
    fresh = report[FRESH] == 1.0
    jump = head[JUMP] != 0.0 or report[FRESH] != 0.0
    kept[:] = q
    for r in range(3):
        roots[3, r] = root[r]
    for j in range(n):
        if bound[j] == 2:  # held back in the last frame: free again
            bound[j] = 0
        if bound[j] == 0:
            for r in range(9):
                free[j, r] = 0.0
            free[j, 0] = free[j, 4] = free[j, 8] = 1.0
    if fresh:  # nothing to continue: start from the performer's own posture
        for j in range(n):
            if joints_i[j, FREEDOM] == 0:
                for r in range(4):
                    q[j, r] = source[j, r]
        for r in range(3):
            root[r] = head[r]
    steps = 1
    if jump:
        last[:] = source
        last_goals[:] = goals
        for r in range(3):
            last_root[r] = head[r]
        if not fresh:
            for f in range(k + 1):
                ease[f, 0] = 0.0
    else:
        farthest = 0.0
        for f in range(k):
            if goals[f, STRENGTH] > 0.0:
                size = 0.0
                for r in range(3):
                    size += (goals[f, GOAL + r] - last_goals[f, GOAL + r]) ** 2
                farthest = max(farthest, size)
        steps = min(MAX_SUBSTEPS, 1 + int(np.sqrt(farthest) / params[MAX_GOAL_STEP]))
    dt = params[DT] / steps
    eliminated = params[ELIMINATE] != 0.0 and head[BASE] >= 0.0
    table = 1 + int(head[BASE]) if eliminated else 0
    chain = chains[table]
    moves = member[table]
    root_mobility = 0.0 if eliminated else params[ROOT_MOBILITY]
    clipped = 0
    worst_clip = 0
    for s in range(1, steps + 1):
        # The performer and the goals at this substep, in `now`, `now_root`, `wanted`.
        if s == steps:
            now[:] = source
            wanted[:] = goals
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
                    wanted[f, r] = last_goals[f, r] + fraction * (goals[f, r] - last_goals[f, r])
                blend(last_goals, f, goals, f, fraction, wanted, f, TURN)
                wanted[f, STRENGTH] = goals[f, STRENGTH]
        gain = 1.0
        if params[DEXTERITY] > 0.0 and report[SMALLEST] > 0.0:
            trace = 0.0
            for i in range(m):
                trace += rows[4, i]
            x = min(1.0, np.sqrt(report[SMALLEST] / max(trace, 1e-12)) / params[DEXTERITY])
            gain = max(0.05, x * x * (3.0 - 2.0 * x))
        posture_gain = gain_over(params[K2] * gain * ramp(ease[k, 0], params), dt)
        if fresh:
            ease[k, 0] = params[EASE_S]
            posture_gain = 1.0
        else:
            ease[k, 0] += dt
        if params[PAPER] == 0.0:
            carry_over(joints_i, last, now, q)
            for r in range(3):
                root[r] += now_root[r] - last_root[r]
        forward(joints_i, joints_f, wanted, root, q, world, free)
        errors(effectors_i, effectors_f, wanted, blocks, world, reached, e)
        if eliminated:
            if report[LAST_BASE] != head[BASE]:
                base[0] = head[BASE]
                if fresh:
                    for r in range(1, 7):
                        base[r] = 0.0
                    base[7] = 1.0
                else:
                    take_base(effectors_i, wanted, world, reached, base)
                report[LAST_BASE] = head[BASE]
            seat(effectors_i, wanted, world, base, root, q, reached)
            forward(joints_i, joints_f, wanted, root, q, world, free)
            errors(effectors_i, effectors_f, wanted, blocks, world, reached, e)
        else:
            report[LAST_BASE] = -1.0
        jacobian(joints_i, bound, effectors_i, effectors_f, blocks, chain, world, reached, free, J)
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
        damping = 0.0
        if report[SMALLEST] < params[SINGULAR]:
            damping = params[DAMPING] * (1.0 - report[SMALLEST] / params[SINGULAR])
        if params[PAPER] != 0.0:
            # Steps 1 to 3: predict with the primary increment, measure both errors there, go back.
            for i in range(m):
                dx[i] = 0.0
            if not jump:
                for i in range(blocks.shape[0]):
                    f = blocks[i, BLOCK_EFFECTOR]
                    if ease[f, 0] > 0.0:
                        goal_step(effectors_f, effectors_i, last_goals, wanted, blocks, i, f, dx)
            for i in range(m):
                y[i] = dx[i]
            back_substitute(L, y, m)
            d[:] = 0.0
            add_transposed(
                joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_mobility, J, y, d
            )
            saved = marks[3]  # the reached points before the prediction
            for f in range(k):
                for r in range(3):
                    saved[f, r] = reached[f, r]
            for j in range(n):
                for r in range(4):
                    last[j, r] = q[j, r]
            for r in range(3):
                last_root[r] = root[r]
            apply(joints_i, joints_f, bound, free, d, params[MAX_JOINT_STEP], root, q)
            forward(joints_i, joints_f, wanted, root, q, world, free)
            if eliminated:
                errors(effectors_i, effectors_f, wanted, blocks, world, reached, e)
                seat(effectors_i, wanted, world, base, root, q, reached)
                forward(joints_i, joints_f, wanted, root, q, world, free)
            errors(effectors_i, effectors_f, wanted, blocks, world, reached, e)
            ease_goals(params, ease, reached, eased, dt, gain, wanted, 1 if fresh else 0)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            imitate(joints_i, bound, free, q, now, extra, posture_gain, d)
            for r in range(3):
                d[0, r] = 0.0 if eliminated else posture_gain * (now_root[r] - root[r])
            for i in range(m):
                e[i] += dx[i]
            for j in range(n):
                for r in range(4):
                    q[j, r] = last[j, r]
            for r in range(3):
                root[r] = last_root[r]
        else:
            if ease_goals(params, ease, reached, eased, dt, gain, wanted, 1 if fresh else 0):
                if jump or fresh:
                    forward(joints_i, joints_f, eased, root, q, world, free)
                errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            imitate(joints_i, bound, free, q, now, extra, posture_gain, d)
            for r in range(3):
                d[0, r] = 0.0
                if not eliminated:
                    d[0, r] = posture_gain * (now_root[r] - root[r]) + extra[0, r]
        if eliminated:
            for r in range(3):
                d[1, r] = 0.0
        if damping > 0.0:
            # Near singularity only the primary task is damped; the projector stays exact.
            for i in range(m):
                y[i] = 0.0
            subtract_rows(effectors_i, effectors_f, blocks, chain, root_mobility, J, d, y)
            back_substitute(L, y, m)
            gram(
                joints_f,
                effectors_i,
                effectors_f,
                wanted,
                blocks,
                chain,
                moves,
                root_mobility,
                J,
                A[1],
            )
            for i in range(m):
                A[1, i, i] += damping
            if cholesky(A[1], m) == 0:
                break
            for i in range(m):
                dx[i] = e[i]
            back_substitute(A[1], dx, m)
            for i in range(m):
                y[i] += dx[i]
        else:
            for i in range(m):
                y[i] = e[i]
            subtract_rows(effectors_i, effectors_f, blocks, chain, root_mobility, J, d, y)
            back_substitute(L, y, m)
        add_transposed(
            joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_mobility, J, y, d
        )
        clipped = apply(joints_i, joints_f, bound, free, d, params[MAX_JOINT_STEP], root, q)
        corrections = int(params[CORRECTIONS])
        if fresh:
            corrections = max(corrections, 12)
        for _ in range(corrections):
            worst_clip = max(worst_clip, clipped)
            forward(joints_i, joints_f, eased, root, q, world, free)
            errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            if eliminated:
                seat(effectors_i, eased, world, base, root, q, reached)
                forward(joints_i, joints_f, eased, root, q, world, free)
                errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
            if clipped > 0 or fresh:
                jacobian(
                    joints_i,
                    bound,
                    effectors_i,
                    effectors_f,
                    blocks,
                    chain,
                    world,
                    reached,
                    free,
                    J,
                )
                gram(
                    joints_f,
                    effectors_i,
                    effectors_f,
                    wanted,
                    blocks,
                    chain,
                    moves,
                    root_mobility,
                    J,
                    L,
                )
                if cholesky(L, m) == 0:
                    break
            if damping > 0.0:
                back_substitute(A[1], e, m)
            else:
                back_substitute(L, e, m)
            d[:] = 0.0
            add_transposed(
                joints_f, effectors_i, effectors_f, wanted, blocks, chain, root_mobility, J, e, d
            )
            clipped = apply(joints_i, joints_f, bound, free, d, params[MAX_JOINT_STEP], root, q)
        worst_clip = max(worst_clip, clipped)
        last[:] = now
        for r in range(3):
            last_root[r] = now_root[r]
        last_goals[:] = wanted
        jump = False
    worst_clip += forward(joints_i, joints_f, eased, root, q, world, free)
    errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
    if eliminated:
        seat(effectors_i, eased, world, base, root, q, reached)
        forward(joints_i, joints_f, eased, root, q, world, free)
        errors(effectors_i, effectors_f, eased, blocks, world, reached, e)
    elif head[BASE] >= 0.0:
        # The stance foot does not slide: what is left of its error, the whole body takes.
        f = int(head[BASE])
        for r in range(3):
            shift = head[BASE_HOLD] * (eased[f, GOAL + r] - reached[f, r])
            root[r] += shift
            for g in range(k):
                reached[g, r] += shift
    total = root[0] + root[1] + root[2]
    for j in range(n):
        for r in range(4):
            total += q[j, r]
    if np.isfinite(total):
        report[FINITE] = 1.0
    else:
        report[FINITE] = 0.0
        q[:] = kept
        for r in range(3):
            root[r] = roots[3, r]
    report[FRESH] = 0.0
    report[CLIPPED] = worst_clip
    report[WORST] = 0.0
    for f in range(k):
        size = 0.0
        if goals[f, STRENGTH] > 0.0:
            for r in range(3):
                part = 0.0
                for t in range(3):
                    part += effectors_f[f, 3 * r + t] * (goals[f, GOAL + t] - reached[f, t])
                size += part * part
        ease[f, 1] = np.sqrt(size)
        report[WORST] = max(report[WORST], ease[f, 1])
