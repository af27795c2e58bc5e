"""Compiled smoothing of source poses, easing of targets and checking of solutions."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import difference, is_finite, rotated, turn
from understudy.kinematics.compiled import kernel, part
from understudy.kinematics.tables import (
    byte_vector,
    index_vector,
    matrix,
    single_vector,
    table_at,
    vector,
)


@part("UniTuple(f8, 3)(f8[:, ::1], f8, f8, f8, f8)")
def turned(q, sign, x, y, z):
    """The vector (x, y, z) turned by the root's rotation q[0], or back if `sign` is -1."""
    return rotated(sign * q[0, 0], sign * q[0, 1], sign * q[0, 2], q[0, 3], x, y, z)


@part("void(f8[:, ::1], i8, f8[:, ::1], i8, f8)")
def slerp_row(a, i, b, j, fraction):
    """b[j] <- the rotation `fraction` of the shorter way from a[i] to b[j]."""
    x, y, z = difference(a, i, b, j)
    for c in range(4):
        b[j, c] = a[i, c]
    turn(b, j, fraction * x, fraction * y, fraction * z)


@kernel(
    "void(f8, f8[::1], f8[:, ::1], f8[:, ::1], f8[::1],"
    " f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])"
)
def ease(fraction, head_a, q_a, goals_a, known, head, q, goals, turns):
    """Replace targets by those `fraction` of the way from `_a` to them.

    `head` and `goals` are laid out as in `Targets`. The positions of `goals_a` are in the frame of
    the root of `_a` already; effectors that are not `known` (k,) there are left alone. Goals are
    blended in the root's frame, so that a body that turns or travels takes them along. `turns`
    (2, 4) is overwritten.
    """
    for e in range(goals.shape[0]):
        goals[e, 3], goals[e, 4], goals[e, 5] = turned(
            q, -1.0, goals[e, 3] - head[0], goals[e, 4] - head[1], goals[e, 5] - head[2]
        )
    for r in range(3):
        head[r] = head_a[r] + fraction * (head[r] - head_a[r])
    for j in range(q.shape[0]):
        slerp_row(q_a, j, q, j, fraction)
    for e in range(goals.shape[0]):
        if known[e] > 0.0:
            for c in range(6):  # the point on the body, and where it should be
                goals[e, c] = goals_a[e, c] + fraction * (goals[e, c] - goals_a[e, c])
            for c in range(4):
                turns[0, c] = goals_a[e, 6 + c]
                turns[1, c] = goals[e, 6 + c]
            slerp_row(turns, 0, turns, 1, fraction)
            for c in range(4):
                goals[e, 6 + c] = turns[1, c]
        x, y, z = turned(q, 1.0, goals[e, 3], goals[e, 4], goals[e, 5])
        goals[e, 3] = head[0] + x
        goals[e, 4] = head[1] + y
        goals[e, 5] = head[2] + z


@kernel(
    "void(f8, f8, f8[::1], f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1], f8[:, ::1],"
    " f8[:, ::1])"
)
def smooth(strength, dt, limits, root, q, last_root, last_q, smooth_root, smooth_q, velocities):
    """Lead a smoothed pose after the measured one, the closer the faster that moves.

    `limits` (4,): the time constant of a body at rest and that of the measured velocity (s), how
    far a rotation (rad) and the root (m) may fall behind, the first and the last two at full
    `strength`. `last_` is the measured pose `dt` seconds ago; `velocities` (n + 1, 3) are those of
    the joints (rad/s, body frames) and of the root (m/s).
    """
    n = q.shape[0]
    renewed = 1.0 - np.exp(-dt / limits[1])
    for j in range(n):
        x, y, z = difference(last_q, j, q, j)
        velocities[j, 0] += renewed * (x / dt - velocities[j, 0])
        velocities[j, 1] += renewed * (y / dt - velocities[j, 1])
        velocities[j, 2] += renewed * (z / dt - velocities[j, 2])
        speed = np.sqrt(velocities[j, 0] ** 2 + velocities[j, 1] ** 2 + velocities[j, 2] ** 2)
        share = 1.0 - np.exp(-dt * (1.0 / limits[0] + speed / limits[2]) / strength)
        x, y, z = difference(smooth_q, j, q, j)
        turn(smooth_q, j, share * x, share * y, share * z)
        for c in range(4):
            last_q[j, c] = q[j, c]
    square = 0.0
    for r in range(3):
        velocities[n, r] += renewed * ((root[r] - last_root[r]) / dt - velocities[n, r])
        square += velocities[n, r] * velocities[n, r]
        last_root[r] = root[r]
    share = 1.0 - np.exp(-dt * (1.0 / limits[0] + np.sqrt(square) / limits[3]) / strength)
    for r in range(3):
        smooth_root[r] += share * (root[r] - smooth_root[r])


