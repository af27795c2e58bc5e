"""The base: an effector that stands exactly where it must, by moving the whole body."""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import product, turn
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.body import turn_error
from understudy.solvers._kernels.layout import EXACT, GOAL, JOINT, PARENT, TURN
from understudy.solvers._kernels.rows import keeps_its_turn

# base (9,): the effector, then what it kept of its own place when it became the base: a translation
# (m) and a rotation x, y, z, w on top of the goal's; and how long ago that was (s).
BASE_AGE = 8
BASE_FLOATS = 9


@part("b1(i8[:, ::1], i8[:, ::1], f8[:, ::1], i8)")
def can_turn_the_body(joints_i, effectors_i, goals, f):
    """Whether effector f turns with the root: no joint on the way keeps its turn by itself."""
    j = effectors_i[f, JOINT]
    if joints_i[j, EXACT] == f:
        return False
    while j >= 0:
        if keeps_its_turn(joints_i, goals, j):
            return False
        j = joints_i[j, PARENT]
    return True


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def seat(effectors_i, goals, world, base, root, q, reached):
    """Move the whole body rigidly so that the base stands where it must: its error becomes zero."""
    f = int(base[0])
    j = effectors_i[f, JOINT]
    # The wanted orientation: kept * goal.
    x, y, z, w = product(
        base[4], base[5], base[6], base[7],
        goals[f, TURN], goals[f, TURN + 1], goals[f, TURN + 2], goals[f, TURN + 3],
    )  # fmt: skip
    x, y, z = turn_error(x, y, z, w, world, j)
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


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])")
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
    base[BASE_AGE] = 0.0


@part("void(f8[::1], f8)")
def let_go(base, gain):
    """Shrink what the base kept of its own place by `gain`, 0 to 1: it goes over to its goal."""
    for r in range(1, 4):
        base[r] *= 1.0 - gain
    sine = np.sqrt(base[4] * base[4] + base[5] * base[5] + base[6] * base[6])
    if sine > 0.0:
        half = (1.0 - gain) * np.arctan2(sine, base[7])
        k = np.sin(half) / sine
        base[4] *= k
        base[5] *= k
        base[6] *= k
        base[7] = np.cos(half)
