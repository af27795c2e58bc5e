"""The performer's rotations in the character's axes, and where that puts the character's root.

Quaternions are x, y, z, w rows. Shapes: n_s source joints, n_t target joints.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import kernel

# Beyond this a forearm would be wrung out like a cloth.
_LARGEST_TWIST_RAD = 150.0 * np.pi / 180.0
# Parts of a leg: how far apart in height two feet share the standing, and the height of the lower
# foot from which neither stands.
_CHANGE_OVER = 0.05
_OFF_THE_FLOOR = 0.35


@kernel("void(f8[:, ::1], i8, f8[:, ::1], i8, f8[:, ::1], i8)")
def product(a, i, b, j, out, k):
    """out[k] <- a[i] b[j]; `out` may be `a` or `b`."""
    ax = a[i, 0]
    ay = a[i, 1]
    az = a[i, 2]
    aw = a[i, 3]
    bx = b[j, 0]
    by = b[j, 1]
    bz = b[j, 2]
    bw = b[j, 3]
    out[k, 0] = aw * bx + ax * bw + ay * bz - az * by
    out[k, 1] = aw * by - ax * bz + ay * bw + az * bx
    out[k, 2] = aw * bz + ax * by - ay * bx + az * bw
    out[k, 3] = aw * bw - ax * bx - ay * by - az * bz


@kernel("void(i8[::1], f8[:, ::1], f8[:, ::1])")
def world_rotations(parents, q, world):
    """world (n, 4) <- world_from_joint of every joint, from parent_from_joint q (n, 4)."""
    for j in range(parents.shape[0]):
        p = parents[j]
        if p < 0:
            for k in range(4):
                world[j, k] = q[j, k]
        else:
            product(world, p, q, j, world, j)


@kernel(
    "void(f8[:, ::1], i8[::1], i8[::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])"
)
def drive(source_world, source_a, source_b, blend, post_a, post_b, scratch, world):
    """world[j] <- slerp(G_a C_a, G_b C_b, blend) for every driven joint; scratch is (1, 4)."""
    for j in range(source_a.shape[0]):
        if source_a[j] < 0:
            continue
        product(source_world, source_a[j], post_a, j, world, j)
        f = blend[j]
        if f == 0.0:
            continue
        product(source_world, source_b[j], post_b, j, scratch, 0)
        dot = 0.0
        for k in range(4):
            dot += world[j, k] * scratch[0, k]
        sign = 1.0
        if dot < 0.0:
            dot = -dot
            sign = -1.0
        if dot > 0.9995:  # so near that the straight line and the arc differ by less than 1e-7
            wa = 1.0 - f
            wb = f
        else:
            angle = np.arccos(dot)
            wa = np.sin((1.0 - f) * angle)
            wb = np.sin(f * angle)
        wb *= sign
        length = 0.0
        for k in range(4):
            world[j, k] = wa * world[j, k] + wb * scratch[0, k]
            length += world[j, k] * world[j, k]
        length = 1.0 / np.sqrt(length)
        for k in range(4):
            world[j, k] *= length


@kernel("void(i8[::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1])")
def share_twist(hands, axes, canonical, twist, world):
    """Turn each forearm j about its bone by half the twist of its hand, hands[j] (-1: none).

    `axes` (n_t, 3) are the bones' directions in the forearms' frames, `canonical` (n_t, 4) is
    hand_from_forearm with an untwisted wrist. `twist` (n_t,) remembers the last angle (rad, NaN
    at a start), so that a wrist that turns past 180 degrees does not flip the forearm.
    """
    for j in range(hands.shape[0]):
        h = hands[j]
        if h < 0:
            continue
        # conj(G_forearm) G_hand hand_from_forearm: what the wrist does, in the forearm's frame.
        ax = -world[j, 0]
        ay = -world[j, 1]
        az = -world[j, 2]
        aw = world[j, 3]
        bx = world[h, 0]
        by = world[h, 1]
        bz = world[h, 2]
        bw = world[h, 3]
        x = aw * bx + ax * bw + ay * bz - az * by
        y = aw * by - ax * bz + ay * bw + az * bx
        z = aw * bz + ax * by - ay * bx + az * bw
        w = aw * bw - ax * bx - ay * by - az * bz
        cx = canonical[j, 0]
        cy = canonical[j, 1]
        cz = canonical[j, 2]
        cw = canonical[j, 3]
        qx = w * cx + x * cw + y * cz - z * cy
        qy = w * cy - x * cz + y * cw + z * cx
        qz = w * cz + x * cy - y * cx + z * cw
        qw = w * cw - x * cx - y * cy - z * cz
        angle = 2.0 * np.arctan2(qx * axes[j, 0] + qy * axes[j, 1] + qz * axes[j, 2], qw)
        last = twist[j]
        if last != last:
            last = 0.0
        angle -= 2.0 * np.pi * np.round((angle - last) / (2.0 * np.pi))
        twist[j] = angle
        half = 0.25 * min(max(angle, -_LARGEST_TWIST_RAD), _LARGEST_TWIST_RAD)
        s = np.sin(half)
        c = np.cos(half)
        x = s * axes[j, 0]
        y = s * axes[j, 1]
        z = s * axes[j, 2]
        ax = -ax
        ay = -ay
        az = -az
        world[j, 0] = aw * x + ax * c + ay * z - az * y
        world[j, 1] = aw * y - ax * z + ay * c + az * x
        world[j, 2] = aw * z + ax * y - ay * x + az * c
        world[j, 3] = aw * c - ax * x - ay * y - az * z


@kernel("void(i8[::1], f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])")
def localise(parents, rest, source_a, verbatim, source_q, world, q):
    """q (n_t, 4) <- parent_from_joint of every target joint, from the driven ones' `world`.

    A joint that nothing drives keeps its rest rotation, and its `world` row is filled in. Where
    `verbatim` names a source joint, that joint's own rotation is copied to the bit.
    """
    for j in range(parents.shape[0]):
        p = parents[j]
        if source_a[j] < 0:
            for k in range(4):
                q[j, k] = rest[j, k]
            if p < 0:
                for k in range(4):
                    world[j, k] = rest[j, k]
            else:
                product(world, p, rest, j, world, j)
        elif verbatim[j] >= 0:
            for k in range(4):
                q[j, k] = source_q[verbatim[j], k]
        elif p < 0:
            for k in range(4):
                q[j, k] = world[j, k]
        else:
            ax = -world[p, 0]
            ay = -world[p, 1]
            az = -world[p, 2]
            aw = world[p, 3]
            bx = world[j, 0]
            by = world[j, 1]
            bz = world[j, 2]
            bw = world[j, 3]
            q[j, 0] = aw * bx + ax * bw + ay * bz - az * by
            q[j, 1] = aw * by - ax * bz + ay * bw + az * bx
            q[j, 2] = aw * bz + ax * by - ay * bx + az * bw
            q[j, 3] = aw * bw - ax * bx - ay * by - az * bz


@kernel(
    "void(f8[:, ::1], i8[:, ::1], f8, f8, f8, f8, f8[:, ::1], i8,"
    " f8[:, ::1], f8[:, ::1], f8[::1], f8[::1])"
)
def place_root(
    source_positions, source_legs, source_leg_length, scale, source_height, target_height,
    world, hips, leg_offsets, leg_bones, root_to_hips, root,
):  # fmt: skip
    """root (3,) <- where the target's root must be for its legs to start where the source's do.

    The midpoint of the source's upper-leg joints, measured from the height of a planted ankle, is
    scaled. Legs whose thigh and shin divide otherwise end elsewhere when they bend; so the body is
    raised or lowered until the ankle that stands is at its scaled height. `source_legs` (2, 3) are
    both sides' upper leg, lower leg and foot; `leg_offsets` (2, 3) m the target's upper legs in
    the frame of its hips, `leg_bones` (2, 2) m its thighs and shins; `root_to_hips` (3,) m leads
    from its root to its hips in the world.
    """
    x = world[hips, 0]
    y = world[hips, 1]
    z = world[hips, 2]
    w = world[hips, 3]
    vx = 0.5 * (leg_offsets[0, 0] + leg_offsets[1, 0])
    vy = 0.5 * (leg_offsets[0, 1] + leg_offsets[1, 1])
    vz = 0.5 * (leg_offsets[0, 2] + leg_offsets[1, 2])
    tx = 2.0 * (y * vz - z * vy)
    ty = 2.0 * (z * vx - x * vz)
    tz = 2.0 * (x * vy - y * vx)
    left = source_legs[0, 0]
    right = source_legs[1, 0]
    mid = 0.5 * (source_positions[left, 0] + source_positions[right, 0])
    root[0] = scale * mid - (vx + w * tx + y * tz - z * ty) - root_to_hips[0]
    mid = 0.5 * (source_positions[left, 2] + source_positions[right, 2])
    root[2] = scale * mid - (vz + w * tz + x * ty - y * tx) - root_to_hips[2]
    mid = 0.5 * (source_positions[left, 1] + source_positions[right, 1])
    hips_y = scale * (mid - source_height) + target_height - (vy + w * ty + z * tx - x * tz)

    lowest = min(source_positions[source_legs[0, 2], 1], source_positions[source_legs[1, 2], 1])
    total = 0.0
    shift = 0.0
    for side in range(2):
        foot = source_legs[side, 2]
        vx = leg_offsets[side, 0]
        vy = leg_offsets[side, 1]
        vz = leg_offsets[side, 2]
        tx = 2.0 * (y * vz - z * vy)
        ty = 2.0 * (z * vx - x * vz)
        tz = 2.0 * (x * vy - y * vx)
        ankle = hips_y + vy + w * ty + z * tx - x * tz
        # The target's bones point where the source's do.
        for bone in range(2):
            a = source_legs[side, bone]
            b = source_legs[side, bone + 1]
            dx = source_positions[b, 0] - source_positions[a, 0]
            dy = source_positions[b, 1] - source_positions[a, 1]
            dz = source_positions[b, 2] - source_positions[a, 2]
            ankle += leg_bones[side, bone] * dy / np.sqrt(dx * dx + dy * dy + dz * dz)
        height = source_positions[foot, 1]
        # The lower foot decides, with a smooth change-over from one to the other.
        weight = np.exp((lowest - height) / (_CHANGE_OVER * source_leg_length))
        total += weight
        shift += weight * (scale * (height - source_height) + target_height - ankle)
    clear = (lowest - source_height) / (_OFF_THE_FLOOR * source_leg_length)
    if clear < 1.0:
        fade = 1.0
        if clear > 0.0:
            fade = 1.0 - clear * clear * (3.0 - 2.0 * clear)
        hips_y += fade * shift / total
    root[1] = hips_y - root_to_hips[1]


@kernel(
    "void(i8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1],"
    " i8[::1], f8[:, ::1], i8[::1], i8[::1], f8[::1], f8[:, ::1], f8[:, ::1], i8[::1],"
    " i8[::1], f8[:, ::1], f8[:, ::1], f8[::1],"
    " i8[:, ::1], f8, f8, f8, f8, i8, f8[:, ::1], f8[:, ::1], f8[::1],"
    " f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1])"
)
def transfer(
    source_parents, source_q, source_positions, source_world,
    parents, rest, source_a, source_b, blend, post_a, post_b, verbatim,
    hands, forearm_axes, untwisted, twist,
    source_legs, source_leg_length, scale, source_height, target_height, hips,
    leg_offsets, leg_bones, root_to_hips,
    scratch, world, q, root,
):  # fmt: skip
    """One frame: source pose in, the target's rotations q (n_t, 4) and root (3,) m out.

    `source_world` (n_s, 4), `scratch` (1, 4) and `world` (n_t, 4) are workspaces that hold the
    world rotations of both bodies afterwards.
    """
    world_rotations(source_parents, source_q, source_world)
    drive(source_world, source_a, source_b, blend, post_a, post_b, scratch, world)
    share_twist(hands, forearm_axes, untwisted, twist, world)
    localise(parents, rest, source_a, verbatim, source_q, world, q)
    place_root(
        source_positions, source_legs, source_leg_length, scale, source_height, target_height,
        world, hips, leg_offsets, leg_bones, root_to_hips, root,
    )  # fmt: skip
