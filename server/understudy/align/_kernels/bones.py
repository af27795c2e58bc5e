"""Compiled change from a skeleton's own rotations to those of humanoid bones."""

from __future__ import annotations

from understudy.kinematics.compiled import kernel, part


@part("void(f8[:, ::1], i8, f8, f8[:, ::1], i8, f8[:, ::1], i8)", inline=True)
def _product(a, i, side, b, j, out, k):
    """out[k] <- a[i] b[j], with a[i] turned back if `side` is -1."""
    ax = side * a[i, 0]
    ay = side * a[i, 1]
    az = side * a[i, 2]
    aw = a[i, 3]
    bx = b[j, 0]
    by = b[j, 1]
    bz = b[j, 2]
    bw = b[j, 3]
    out[k, 0] = aw * bx + ax * bw + ay * bz - az * by
    out[k, 1] = aw * by - ax * bz + ay * bw + az * bx
    out[k, 2] = aw * bz + ax * by - ay * bx + az * bw
    out[k, 3] = aw * bw - ax * bx - ay * by - az * bz


@kernel(
    "void(i8[::1], f8[:, ::1], f8[::1], f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, ::1],"
    " f8[:, ::1], f8[::1], f8[:, ::1])"
)
def bones_of(parents, offsets, root, q, joints, above, axes, world, turned, hips, out):
    """The pose (root, q) of a skeleton as that of its humanoid bones.

    Bone b is joint `joints[b]` seen in axes that are turned by `axes[b]` (joint_from_bone); its
    rotation `out[b]` is local to bone `above[b]`, that of bone 0, the hips, is in the world, and so
    is `hips`, the place of bone 0. `world` (n, 4) and `turned` (b, 4) are room to work in.
    """
    for j in range(parents.shape[0]):
        p = parents[j]
        if p < 0:
            for c in range(4):
                world[j, c] = q[j, c]
        else:
            _product(world, p, 1.0, q, j, world, j)
    for b in range(joints.shape[0]):
        _product(world, joints[b], 1.0, axes, b, turned, b)
        if above[b] < 0:
            for c in range(4):
                out[b, c] = turned[b, c]
        else:
            _product(turned, above[b], -1.0, turned, b, out, b)
    for r in range(3):
        hips[r] = root[r]
    j = joints[0]
    while parents[j] >= 0:
        p = parents[j]
        x = world[p, 0]
        y = world[p, 1]
        z = world[p, 2]
        w = world[p, 3]
        # v + 2 w (u x v) + 2 u x (u x v)
        a = offsets[j, 0]
        b = offsets[j, 1]
        c = offsets[j, 2]
        tx = 2.0 * (y * c - z * b)
        ty = 2.0 * (z * a - x * c)
        tz = 2.0 * (x * b - y * a)
        hips[0] += a + w * tx + y * tz - z * ty
        hips[1] += b + w * ty + z * tx - x * tz
        hips[2] += c + w * tz + x * ty - y * tx
        j = p
