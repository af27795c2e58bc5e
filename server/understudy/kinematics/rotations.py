"""Quaternion arithmetic on arrays, off the frame path.

Every function takes float64 arrays whose last axis is a quaternion x, y, z, w (or a vector of
three) and broadcasts over the others. The compiled twins for the frame path live in `_kernels`.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.types import FloatArray

IDENTITY_XYZW: FloatArray = np.array([0.0, 0.0, 0.0, 1.0])
IDENTITY_XYZW.setflags(write=False)


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Hamilton product `a b`: the rotation that applies `b` first."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        axis=-1,
    )


def conjugate(q: FloatArray) -> FloatArray:
    """The inverse of a unit quaternion."""
    return np.asarray(q * np.array([-1.0, -1.0, -1.0, 1.0]), dtype=np.float64)


def normalise(q: FloatArray) -> FloatArray:
    """The unit quaternion in the direction of `q`."""
    return np.asarray(q / np.linalg.norm(q, axis=-1, keepdims=True), dtype=np.float64)


def rotate(q: FloatArray, v: FloatArray) -> FloatArray:
    """Turn the vectors `v` by the unit quaternions `q`."""
    u, w = q[..., :3], q[..., 3:]
    t = 2.0 * np.cross(u, v)
    return np.asarray(v + w * t + np.cross(u, t), dtype=np.float64)


def exp(rotation_vector: FloatArray) -> FloatArray:
    """Unit quaternion of a rotation vector (rad)."""
    angle = np.linalg.norm(rotation_vector, axis=-1, keepdims=True)
    half = 0.5 * angle
    # np.sinc(x) = sin(pi x) / (pi x) is exact at zero
    return np.concatenate([rotation_vector * 0.5 * np.sinc(half / np.pi), np.cos(half)], axis=-1)


def log(q: FloatArray) -> FloatArray:
    """Rotation vector (rad, length at most pi) of a unit quaternion."""
    q = np.where(q[..., 3:] < 0.0, -q, q)
    sine = np.linalg.norm(q[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., 3:])
    small = sine < 1e-8
    factor = np.where(small, 2.0, angle / np.where(small, 1.0, sine))
    return np.asarray(q[..., :3] * factor, dtype=np.float64)


def matrix(q: FloatArray) -> FloatArray:
    """Rotation matrices (..., 3, 3) of unit quaternions."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def from_matrix(rotation: FloatArray) -> FloatArray:
    """Unit quaternions, w >= 0, of proper rotation matrices (..., 3, 3)."""
    m = np.asarray(rotation, dtype=np.float64)
    m00, m11, m22 = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    # Four candidates (Shepperd); the one with the largest diagonal term is well conditioned.
    candidates = np.stack(
        [
            np.stack(
                [
                    1 + m00 - m11 - m22,
                    m[..., 0, 1] + m[..., 1, 0],
                    m[..., 0, 2] + m[..., 2, 0],
                    m[..., 2, 1] - m[..., 1, 2],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 0, 1] + m[..., 1, 0],
                    1 - m00 + m11 - m22,
                    m[..., 1, 2] + m[..., 2, 1],
                    m[..., 0, 2] - m[..., 2, 0],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 0, 2] + m[..., 2, 0],
                    m[..., 1, 2] + m[..., 2, 1],
                    1 - m00 - m11 + m22,
                    m[..., 1, 0] - m[..., 0, 1],
                ],
                axis=-1,
            ),
            np.stack(
                [
                    m[..., 2, 1] - m[..., 1, 2],
                    m[..., 0, 2] - m[..., 2, 0],
                    m[..., 1, 0] - m[..., 0, 1],
                    1 + m00 + m11 + m22,
                ],
                axis=-1,
            ),
        ],
        axis=-2,
    )
    best = np.argmax(np.stack([m00, m11, m22, m00 + m11 + m22], axis=-1), axis=-1)
    q = normalise(np.take_along_axis(candidates, best[..., None, None], axis=-2)[..., 0, :])
    return np.where(q[..., 3:] < 0.0, -q, q)


def slerp(a: FloatArray, b: FloatArray, fraction: float | FloatArray) -> FloatArray:
    """The shorter way from `a` to `b`, `fraction` (one number, or one a quaternion) of it."""
    f = np.asarray(fraction, dtype=np.float64)[..., None]
    return multiply(a, exp(f * log(multiply(conjugate(a), b))))


def between(a: FloatArray, b: FloatArray) -> FloatArray:
    """The smallest rotation that takes direction `a` to direction `b`."""
    a = a / np.linalg.norm(a, axis=-1, keepdims=True)
    b = b / np.linalg.norm(b, axis=-1, keepdims=True)
    w = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    # Opposite directions: any axis across a will do.
    across = np.where(
        np.abs(a[..., :1]) < 0.9, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])
    )
    xyz = np.where(w < 1e-12, np.cross(a, across), np.cross(a, b))
    return normalise(np.concatenate([xyz, np.where(w < 1e-12, 0.0, w)], axis=-1))


def align_sign(q: FloatArray, reference: FloatArray) -> FloatArray:
    """`q` or `-q`, whichever is nearer to `reference` (the same rotation either way)."""
    dot = np.sum(q * reference, axis=-1, keepdims=True)
    return np.where(dot < 0.0, -q, q)
