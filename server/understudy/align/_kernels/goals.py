"""From the performer's limbs to the character's goals, compiled.

A foot's place on the floor is never stored. Each foot carries a planar offset and a yaw offset
that are integrated at velocity level: while a point is planted they cancel its motion, so that the
goal stands still exactly; while the foot moves anyway they are paid back. Nothing ever jumps.
"""

from __future__ import annotations

import numpy as np

from understudy.align._kernels.contacts import GROUND, PLANTED, RAMP, detect, start
from understudy.kinematics.compiled import part

# constants (11,)
SCALE = 0  # of heights, target over source leg
STRIDE = 1  # of the way over the floor: SCALE, or 1 for steps as the performer made them
LEG = 2  # m, the character's thigh and shin
ARM_LEFT = 3
ARM_RIGHT = 4
LOCK = 5  # 1 if planted feet are held
LARGEST_OFFSET = 6  # m
FOLDED = 7  # m from hip to ankle with the knee fully bent
WIDER = 8  # how much farther out each foot stands than scaled, as a share of the hips' width
LONGER = 9  # how much longer each foot is than scaled, as a share of its own length
POSTURE = 10  # 0 to 1, how far hands are where the copied arms have them
CONSTANTS = 11

# feet (2, 11): state of a foot
OFFSET_X = 0
OFFSET_Z = 1
YAW = 2  # rad
FLAT = 3  # 0 to 1, how long both points have been planted
LAST_TOE_X = 4
LAST_TOE_Z = 5
LAST_HEEL_X = 6
LAST_HEEL_Z = 7
LAST_HEADING = 8
SIDE_X = 9  # m, how far the toe is from the performer's scaled one
SIDE_Z = 10
FOOT_STATE = 11

# memory (3,)
FLOOR = 0
BASE_FOOT = 1
STARTED = 2
MEMORY = 3

# rows of the effectors
LEFT_HAND = 0
LEFT_FOOT = 2

SOFT_M = 0.004  # two sole points this near in height share the floor
LARGEST_YAW = 0.35
FLAT_WITHIN = 0.22  # rad
FLAT_S = 0.1
PAY_SHARE = 0.25  # of the foot's own motion
PAY_S = 0.3
SIDE_S = 0.1
# Parts of a leg: a foot below the first stands in the performer's footprints, scaled; one above
# the second is where the copied posture has it.
AIR_FROM = 0.03
AIR_TO = 0.3
REACH_FROM = 0.97  # of the leg
REACH_TO = 0.9995
FOLD_FROM = 1.2  # times the folded leg


@part("f8(f8)")
def smooth(x):
    """The smooth step from 0 to 1."""
    return x * x * (3.0 - 2.0 * x)


@part("f8(f8, f8, f8)")
def soft_min(a, b, width):
    """The lower of two heights; exact where they are equal, smooth in between."""
    return 0.5 * (a + b - np.sqrt((a - b) ** 2 + width * width) + width)


@part("UniTuple(f8, 3)(f8[:, ::1], i8, i8, f8, f8, f8)")
def turned(q, j, at, x, y, z):
    """The vector (x, y, z) turned by the quaternion q[j, at:at+4]."""
    u = q[j, at]
    v = q[j, at + 1]
    t = q[j, at + 2]
    w = q[j, at + 3]
    cx = 2.0 * (v * z - t * y)
    cy = 2.0 * (t * x - u * z)
    cz = 2.0 * (u * y - v * x)
    return x + w * cx + v * cz - t * cy, y + w * cy + t * cx - u * cz, z + w * cz + u * cy - v * cx


