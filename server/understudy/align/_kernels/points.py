"""Measured points as goals of the body that carries them, compiled."""

from __future__ import annotations

from understudy.align._kernels.goals import smooth
from understudy.kinematics.compiled import kernel

# state (k, 4): the last measured discrepancy, then how much it counts
COUNTS = 3
STATE = 4


@kernel(
    "void(f8[:, ::1], f8[:, :, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8, f8, f8, b1,"
    " f8[:, ::1], f8[:, ::1])"
)
def set_point_goals(
    positions, rotations, joints, offsets, measured, dt, ease_s, farthest, jump, state, goals
):
    """goals (k, 12) <- each point's place in its joint, its goal and its strength.

    A point's goal is where the angles put it, plus how far it was from there when it was last seen.
    One that is not seen, or farther than `farthest` from where the angles put it, loses its
    strength over `ease_s` seconds, and gains it again in the same time; after a jump, at once.
    """
    for f in range(joints.shape[0]):
        j = joints[f]
        square = 0.0
        for r in range(3):
            place = positions[j, r]
            for c in range(3):
                place += rotations[j, r, c] * offsets[f, c]
            goals[f, r] = offsets[f, r]
            goals[f, 3 + r] = place
            square += (measured[f, r] - place) ** 2
        seen = square <= farthest * farthest  # NaN is not
        if seen:
            for r in range(3):
                state[f, r] = measured[f, r] - goals[f, 3 + r]
        if jump:
            state[f, COUNTS] = 1.0 if seen else 0.0
        else:
            step = dt / ease_s
            state[f, COUNTS] += step if seen else -step
            state[f, COUNTS] = min(max(state[f, COUNTS], 0.0), 1.0)
        goals[f, 10] = smooth(state[f, COUNTS])
        if state[f, COUNTS] > 0.0:
            for r in range(3):
                goals[f, 3 + r] += state[f, r]
