"""How a frame begins and ends in every solver: jumps, resets, the base, the report."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix, is_finite, sum_of_sizes
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.body import forward
from understudy.solvers._kernels.easing import stand_still
from understudy.solvers._kernels.frame_layout import (
    BEST,
    CLIPPED,
    DT,
    EASE_S,
    EASED,
    FINITE,
    FRESH,
    HELD,
    KEPT,
    LAST,
    LAST_BASE,
    LAST_GOALS,
    LIMITED,
    MAX_EFFECTOR_SPEED,
    OUT_OF_REACH,
    OUT_OF_REACH_M,
    POSE,
    WANTED,
    WORST,
)
from understudy.solvers._kernels.layout import (
    AXIS,
    BASE,
    BASE_HOLD,
    FREEDOM,
    GOAL,
    GOAL_FLOATS,
    JOINT,
    JUMP,
    POINT,
    POSITION,
    ROTATION,
    STRENGTH,
)
from understudy.solvers._kernels.opening import opened
from understudy.solvers._kernels.posture import carry_over, on_hinge
from understudy.solvers._kernels.stages import place


@part("i8(f8[::1])", inline=True)
def status_of(report):
    """What a report amounts to, as the bits of `Status`."""
    status = 0
    if report[CLIPPED] > 0.0:
        status |= LIMITED
    if report[WORST] > OUT_OF_REACH_M:
        status |= OUT_OF_REACH
    if report[FINITE] == 0.0:
        status |= HELD
    return status


@part("b1(i8[:, ::1])")
def usable(arrays):
    """Whether a frame's numbers can be used: not a NaN or an infinity among them.

    Of one that cannot, nothing is remembered but a jump: the next continues the last good one.
    """
    w = opened(arrays)
    total = w.params[DT] + sum_of_sizes(w.source) + sum_of_sizes(w.goals) + sum_of_sizes(w.extra)
    for i in range(w.head.shape[0]):
        total += abs(w.head[i])
    if is_finite(total):
        return True
    w.report[FINITE] = 0.0
    if w.head[JUMP] != 0.0 and w.report[FRESH] == 0.0:
        w.report[FRESH] = 2.0
    return False


@part("f8(i8[:, ::1], f8[:, ::1], f8[:, ::1], i8)")
def distance(effectors_i, world, goals, f):
    """How far (m) effector f is from its goal in `world`."""
    j = effectors_i[f, JOINT]
    size = 0.0
    for r in range(3):
        at = world[j, POSITION + r]
        for t in range(3):
            at += world[j, ROTATION + 3 * r + t] * goals[f, POINT + t]
        size += (goals[f, GOAL + r] - at) ** 2
    return np.sqrt(size)


@part("void(i8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def go_along(arrays, head, source, goals):
    """world <- the last pose after the performer's own increment, in scratch (BEST).

    A limb whose capture snaps takes its goal with it: that goal has not leapt.
    """
    w = opened(arrays)
    copy_matrix(w.poses[POSE], w.poses[BEST])
    for r in range(3):
        w.roots[BEST, r] = w.roots[POSE, r] + head[r] - w.roots[LAST, r]
    carry_over(w.joints_i, w.joints_f, goals, w.poses[LAST], source, w.poses[BEST])
    forward(w.joints_i, w.joints_f, goals, w.roots[BEST], w.poses[BEST], w.world, w.free)


@part("f8(i8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def begin(arrays, head, source, goals):
    """Keep the last pose, let go of held joints, and find what does not continue the last frame.

    Says how far (m) the farthest goal has gone since the last frame; 0 after a jump.
    """
    w = opened(arrays)
    n = w.joints_i.shape[0]
    k = goals.shape[0]
    q = w.poses[POSE]
    fresh = w.report[FRESH] == 1.0
    copy_matrix(q, w.poses[KEPT])
    for r in range(3):
        w.roots[KEPT, r] = w.roots[POSE, r]
    for j in range(n):
        if w.bound[j] == 2:  # held back in the last frame: free again
            w.bound[j] = 0
        if w.bound[j] == 0:
            for r in range(9):
                w.free[j, r] = 0.0
            w.free[j, 0] = w.free[j, 4] = w.free[j, 8] = 1.0
        else:  # a hinge, whatever a limit has taken from it
            for r in range(3):
                for t in range(3):
                    w.free[j, 3 * r + t] = w.joints_f[j, AXIS + r] * w.joints_f[j, AXIS + t]
    if fresh:  # nothing to continue: start from the performer's own posture
        for j in range(n):
            if w.joints_i[j, FREEDOM] == 0:
                for r in range(4):
                    q[j, r] = source[j, r]
            elif w.joints_i[j, FREEDOM] == 1:
                on_hinge(w.joints_f, j, source, q)
        for r in range(3):
            w.roots[POSE, r] = head[r]
    farthest = 0.0
    if head[JUMP] != 0.0 or w.report[FRESH] != 0.0:
        copy_matrix(source, w.poses[LAST])
        copy_matrix(goals, w.marks[LAST_GOALS])
        for r in range(3):
            w.roots[LAST, r] = head[r]
        if fresh:
            copy_matrix(goals, w.marks[EASED])
            for f in range(k + 1):
                w.ease[0, f] = w.params[EASE_S]
        else:
            copy_matrix(goals, w.marks[WANTED])
            for f in range(k):
                w.marks[WANTED, f, STRENGTH] = 0.0
            place(arrays, w.marks[WANTED])
            for f in range(k + 1):
                w.ease[0, f] = 0.0
    else:
        reach = w.params[MAX_EFFECTOR_SPEED] * w.params[DT]
        predicted = False
        for f in range(k):
            if goals[f, STRENGTH] > 0.0:
                size = 0.0
                for r in range(3):
                    size += (goals[f, GOAL + r] - w.marks[LAST_GOALS, f, GOAL + r]) ** 2
                if size > reach * reach:
                    if not predicted:
                        go_along(arrays, head, source, goals)
                        predicted = True
                    if distance(w.effectors_i, w.world, goals, f) > reach:
                        w.ease[0, f] = 0.0  # no limb moves like that: eased in like a new effector
                        continue
                farthest = max(farthest, size)
    return np.sqrt(farthest)


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def start_goals(effectors_i, world, wanted, ease, last_goals, eased):
    """An effector that is new, or after a jump, starts where it is; its goal has not moved yet."""
    for f in range(wanted.shape[0]):
        if wanted[f, STRENGTH] > 0.0 and ease[0, f] == 0.0:
            stand_still(effectors_i, world, wanted, f, eased)
            for r in range(GOAL_FLOATS):
                last_goals[f, r] = wanted[f, r]


@part("void(f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def hold_base(head, eased, root, world, reached):
    """The stance foot does not slide: what is left of its error, the whole body takes."""
    f = int(head[BASE])
    for r in range(3):
        shift = head[BASE_HOLD] * (eased[f, GOAL + r] - reached[f, r])
        root[r] += shift
        for g in range(reached.shape[0]):
            reached[g, r] += shift
        for j in range(world.shape[0]):
            world[j, r] += shift


@part("i8(i8[:, ::1], i8)")
def finish(arrays, clipped):
    """A pose that is not finite gives way to the last good one; says the frame's status."""
    w = opened(arrays)
    q = w.poses[POSE]
    root = w.roots[POSE]
    if is_finite(root[0] + root[1] + root[2] + sum_of_sizes(q)):
        w.report[FINITE] = 1.0
    else:
        w.report[FINITE] = 0.0
        w.report[LAST_BASE] = -1.0
        copy_matrix(w.poses[KEPT], q)
        for r in range(3):
            root[r] = w.roots[KEPT, r]
    w.report[FRESH] = 0.0
    w.report[CLIPPED] = clipped
    w.report[WORST] = 0.0
    for f in range(w.goals.shape[0]):
        size = 0.0
        if w.goals[f, STRENGTH] > 0.0:
            for r in range(3):
                part = 0.0
                for t in range(3):
                    part += w.effectors_f[f, 3 * r + t] * (w.goals[f, GOAL + t] - w.reached[f, t])
                size += part * part
        w.ease[1, f] = np.sqrt(size)
        w.report[WORST] = max(w.report[WORST], w.ease[1, f])
    return status_of(w.report)
