"""The performer's rotations in the character's axes, and where that puts the character's root.

Quaternions are x, y, z, w rows. Shapes: n_s source joints, n_t target joints. What is constant
comes packed, because every array a kernel is given costs a tenth of a microsecond to hand over:
`links` (n_t, 5) has the columns PARENT, SOURCE_A, SOURCE_B, VERBATIM, HAND; `constants` (n_t, 20)
has REST, POST_A, POST_B, UNTWISTED (four columns each), BONE (three) and BLEND (one);
`body` (18,) has the slots named below.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics._kernels import (
    product,
    put_row,
    rotated,
    row_product,
    row_quotient,
)
from understudy.kinematics.compiled import kernel, part

PARENT, SOURCE_A, SOURCE_B, VERBATIM, HAND = range(5)
REST, POST_A, POST_B, UNTWISTED = 0, 4, 8, 12
BONE, BLEND = 16, 19
LEG_LENGTH, SCALE, SOURCE_HEIGHT, TARGET_HEIGHT = range(4)
ROOT_TO_HIPS, LEG_OFFSETS, LEG_BONES, HIP_TILT = 4, 7, 13, 17

# Beyond this a forearm would be wrung out like a cloth.
_LARGEST_TWIST_RAD = 150.0 * np.pi / 180.0
# Parts of a leg: how far apart in height two feet share the standing, and the height of the lower
# foot from which neither stands.
_CHANGE_OVER = 0.05
_OFF_THE_FLOOR = 0.35
# Sines of the tilts of the hips between which levelling ends: who kicks or turns a cartwheel tilts
# the hips to reach further, not because of how they stand.
_STANDING_TILT = 0.35
_LARGEST_TILT = 0.8


@part("void(i8[::1], f8[:, ::1], f8[:, ::1])")
def world_rotations(parents, q, world):
    """world (n, 4) <- world_from_joint of every joint, from parent_from_joint q (n, 4)."""
    for j in range(parents.shape[0]):
        p = parents[j]
        if p < 0:
            put_row(world, j, 0, q[j, 0], q[j, 1], q[j, 2], q[j, 3])
        else:
            x, y, z, w = row_product(world, p, 0, q, j, 0)
            put_row(world, j, 0, x, y, z, w)


@part("void(f8[:, ::1], i8[:, ::1], f8[:, ::1], f8[:, ::1])")
def drive(source_world, links, constants, world):
    """world[j] <- slerp(G_a C_a, G_b C_b, blend) for every driven target joint j."""
    for j in range(links.shape[0]):
        a = links[j, SOURCE_A]
        if a < 0:
            continue
        x, y, z, w = row_product(source_world, a, 0, constants, j, POST_A)
        f = constants[j, BLEND]
        if f != 0.0:
            b = links[j, SOURCE_B]
            ux, uy, uz, uw = row_product(source_world, b, 0, constants, j, POST_B)
            dot = x * ux + y * uy + z * uz + w * uw
            near = abs(dot)
            if near > 0.9995:  # so near that the chord and the arc differ by less than 1e-7
                wa = 1.0 - f
                wb = f
            else:
                angle = np.arccos(near)
                wa = np.sin((1.0 - f) * angle)
                wb = np.sin(f * angle)
            if dot < 0.0:
                wb = -wb
            x = wa * x + wb * ux
            y = wa * y + wb * uy
            z = wa * z + wb * uz
            w = wa * w + wb * uw
            k = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
            x *= k
            y *= k
            z *= k
            w *= k
        put_row(world, j, 0, x, y, z, w)


@part("void(i8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1])")
def share_twist(links, constants, twist, world):
    """Turn each forearm about its bone by half the twist of the hand its link names, if any.

    BONE is the bone's direction in the forearm's frame, UNTWISTED is hand_from_forearm with an
    untwisted wrist. `twist` (n_t,) remembers the last angle (rad, NaN at a start), so that a wrist
    that turns past 180 degrees does not flip the forearm.
    """
    for j in range(links.shape[0]):
        h = links[j, HAND]
        if h < 0:
            continue
        # conj(G_forearm) G_hand hand_from_forearm: what the wrist does, in the forearm's frame.
        x, y, z, w = row_quotient(world, j, 0, world, h, 0)
        u = UNTWISTED
        qx, qy, qz, qw = product(
            x, y, z, w, constants[j, u], constants[j, u + 1], constants[j, u + 2],
            constants[j, u + 3],
        )  # fmt: skip
        ux = constants[j, BONE]
        uy = constants[j, BONE + 1]
        uz = constants[j, BONE + 2]
        angle = 2.0 * np.arctan2(qx * ux + qy * uy + qz * uz, qw)
        last = twist[j]
        if last != last:
            last = 0.0
        angle -= 2.0 * np.pi * np.round((angle - last) / (2.0 * np.pi))
        twist[j] = angle
        half = 0.25 * min(max(angle, -_LARGEST_TWIST_RAD), _LARGEST_TWIST_RAD)
        s = np.sin(half)
        x, y, z, w = product(
            world[j, 0], world[j, 1], world[j, 2], world[j, 3],
            s * ux, s * uy, s * uz, np.cos(half),
        )  # fmt: skip
        put_row(world, j, 0, x, y, z, w)


@part("f8(f8)", inline=True)
def _fade(x):
    """From 1 at x <= 0 smoothly to 0 at x >= 1."""
    if x <= 0.0:
        return 1.0
    if x >= 1.0:
        return 0.0
    return 1.0 - x * x * (3.0 - 2.0 * x)


@part("f8(f8[:, ::1], i8[:, ::1], f8[::1], i8)", inline=True)
def _leg_rise(source_positions, source_legs, body, side):
    """How far (m) a target's ankle is above its hip: its bones point where the source's do."""
    rise = 0.0
    for bone in range(2):
        a = source_legs[side, bone]
        b = source_legs[side, bone + 1]
        dx = source_positions[b, 0] - source_positions[a, 0]
        dy = source_positions[b, 1] - source_positions[a, 1]
        dz = source_positions[b, 2] - source_positions[a, 2]
        rise += body[LEG_BONES + 2 * side + bone] * dy / np.sqrt(dx * dx + dy * dy + dz * dz)
    return rise


@part("void(f8[:, ::1], i8[:, ::1], f8[::1], i8, f8[:, ::1])")
def level_hips(source_positions, source_legs, body, hips, world):
    """Tilt hips that are wider than the performer's as far as lets both feet stand.

    Under a tilt one upper leg is higher than the other by the sine times their distance. HIP_TILT
    of the sine keeps that difference the performer's, scaled to the legs. Legs whose thigh and
    shin divide otherwise end elsewhere when they bend; while both feet are low, the tilt makes up
    for that too.
    """
    ratio = body[HIP_TILT]
    if ratio == 1.0:
        return
    x = world[hips, 0]
    y = world[hips, 1]
    z = world[hips, 2]
    w = world[hips, 3]
    vx = body[LEG_OFFSETS] - body[LEG_OFFSETS + 3]
    vy = body[LEG_OFFSETS + 1] - body[LEG_OFFSETS + 3 + 1]
    vz = body[LEG_OFFSETS + 2] - body[LEG_OFFSETS + 3 + 2]
    dx, dy, dz = rotated(x, y, z, w, vx, vy, vz)
    level = np.sqrt(dx * dx + dz * dz)
    width = np.sqrt(level * level + dy * dy)
    sine = dy / width
    fade = _fade((abs(sine) - _STANDING_TILT) / (_LARGEST_TILT - _STANDING_TILT))
    if fade == 0.0:
        return
    highest = max(source_positions[source_legs[0, 2], 1], source_positions[source_legs[1, 2], 1])
    uneven = 0.0
    for side in range(2):
        rise = source_positions[source_legs[side, 2], 1] - source_positions[source_legs[side, 0], 1]
        sign = 1.0 - 2.0 * side
        uneven += sign * (body[SCALE] * rise - _leg_rise(source_positions, source_legs, body, side))
    uneven *= _fade((highest - body[SOURCE_HEIGHT]) / (_OFF_THE_FLOOR * body[LEG_LENGTH]))
    wanted = min(max(ratio * sine + uneven / width, -_LARGEST_TILT), _LARGEST_TILT)
    turn = fade * (np.arcsin(wanted) - np.arcsin(sine))
    # About the level axis square to the line of the hips.
    s = np.sin(0.5 * turn) / level
    x, y, z, w = product(-s * dz, 0.0, s * dx, np.cos(0.5 * turn), x, y, z, w)
    put_row(world, hips, 0, x, y, z, w)


@part("void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def localise(links, constants, source_q, world, q):
    """q (n_t, 4) <- parent_from_joint of every target joint, from the driven ones' `world`.

    A joint that nothing drives keeps its rest rotation, and its `world` row is filled in. Where
    VERBATIM names a source joint, that joint's own rotation is copied to the bit.
    """
    for j in range(links.shape[0]):
        p = links[j, PARENT]
        if links[j, SOURCE_A] < 0:
            for k in range(4):
                q[j, k] = constants[j, REST + k]
            x, y, z, w = q[j, 0], q[j, 1], q[j, 2], q[j, 3]
            if p >= 0:
                x, y, z, w = row_product(world, p, 0, q, j, 0)
            put_row(world, j, 0, x, y, z, w)
        elif links[j, VERBATIM] >= 0:
            for k in range(4):
                q[j, k] = source_q[links[j, VERBATIM], k]
        elif p < 0:
            for k in range(4):
                q[j, k] = world[j, k]
        else:
            x, y, z, w = row_quotient(world, p, 0, world, j, 0)
            put_row(q, j, 0, x, y, z, w)


@part("void(f8[:, ::1], i8[:, ::1], f8[::1], i8, f8[:, ::1], f8[::1])")
def place_root(source_positions, source_legs, body, hips, world, root):
    """root (3,) <- where the target's root must be for its legs to start where the source's do.

    The midpoint of the source's upper-leg joints, measured from the height of a planted ankle, is
    scaled. Legs whose thigh and shin divide otherwise end elsewhere when they bend; so the body is
    raised or lowered until the ankle that stands is at its scaled height. `source_legs` (2, 3) are
    both sides' upper leg, lower leg and foot. In `body`: LEG_OFFSETS (2 x 3) m, the target's upper
    legs in the frame of its hips, LEG_BONES (2 x 2) m, its thighs and shins, and ROOT_TO_HIPS (3)
    m, the way from its root to its hips in the world.
    """
    scale = body[SCALE]
    source_height = body[SOURCE_HEIGHT]
    target_height = body[TARGET_HEIGHT]
    x = world[hips, 0]
    y = world[hips, 1]
    z = world[hips, 2]
    w = world[hips, 3]
    vx = 0.5 * (body[LEG_OFFSETS] + body[LEG_OFFSETS + 3])
    vy = 0.5 * (body[LEG_OFFSETS + 1] + body[LEG_OFFSETS + 3 + 1])
    vz = 0.5 * (body[LEG_OFFSETS + 2] + body[LEG_OFFSETS + 3 + 2])
    vx, vy, vz = rotated(x, y, z, w, vx, vy, vz)
    left = source_legs[0, 0]
    right = source_legs[1, 0]
    mid = 0.5 * (source_positions[left, 0] + source_positions[right, 0])
    root[0] = scale * mid - vx - body[ROOT_TO_HIPS]
    mid = 0.5 * (source_positions[left, 2] + source_positions[right, 2])
    root[2] = scale * mid - vz - body[ROOT_TO_HIPS + 2]
    mid = 0.5 * (source_positions[left, 1] + source_positions[right, 1])
    hips_y = scale * (mid - source_height) + target_height - vy

    lowest = min(source_positions[source_legs[0, 2], 1], source_positions[source_legs[1, 2], 1])
    total = 0.0
    shift = 0.0
    for side in range(2):
        foot = source_legs[side, 2]
        vx = body[LEG_OFFSETS + 3 * side]
        vy = body[LEG_OFFSETS + 3 * side + 1]
        vz = body[LEG_OFFSETS + 3 * side + 2]
        vx, vy, vz = rotated(x, y, z, w, vx, vy, vz)
        ankle = hips_y + vy
        ankle += _leg_rise(source_positions, source_legs, body, side)
        height = source_positions[foot, 1]
        # The lower foot decides, with a smooth change-over from one to the other.
        weight = np.exp((lowest - height) / (_CHANGE_OVER * body[LEG_LENGTH]))
        total += weight
        shift += weight * (scale * (height - source_height) + target_height - ankle)
    fade = _fade((lowest - source_height) / (_OFF_THE_FLOOR * body[LEG_LENGTH]))
    hips_y += fade * shift / total
    root[1] = hips_y - body[ROOT_TO_HIPS + 1]


@kernel(
    "void(i8[::1], f8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[::1], i8,"
    " f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])"
)
def transfer(
    source_parents, source_q, source_positions, links, constants, source_legs, body, hips,
    twist, source_world, world, q, root,
):  # fmt: skip
    """One frame: source pose in, the target's rotations q (n_t, 4) and root (3,) m out.

    `source_world` (n_s, 4) and `world` (n_t, 4) are left with the world rotations of both bodies.
    """
    world_rotations(source_parents, source_q, source_world)
    drive(source_world, links, constants, world)
    share_twist(links, constants, twist, world)
    level_hips(source_positions, source_legs, body, hips, world)
    localise(links, constants, source_q, world, q)
    place_root(source_positions, source_legs, body, hips, world, root)