# Places in the table of `accept`; the solver's answer may lie elsewhere in every frame.
ROOT, ROTATIONS, RESIDUALS, CONTACTS = range(4)
HINGES, AXES, REST, GOOD_ROOT, GOOD_ROTATIONS, NUMBERS, TOUCHING = range(4, 11)


@kernel("f8(i8)")
def accept(address):
    """Copy a finite pose into the good one; the largest residual (m).

    NUMBERS (3 + 4 n + h,) gets the same as it is published: root, rotations, hinges' angles;
    TOUCHING (c,) says which contact points are more planted than free. Where anything is not
    finite, or a rotation has lost its length, nothing is copied and the answer is -1.
    """
    rows = table_at(address)
    root = vector(rows, ROOT)
    q = matrix(rows, ROTATIONS)
    residuals = vector(rows, RESIDUALS)
    contacts = vector(rows, CONTACTS)
    hinges = index_vector(rows, HINGES)
    axes = matrix(rows, AXES)
    rest = matrix(rows, REST)
    good_root = vector(rows, GOOD_ROOT)
    good_q = matrix(rows, GOOD_ROTATIONS)
    numbers = single_vector(rows, NUMBERS)
    touching = byte_vector(rows, TOUCHING)
    total = 0.0
    for r in range(3):
        total += root[r]
    worst = 0.0
    for e in range(residuals.shape[0]):
        total += residuals[e]
        worst = max(worst, residuals[e])
    if not is_finite(total):
        return -1.0
    for j in range(q.shape[0]):
        square = q[j, 0] * q[j, 0] + q[j, 1] * q[j, 1] + q[j, 2] * q[j, 2] + q[j, 3] * q[j, 3]
        if not np.abs(square - 1.0) < 1e-3:  # NaN is refused too
            return -1.0
    for r in range(3):
        good_root[r] = root[r]
        numbers[r] = root[r]
    n = q.shape[0]
    for j in range(n):
        for c in range(4):
            good_q[j, c] = q[j, c]
            numbers[3 + 4 * j + c] = q[j, c]
    for i in range(contacts.shape[0]):
        touching[i] = contacts[i] > 0.5
    for h in range(hinges.shape[0]):
        j = hinges[h]
        # The body rotation from rest, of which the part along the axis is the hinge's angle.
        ax = -rest[j, 0]
        ay = -rest[j, 1]
        az = -rest[j, 2]
        aw = rest[j, 3]
        x = aw * q[j, 0] + ax * q[j, 3] + ay * q[j, 2] - az * q[j, 1]
        y = aw * q[j, 1] - ax * q[j, 2] + ay * q[j, 3] + az * q[j, 0]
        z = aw * q[j, 2] + ax * q[j, 1] - ay * q[j, 0] + az * q[j, 3]
        w = aw * q[j, 3] - ax * q[j, 0] - ay * q[j, 1] - az * q[j, 2]
        angle = 2.0 * np.arctan2(x * axes[j, 0] + y * axes[j, 1] + z * axes[j, 2], w)
        if angle > np.pi:
            angle -= 2.0 * np.pi
        elif angle < -np.pi:
            angle += 2.0 * np.pi
        numbers[3 + 4 * n + h] = angle
    return worst


@kernel("f8(f8[:, ::1], f8[:, ::1], i8[::1])")
def largest_step(a, b, judged):
    """The largest angle (rad) between a[j] and b[j] over the joints listed in `judged`."""
    smallest = 1.0
    for i in range(judged.shape[0]):
        j = judged[i]
        dot = 0.0
        for r in range(4):
            dot += a[j, r] * b[j, r]
        smallest = min(smallest, abs(dot))
    return 2.0 * np.arccos(smallest)


# No joint but a toe or a finger turns faster than this: 25 degrees between two frames at 120 Hz.
TEAR_RAD_PER_S = 25.0 * np.pi / 180.0 * 120.0

# Places in the table of `keep_untorn`; the performer's pose may lie elsewhere in every frame.
NEW_ROOT, NEW_ROTATIONS, LAST_ROOT, LAST_ROTATIONS, JUDGED = range(5)


@kernel("f8(i8, f8)")
def keep_untorn(address, allowed):
    """The largest step (rad) since the last good pose; the new one is that if it is `allowed`."""
    rows = table_at(address)
    root = vector(rows, NEW_ROOT)
    q = matrix(rows, NEW_ROTATIONS)
    last_root = vector(rows, LAST_ROOT)
    last_q = matrix(rows, LAST_ROTATIONS)
    step = largest_step(last_q, q, index_vector(rows, JUDGED))
    if step <= allowed:
        for r in range(3):
            last_root[r] = root[r]
        for j in range(q.shape[0]):
            for c in range(4):
                last_q[j, c] = q[j, c]
    return step
