"""The pace of the joints: a character's joint turns little faster than the performer's own.

A leg near full stretch bends far for a short way of its goal, and a goal that comes back into reach
bends a straight limb at once. What a joint may not turn in one frame it turns in the next ones; the
limb is late by that much, and a foot that stands is never late.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.kinematics._kernels import difference, turn
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.frame_layout import DT, KEPT, LAST, MAX_JOINT_LEAD, POSE
from understudy.solvers._kernels.layout import EXACT, JOINT, LIMITED, PARENT, PLANTED
from understudy.solvers._kernels.limits import project

# steps (n, 3): how far each joint of the performer's turned in this frame and the two before it,
# as the squared sine of half the angle.
STEPS: Final = 3

# How many times as far as the performer's a joint may turn; the rest of what it may is a lead.
FACTOR: Final = 1.5


@part("void(f8[:, :, ::1], f8[:, ::1], b1, f8[:, ::1])", inline=True)
def note_steps(poses, source, restart, steps):
    """steps <- the performer's turns up to this frame; a new beginning has none."""
    last = poses[LAST]
    for j in range(source.shape[0]):
        dot = 0.0
        for r in range(4):
            dot += last[j, r] * source[j, r]
        steps[j, 2] = steps[j, 1]
        steps[j, 1] = steps[j, 0]
        steps[j, 0] = 0.0 if restart else max(0.0, 1.0 - dot * dot)


@part("f8(i8[:, ::1], i8[:, ::1], f8[:, ::1], i8)")
def carries_planted(joints_i, effectors_i, goals, j):
    """How firmly the firmest of what hangs on joint j is planted, 0 to 1."""
    firmest = 0.0
    for f in range(goals.shape[0]):
        if goals[f, PLANTED] > firmest:
            i = effectors_i[f, JOINT]
            while i > j:
                i = joints_i[i, PARENT]
            if i == j:
                firmest = goals[f, PLANTED]
    return firmest


@part(
    "i8(i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, :, ::1],"
    " f8[:, ::1])"
)
def keep_pace(joints_i, joints_f, effectors_i, goals, params, steps, poses, free):
    """Take back what joints of POSE turned too far since KEPT; says how many did."""
    q = poses[POSE]
    kept = poses[KEPT]
    lead = params[MAX_JOINT_LEAD] * params[DT]
    slow = np.sin(0.5 * min(lead, np.pi)) ** 2
    late = 0
    for j in range(q.shape[0]):
        dot = 0.0
        for r in range(4):
            dot += kept[j, r] * q[j, r]
        if 1.0 - dot * dot <= slow or joints_i[j, EXACT] >= 0:
            continue
        own = max(steps[j, 0], max(steps[j, 1], steps[j, 2]))
        allowed = FACTOR * 2.0 * np.arcsin(np.sqrt(min(own, 1.0))) + lead
        x, y, z = difference(kept, j, q, j)
        size = np.sqrt(x * x + y * y + z * z)
        if size <= allowed:
            continue
        firm = carries_planted(joints_i, effectors_i, goals, j)
        if firm == 1.0:
            continue
        share = firm + (1.0 - firm) * allowed / size
        for r in range(4):
            q[j, r] = kept[j, r]
        turn(q, j, share * x, share * y, share * z)
        if joints_i[j, LIMITED] == 1:
            project(joints_f, j, q, free)
        late += 1
    return late