@part("void(f8[:, ::1], i8, f8, f8, f8, f8[:, ::1], i8)")
def pre_turn(q, j, x, y, z, goals, i):
    """goals[i, 6:10] <- exp(x, y, z) q[j]: turned further in the world, rad."""
    angle = np.sqrt(x * x + y * y + z * z)
    k = 0.5 if angle < 1e-9 else np.sin(0.5 * angle) / angle
    c = np.cos(0.5 * angle)
    ax = k * x
    ay = k * y
    az = k * z
    bx = q[j, 0]
    by = q[j, 1]
    bz = q[j, 2]
    bw = q[j, 3]
    goals[i, 6] = c * bx + ax * bw + ay * bz - az * by
    goals[i, 7] = c * by - ax * bz + ay * bw + az * bx
    goals[i, 8] = c * bz + ax * by - ay * bx + az * bw
    goals[i, 9] = c * bw - ax * bx - ay * by - az * bz


@part(
    "void(f8[:, ::1], f8[:, :, ::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, :, ::1],"
    " i8[::1], f8[:, ::1], f8[::1], f8, i8, f8[::1], f8[::1], f8[:, ::1], f8[:, ::1],"
    " f8[::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1])"
)
def set_goals(
    source_positions, source_rotations, source_joints, source_points,
    target_world, target_positions, target_rotations, target_joints, target_points,
    sole, dt, jump, settings, constants, contact_state, feet,
    memory, points, head, goals, contacts,
):  # fmt: skip
    """Goals of hands and feet, the root's shift, the base and the contacts of one frame.

    Source: world positions (n_s, 3) and rotations (n_s, 3, 3). `source_joints` and
    `target_joints` (9,): hands, upper arms, feet, upper legs (left, right each), and hips;
    `source_points` and `target_points` (6, 3): wrists, toes, heels, left and right each, in
    the frames of their hands and feet. `target_world` (n_t, 4), `target_positions` and
    `target_rotations` are the copied posture's. `sole` (2,): how high the toe point of a flat
    foot is above the floor, source and target, m.
    """
    for i in range(4):  # left toe, left heel, right toe, right heel
        foot = source_joints[4 + i // 2]
        row = 2 + 2 * (i % 2) + i // 2
        for r in range(3):
            points[i, r] = source_positions[foot, r] + (
                source_rotations[foot, r, 0] * source_points[row, 0]
                + source_rotations[foot, r, 1] * source_points[row, 1]
                + source_rotations[foot, r, 2] * source_points[row, 2]
            )
        if i % 2 == 0:
            points[i, 1] -= sole[0]
    believed = memory[FLOOR]  # the floor from which the copied posture was raised
    begin = jump != 0 or memory[STARTED] == 0.0
    if begin:
        start(points, contact_state, memory)
        memory[STARTED] = 1.0
        memory[BASE_FOOT] = -1.0
        for f in range(2):
            for r in range(FOOT_STATE):
                feet[f, r] = 0.0
    else:
        detect(points, source_positions[source_joints[8], 1], dt, settings, contact_state, memory)
    floor = memory[FLOOR]
    scale = constants[SCALE]
    stride = constants[STRIDE]
    shift_x = 0.0
    shift_y = -scale * (floor - believed)
    shift_z = 0.0
    # Steps as the performer made them: the root goes the performer's way too.
    left = source_joints[6]
    right = source_joints[7]
    more = 0.5 * (stride - scale)
    way_x = more * (source_positions[left, 0] + source_positions[right, 0])
    way_z = more * (source_positions[left, 2] + source_positions[right, 2])
    # Hips of another width stand on footprints of another width, along the line of the hips.
    left = target_joints[6]
    right = target_joints[7]
    across_x = constants[WIDER] * (target_positions[left, 0] - target_positions[right, 0])
    across_z = constants[WIDER] * (target_positions[left, 2] - target_positions[right, 2])
    holds_left = 0.0
    holds_right = 0.0
    for f in range(2):
        toe = 2 * f
        heel = 2 * f + 1
        ramp_t = smooth(contact_state[toe, RAMP])
        ramp_h = smooth(contact_state[heel, RAMP])
        contacts[toe] = ramp_t
        contacts[heel] = ramp_h
        if constants[LOCK] == 0.0:
            ramp_t = 0.0
            ramp_h = 0.0
        w_t = ramp_t
        w_h = ramp_h * (1.0 - ramp_t)
        w = w_t + w_h
        row = LEFT_FOOT + f
        foot = target_joints[4 + f]
        tx = target_points[2 + f, 0]
        ty = target_points[2 + f, 1]
        tz = target_points[2 + f, 2]
        hx = target_points[4 + f, 0] - tx
        hy = target_points[4 + f, 1] - ty
        hz = target_points[4 + f, 2] - tz
        # The performer's orientation of the foot, with this foot's yaw offset on top.
        bx, by, bz = turned(target_world, foot, 0, hx, hy, hz)  # toe to heel
        heading = np.arctan2(-bx, -bz)
        if begin:
            feet[f, LAST_HEADING] = heading
        swing = heading - feet[f, LAST_HEADING]
        swing -= 2.0 * np.pi * np.round(swing / (2.0 * np.pi))
        both = ramp_t * ramp_h
        room = max(0.0, 1.0 - max(0.0, abs(feet[f, YAW]) / LARGEST_YAW - 0.6) / 0.4)
        feet[f, YAW] -= both * room * swing
        pay = (1.0 - both) * (
            PAY_SHARE * abs(swing) + abs(feet[f, YAW]) * (1.0 - np.exp(-dt / PAY_S))
        )
        if pay > 0.0:
            feet[f, YAW] *= max(0.0, 1.0 - pay / max(abs(feet[f, YAW]), 1e-12))
        feet[f, LAST_HEADING] = heading
        # Flat on the floor: the pitch is taken away, the more the smaller it is.
        if contact_state[toe, PLANTED] == 1.0 and contact_state[heel, PLANTED] == 1.0:
            feet[f, FLAT] = min(1.0, feet[f, FLAT] + dt / FLAT_S)
        else:
            feet[f, FLAT] = max(0.0, feet[f, FLAT] - dt / FLAT_S)
        # The heel-to-toe line of a flat foot falls by the toe's own height; elevation beyond it.
        reach = np.sqrt(bx * bx + by * by + bz * bz)
        pitch = 0.0
        if reach > 1e-6:
            pitch = np.arcsin(min(max(-by / reach, -1.0), 1.0)) - np.arcsin(
                min(max(sole[1] / reach, -1.0), 1.0)
            )
        level = 0.0
        if constants[LOCK] != 0.0 and abs(pitch) < FLAT_WITHIN:
            level = pitch * (1.0 - (pitch / FLAT_WITHIN) ** 2) ** 2 * smooth(feet[f, FLAT])
        flat_length = np.sqrt(bx * bx + bz * bz)
        ux = 0.0
        uz = 0.0
        if flat_length > 1e-6:  # the axis across the foot: up x forward
            ux = -bz / flat_length
            uz = bx / flat_length
        pre_turn(target_world, foot, level * ux, 0.0, level * uz, goals, row)
        yaw_c = np.cos(0.5 * feet[f, YAW])
        yaw_s = np.sin(0.5 * feet[f, YAW])
        x = goals[row, 6]
        y = goals[row, 7]
        z = goals[row, 8]
        v = goals[row, 9]
        goals[row, 6] = yaw_c * x + yaw_s * z
        goals[row, 7] = yaw_c * y + yaw_s * v
        goals[row, 8] = yaw_c * z - yaw_s * x
        goals[row, 9] = yaw_c * v - yaw_s * y
        # Toe and heel of the character where the performer's are, over the floor by the stride.
        bx, by, bz = turned(goals, row, 6, hx, hy, hz)
        # A footprint stays where it is while its foot is planted, however the hips turn over it.
        out = 1.0 if f == 0 else -1.0
        clear = scale * (soft_min(points[toe, 1], points[heel, 1], SOFT_M) - floor)
        air = min(max((clear / constants[LEG] - AIR_FROM) / (AIR_TO - AIR_FROM), 0.0), 1.0)
        air = smooth(air)
        aside = 1.0
        if not begin:
            aside = (1.0 - w) * max(air, 1.0 - np.exp(-dt / SIDE_S))
        # A longer foot has its ankle, not its toe, below the hips as the performer's is.
        ahead_x = -constants[LONGER] * bx
        ahead_z = -constants[LONGER] * bz
        feet[f, SIDE_X] += aside * (out * across_x + ahead_x - feet[f, SIDE_X])
        feet[f, SIDE_Z] += aside * (out * across_z + ahead_z - feet[f, SIDE_Z])
        toe_x = stride * points[toe, 0] + feet[f, SIDE_X]
        toe_z = stride * points[toe, 2] + feet[f, SIDE_Z]
        # In the air the posture counts: a foot drawn up, or of another size, would pull the hips.
        ax, ay, az = turned(goals, row, 6, tx, ty, tz)
        toe_x += air * (target_positions[foot, 0] + way_x + ax - toe_x)
        toe_z += air * (target_positions[foot, 2] + way_z + az - toe_z)
        heel_x = toe_x + bx
        heel_z = toe_z + bz
        if begin:
            feet[f, LAST_TOE_X] = toe_x
            feet[f, LAST_TOE_Z] = toe_z
            feet[f, LAST_HEEL_X] = heel_x
            feet[f, LAST_HEEL_Z] = heel_z
        # Where the posture is copied, feet of another size and hips of another width go astray.
        largest = constants[LARGEST_OFFSET] * (1.0 + air)
        size = np.sqrt(feet[f, OFFSET_X] ** 2 + feet[f, OFFSET_Z] ** 2)
        fade = min(max(1.0 - (size / largest - 0.6) / 0.4, 0.0), 1.0)
        toe_dx = toe_x - feet[f, LAST_TOE_X]
        toe_dz = toe_z - feet[f, LAST_TOE_Z]
        feet[f, OFFSET_X] -= fade * (w_t * toe_dx + w_h * (heel_x - feet[f, LAST_HEEL_X]))
        feet[f, OFFSET_Z] -= fade * (w_t * toe_dz + w_h * (heel_z - feet[f, LAST_HEEL_Z]))
        feet[f, LAST_TOE_X] = toe_x
        feet[f, LAST_TOE_Z] = toe_z
        feet[f, LAST_HEEL_X] = heel_x
        feet[f, LAST_HEEL_Z] = heel_z
        size = np.sqrt(feet[f, OFFSET_X] ** 2 + feet[f, OFFSET_Z] ** 2)
        if size > 1e-9:
            moved = np.sqrt(toe_dx * toe_dx + toe_dz * toe_dz)
            pay = (1.0 - w) * (PAY_SHARE * moved + size * (1.0 - np.exp(-dt / PAY_S)))
            keep = max(0.0, 1.0 - pay / size)
            feet[f, OFFSET_X] *= keep
            feet[f, OFFSET_Z] *= keep
        # Height: the lower of the two sole points is as high as the performer's, none below it.
        grounded = 0.0
        if constants[LOCK] != 0.0:
            toe_down = smooth(contact_state[toe, GROUND])
            grounded = toe_down + smooth(contact_state[heel, GROUND]) * (1.0 - toe_down)
        lift = 0.5 * (clear + np.sqrt(clear * clear + 1e-6) - 1e-3)
        lift = max(0.0, lift) * (1.0 - grounded)
        toe_y = lift - soft_min(-sole[1], by, scale * SOFT_M)
        toe_y += air * (target_positions[foot, 1] + shift_y + ay - toe_y)
        # The pivot: heel before the foot is flat, toe after.
        share = w_h / w if w > 1e-9 else 0.0
        goals[row, 0] = tx + share * hx
        goals[row, 1] = ty + share * hy
        goals[row, 2] = tz + share * hz
        goals[row, 3] = toe_x + feet[f, OFFSET_X] + share * bx
        goals[row, 4] = toe_y + share * by
        goals[row, 5] = toe_z + feet[f, OFFSET_Z] + share * bz
        goals[row, 10] = 1.0
        goals[row, 11] = w
        shift_x += 0.5 * (feet[f, OFFSET_X] + feet[f, SIDE_X] - ahead_x)
        shift_z += 0.5 * (feet[f, OFFSET_Z] + feet[f, SIDE_Z] - ahead_z)
        if f == 0:
            holds_left = w
        else:
            holds_right = w
    shift_x += way_x
    shift_z += way_z
    # A leg that would be stretched straight, or folded farther than it can, pulls the root while
    # it is planted, and gives in while it is free.
    pull_x = 0.0
    pull_y = 0.0
    pull_z = 0.0
    for f in range(2):
        row = LEFT_FOOT + f
        hip = target_joints[6 + f]
        w = holds_left if f == 0 else holds_right
        px, py, pz = turned(goals, row, 6, goals[row, 0], goals[row, 1], goals[row, 2])
        dx = goals[row, 3] - px - (target_positions[hip, 0] + shift_x)
        dy = goals[row, 4] - py - (target_positions[hip, 1] + shift_y)
        dz = goals[row, 5] - pz - (target_positions[hip, 2] + shift_z)
        d = np.sqrt(dx * dx + dy * dy + dz * dz)
        near = REACH_FROM * constants[LEG]
        fold = FOLD_FROM * constants[FOLDED]
        allowed = d
        if d > near:
            far = (REACH_TO - REACH_FROM) * constants[LEG]
            allowed = near + far * (1.0 - np.exp(-(d - near) / far))
        elif d < fold:
            room = fold - constants[FOLDED]
            allowed = constants[FOLDED] + room * np.exp((d - fold) / room)
        if allowed != d:
            k = 1.0 - allowed / max(d, 1e-3)
            pull_x += w * k * dx
            pull_y += w * k * dy
            pull_z += w * k * dz
            goals[row, 3] -= (1.0 - w) * k * dx
            goals[row, 4] -= (1.0 - w) * k * dy
            goals[row, 5] -= (1.0 - w) * k * dz
    shift_x += pull_x
    shift_y += pull_y
    shift_z += pull_z
    head[0] += shift_x
    head[1] += shift_y
    head[2] += shift_z
    # Hands: as far from the shoulder as the performer's, by the arms' ratio. Arms that divide
    # otherwise would have to be bent otherwise for that: they keep their posture.
    posture = constants[POSTURE]
    for f in range(2):
        row = LEFT_HAND + f
        hand = source_joints[f]
        shoulder = source_joints[2 + f]
        ours = target_joints[2 + f]
        ratio = constants[ARM_LEFT + f]
        for r in range(3):
            wrist = source_positions[hand, r] + (
                source_rotations[hand, r, 0] * source_points[f, 0]
                + source_rotations[hand, r, 1] * source_points[f, 1]
                + source_rotations[hand, r, 2] * source_points[f, 2]
            )
            copied = target_positions[target_joints[f], r] + (
                target_rotations[target_joints[f], r, 0] * target_points[f, 0]
                + target_rotations[target_joints[f], r, 1] * target_points[f, 1]
                + target_rotations[target_joints[f], r, 2] * target_points[f, 2]
            )
            shift = shift_x if r == 0 else (shift_y if r == 1 else shift_z)
            goals[row, r] = target_points[f, r]
            reached = target_positions[ours, r] + ratio * (wrist - source_positions[shoulder, r])
            goals[row, 3 + r] = shift + reached + posture * (copied - reached)
        for r in range(4):
            goals[row, 6 + r] = target_world[target_joints[f], r]
        goals[row, 10] = 1.0
    # The base: keep it while it holds, then the other foot if that one is planted.
    base = int(memory[BASE_FOOT])
    held = 0.0
    if base >= 0:
        held = holds_left if base == 0 else holds_right
    if held < 0.5:
        base = -1
        held = 0.0
        if holds_left >= 0.5 or holds_right >= 0.5:
            base = 0 if holds_left >= holds_right else 1
            held = max(holds_left, holds_right)
    memory[BASE_FOOT] = base
    head[3] = -1.0 if base < 0 else float(LEFT_FOOT + base)
    head[4] = min(max(2.0 * held - 1.0, 0.0), 1.0)
