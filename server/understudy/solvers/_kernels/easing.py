"""Gains and goals after a jump or for a new effector: what is missing is made up smoothly."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import copy_matrix, product, put_row
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.body import turn_error
from understudy.solvers._kernels.frame_layout import EASE_GAIN, EASE_S, K1, MAX_EFFECTOR_SPEED
from understudy.solvers._kernels.layout import (
    FARTHEST,
    GOAL,
    JOINT,
    PLANTED,
    POINT,
    POSITION,
    ROTATION,
    STRENGTH,
    TURN,
)


@part("f8(f8, f8)", inline=True)
def gain_over(gain, dt):
    """What a gain per 1/30 s amounts to over dt seconds."""
    if gain >= 1.0:
        return 1.0
    return 1.0 - (1.0 - gain) ** (30.0 * dt)


@part("f8(f8, f8[::1])", inline=True)
def ramp(age, params):
    """The factor on a gain, `age` seconds after a jump or an effector's first frame."""
    if age >= params[EASE_S]:
        return 1.0
    x = age / params[EASE_S]
    return params[EASE_GAIN] + (1.0 - params[EASE_GAIN]) * x * x * (3.0 - 2.0 * x)


@part("void(f8[:, ::1], i8, f8[:, ::1], i8, f8, f8[:, ::1], i8, i8)")
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


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], i8, f8[:, ::1])")
def stand_still(effectors_i, world, goals, f, eased):
    """eased[f] <- where effector f is in `world`, and how it is turned: a new way begins here."""
    j = effectors_i[f, JOINT]
    for r in range(3):
        eased[f, GOAL + r] = (
            world[j, POSITION + r]
            + world[j, ROTATION + 3 * r] * goals[f, POINT]
            + world[j, ROTATION + 3 * r + 1] * goals[f, POINT + 1]
            + world[j, ROTATION + 3 * r + 2] * goals[f, POINT + 2]
        )
    gx = goals[f, TURN]
    gy = goals[f, TURN + 1]
    gz = goals[f, TURN + 2]
    gw = goals[f, TURN + 3]
    x, y, z = turn_error(gx, gy, gz, gw, world, j)
    # exp(-w) goal is the joint's own orientation
    angle = np.sqrt(x * x + y * y + z * z)
    k = -0.5 if angle < 1e-9 else -np.sin(0.5 * angle) / angle
    x, y, z, w = product(k * x, k * y, k * z, np.cos(0.5 * angle), gx, gy, gz, gw)
    put_row(eased, f, TURN, x, y, z, w)


@part("void(f8[:, ::1], f8[:, ::1], i8, f8[:, ::1])")
def carry_turn(goals, last_goals, f, eased):
    """eased's turn <- eased last_goals^-1 goals: what it lacked of the last goal, of this one."""
    t = TURN
    x, y, z, w = product(
        eased[f, t], eased[f, t + 1], eased[f, t + 2], eased[f, t + 3],
        -last_goals[f, t], -last_goals[f, t + 1], -last_goals[f, t + 2], last_goals[f, t + 3],
    )  # fmt: skip
    x, y, z, w = product(x, y, z, w, goals[f, t], goals[f, t + 1], goals[f, t + 2], goals[f, t + 3])
    put_row(eased, f, t, x, y, z, w)


@part("i8(f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8, f8[:, ::1])", inline=True)
def ease_goals(params, ease, goals, last_goals, dt, gain, eased):
    """eased <- goals, short of them by what is left of an old discrepancy.

    The discrepancy (last goal minus last eased goal) shrinks by the gain in each frame, whatever
    the goal does meanwhile: e[n] = (1 - K1) e[n-1] (equation 13). Says whether any is left.
    """
    short = 0
    for f in range(goals.shape[0]):
        eased[f, STRENGTH] = goals[f, STRENGTH]
        eased[f, PLANTED] = goals[f, PLANTED]
        for r in range(3):
            eased[f, POINT + r] = goals[f, POINT + r]
        if goals[f, STRENGTH] <= 0.0:  # not followed; a base that is eliminated stands here
            for r in range(GOAL, STRENGTH):
                eased[f, r] = goals[f, r]
            ease[0, f] = 0.0
            continue
        k = gain_over(params[K1] * gain * ramp(ease[0, f], params), dt)
        ease[0, f] += dt
        dx = last_goals[f, GOAL] - eased[f, GOAL]
        dy = last_goals[f, GOAL + 1] - eased[f, GOAL + 1]
        dz = last_goals[f, GOAL + 2] - eased[f, GOAL + 2]
        size = np.sqrt(dx * dx + dy * dy + dz * dz)
        left = 1.0 - k
        if k * size > params[MAX_EFFECTOR_SPEED] * dt:
            left = 1.0 - params[MAX_EFFECTOR_SPEED] * dt / size
        if size * left < 1e-9:
            left = 0.0
        eased[f, GOAL] = goals[f, GOAL] - left * dx
        eased[f, GOAL + 1] = goals[f, GOAL + 1] - left * dy
        eased[f, GOAL + 2] = goals[f, GOAL + 2] - left * dz
        if left > 0.0:
            short = 1
        if k < 1.0:
            carry_turn(goals, last_goals, f, eased)
            blend(eased, f, goals, f, k, eased, f, TURN)
            short = 1
        else:
            for r in range(4):
                eased[f, TURN + r] = goals[f, TURN + r]
    return short


@part("void(f8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def aim(effectors_f, head, goals, aimed):
    """aimed <- goals; one far beyond any reach from the root's place becomes one just beyond it.

    The body leans the same way, and need not come back from a hundred metres.
    """
    copy_matrix(goals, aimed)
    for f in range(goals.shape[0]):
        dx = goals[f, GOAL] - head[0]
        dy = goals[f, GOAL + 1] - head[1]
        dz = goals[f, GOAL + 2] - head[2]
        size = dx * dx + dy * dy + dz * dz
        if size > effectors_f[f, FARTHEST] ** 2:
            share = effectors_f[f, FARTHEST] / np.sqrt(size)
            aimed[f, GOAL] = head[0] + share * dx
            aimed[f, GOAL + 1] = head[1] + share * dy
            aimed[f, GOAL + 2] = head[2] + share * dz
