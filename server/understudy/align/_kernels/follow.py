"""One frame of a performer to the character's targets, in a single call.

The arrays come in one table (`kinematics.tables`); their places are named here.
"""

from __future__ import annotations

from understudy.align._kernels.goals import FLOOR, STARTED, set_goals
from understudy.align._kernels.hands import FIRST_HAND, hold_hands
from understudy.align._kernels.transfer import SOURCE_HEIGHT, transfer
from understudy.kinematics._kernels import forward
from understudy.kinematics.compiled import kernel
from understudy.kinematics.tables import (
    cube,
    index_matrix,
    index_vector,
    matrix,
    table_at,
    vector,
)

# The performer's pose comes first: it may lie elsewhere in every frame.
SOURCE_ROOT, SOURCE_Q = range(2)
SOURCE_PARENTS, SOURCE_OFFSETS, SOURCE_POSITIONS, SOURCE_ROTATIONS = range(2, 6)
LINKS, CONSTANTS, SOURCE_LEGS, BODY, TWIST, SOURCE_WORLD, WORLD = range(6, 13)
TARGET_PARENTS, TARGET_OFFSETS, TARGET_POSITIONS, TARGET_ROTATIONS = range(13, 17)
SOURCE_JOINTS, SOURCE_POINTS, TARGET_JOINTS, TARGET_POINTS, SOLE = range(17, 22)
SETTINGS, GOAL_CONSTANTS, CONTACT_STATE, FEET, MEMORY, POINTS = range(22, 28)
HEAD, TARGET_Q, GOALS, CONTACTS = range(28, 32)
SOURCE_PALMS, TARGET_PALMS, HAND_SETTINGS, HAND_CONTACTS, HANDS = range(32, 37)
HAND_FLOOR, PALMS = range(37, 39)
HIPS, REST_HEIGHT = range(39, 41)


@kernel("i8(i8, f8, i8)")
def follow(address, dt, jump):
    """Fill head, rotations, goals and contacts of the targets from the performer's pose.

    HIPS (1,) is the character's joint; REST_HEIGHT (1,) m is the height of the performer's ankles
    over a floor at zero, to which the floor believed in so far is added.
    """
    rows = table_at(address)
    hips = index_vector(rows, HIPS)[0]
    source_root = vector(rows, SOURCE_ROOT)
    source_q = matrix(rows, SOURCE_Q)
    source_positions = matrix(rows, SOURCE_POSITIONS)
    source_rotations = cube(rows, SOURCE_ROTATIONS)
    body = vector(rows, BODY)
    world = matrix(rows, WORLD)
    target_positions = matrix(rows, TARGET_POSITIONS)
    target_rotations = cube(rows, TARGET_ROTATIONS)
    memory = vector(rows, MEMORY)
    head = vector(rows, HEAD)
    target_q = matrix(rows, TARGET_Q)
    body[SOURCE_HEIGHT] = vector(rows, REST_HEIGHT)[0] + memory[FLOOR]
    source_parents = index_vector(rows, SOURCE_PARENTS)
    forward(
        source_parents, matrix(rows, SOURCE_OFFSETS), source_root, source_q,
        source_positions, source_rotations,
    )  # fmt: skip
    transfer(
        source_parents, source_q, source_positions, index_matrix(rows, LINKS),
        matrix(rows, CONSTANTS), index_matrix(rows, SOURCE_LEGS), body, hips,
        vector(rows, TWIST), matrix(rows, SOURCE_WORLD), world, target_q, head[:3],
    )  # fmt: skip
    forward(
        index_vector(rows, TARGET_PARENTS), matrix(rows, TARGET_OFFSETS), head, target_q,
        target_positions, target_rotations,
    )  # fmt: skip
    head[5] = jump
    begin = jump != 0 or memory[STARTED] == 0.0
    source_joints = index_vector(rows, SOURCE_JOINTS)
    constants = vector(rows, GOAL_CONSTANTS)
    goals = matrix(rows, GOALS)
    contacts = vector(rows, CONTACTS)
    set_goals(
        source_positions, source_rotations,
        source_joints, matrix(rows, SOURCE_POINTS),
        world, target_positions, target_rotations,
        index_vector(rows, TARGET_JOINTS), matrix(rows, TARGET_POINTS),
        vector(rows, SOLE), dt, jump, vector(rows, SETTINGS), constants,
        matrix(rows, CONTACT_STATE), matrix(rows, FEET), memory, matrix(rows, POINTS),
        head, goals, contacts,
    )  # fmt: skip
    if contacts.shape[0] > FIRST_HAND:
        hold_hands(
            source_positions, source_rotations, source_joints,
            matrix(rows, SOURCE_PALMS), matrix(rows, TARGET_PALMS), memory[FLOOR], dt, begin,
            vector(rows, HAND_SETTINGS), constants, matrix(rows, HAND_CONTACTS),
            matrix(rows, HANDS), vector(rows, HAND_FLOOR), matrix(rows, PALMS), head, goals,
            contacts,
        )  # fmt: skip
    return 0
