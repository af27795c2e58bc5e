"""Hands that rest on something, compiled: seen as feet are, and held where they are.

Only for performers who crawl, lean or turn cartwheels: for everyone else a hand's place relative to
the shoulder counts more than its place in the world.
"""

from __future__ import annotations

import numpy as np

from understudy.align._kernels.contacts import GROUND, RAMP, detect, start
from understudy.align._kernels.goals import (
    LEFT_HAND,
    LEG,
    PAY_S,
    PAY_SHARE,
    SCALE,
    smooth,
    turned,
)
from understudy.kinematics.compiled import part

# hands (2, 6): state of a hand
OFFSET = 0  # 3: m, from where the shoulder would have it
LAST = 3  # 3: m, where the shoulder had it in the last frame
HAND_STATE = 6

# The first contact that is a hand's.
FIRST_HAND = 4
# A hand is held this far from where the shoulder would have it at the most, in parts of the leg.
FARTHEST = 0.6
# A palm that rests on the floor is this far above it, in parts of the leg's scale.
PALM_M = 0.02


@part(
    "void(f8[:, ::1], f8[:, :, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8, i8, f8[::1],"
    " f8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1])"
)
def hold_hands(
    source_positions, source_rotations, source_joints, source_palms, target_palms,
    floor, dt, begin, settings, constants, state, hands, scratch, points, head, goals, contacts,
):  # fmt: skip
    """Hold the palms of hands at rest; `goals` are those of `set_goals`, `contacts` has two more.

    `source_palms` and `target_palms` (2, 3) m are in the hands' frames, `floor` (m) is where the
    feet have found it; a body that no foot carries is moved along with its hands, by `head`.
    `state` (2, POINT_STATE), `hands` (2, HAND_STATE), `points` (2, 3) and
    `scratch` (1,) are this function's own.
    """
    for f in range(2):
        hand = source_joints[f]
        for r in range(3):
            points[f, r] = source_positions[hand, r] + (
                source_rotations[hand, r, 0] * source_palms[f, 0]
                + source_rotations[hand, r, 1] * source_palms[f, 1]
                + source_rotations[hand, r, 2] * source_palms[f, 2]
            )
    if begin != 0:
        start(points, state, scratch)
    scratch[0] = floor  # hands do not tell where the floor is
    if begin == 0:
        detect(points, -1e9, dt, settings, state, scratch)
    standing = max(max(contacts[0], contacts[1]), max(contacts[2], contacts[3]))
    for f in range(2):
        row = LEFT_HAND + f
        w = smooth(state[f, RAMP])
        contacts[FIRST_HAND + f] = w
        goals[row, 11] = w
        px, py, pz = turned(
            goals, row, 6, target_palms[f, 0] - goals[row, 0], target_palms[f, 1] - goals[row, 1],
            target_palms[f, 2] - goals[row, 2],
        )  # fmt: skip
        x = goals[row, 3] + px
        y = goals[row, 4] + py
        z = goals[row, 5] + pz
        if begin != 0:
            for r in range(3):
                hands[f, OFFSET + r] = 0.0
        else:
            dx = x - hands[f, LAST]
            dy = y - hands[f, LAST + 1]
            dz = z - hands[f, LAST + 2]
            size = np.sqrt(
                hands[f, OFFSET] ** 2 + hands[f, OFFSET + 1] ** 2 + hands[f, OFFSET + 2] ** 2
            )
            far = size / (FARTHEST * constants[LEG])
            hold = w * min(max(1.0 - (far - 0.6) / 0.4, 0.0), 1.0)
            hands[f, OFFSET] -= hold * dx
            hands[f, OFFSET + 1] -= hold * dy
            hands[f, OFFSET + 2] -= hold * dz
            if size > 1e-9:
                moved = np.sqrt(dx * dx + dy * dy + dz * dz)
                pay = (1.0 - w) * (PAY_SHARE * moved + size * (1.0 - np.exp(-dt / PAY_S)))
                keep = max(0.0, 1.0 - pay / size)
                for r in range(3):
                    hands[f, OFFSET + r] *= keep
        hands[f, LAST] = x
        hands[f, LAST + 1] = y
        hands[f, LAST + 2] = z
        # While it rests the palm is what is held; a free hand is led by its wrist.
        goals[row, 3] += w * px + hands[f, OFFSET]
        goals[row, 4] += w * py + hands[f, OFFSET + 1]
        goals[row, 5] += w * pz + hands[f, OFFSET + 2]
        for r in range(3):
            goals[row, r] += w * (target_palms[f, r] - goals[row, r])
        # On the floor it is as high as the performer's, by the legs: arms of another length would
        # end above or below it.
        high = constants[SCALE] * max(points[f, 1] - floor, PALM_M)
        rise = smooth(state[f, GROUND]) * (high - goals[row, 4])
        goals[row, 4] += rise
        # Who stands on no foot is carried by the hands.
        carried = 0.5 * w * (1.0 - standing)
        head[0] += carried * hands[f, OFFSET]
        head[1] += carried * (hands[f, OFFSET + 1] + rise)
        head[2] += carried * hands[f, OFFSET + 2]
