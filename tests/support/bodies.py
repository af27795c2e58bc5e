"""Small bodies for tests, poses of them, and what an increment does to a pose."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

from understudy.kinematics import BALL, FIXED, HINGE, FloatArray, Joint, JointKind, Pose, Skeleton


def chain(count: int, length_m: float = 0.3, kind: JointKind = "ball") -> Skeleton:
    """Joints j0, j1, ... on a line along +Y, each `length_m` above the last, with a tip."""
    joints = [Joint("j0", None)]
    for i in range(1, count):
        tip = (0.0, length_m, 0.0) if i == count - 1 else None
        joints.append(
            Joint(f"j{i}", f"j{i - 1}", offset=(0.0, length_m, 0.0), kind=kind, axis=(1, 0, 0),
                  tip=tip)
        )  # fmt: skip
    return Skeleton.build(joints)


def mixed_body() -> Skeleton:
    """Ball, hinge and fixed joints in two branches, with rest rotations of all kinds."""
    s = math.sqrt(0.5)
    return Skeleton.build(
        [
            Joint("hips", None, offset=(0, 1, 0), rest_xyzw=(0, s, 0, s)),
            Joint("chest", "hips", (0, 0.3, 0.02), rest_xyzw=(0.1, -0.2, 0.3, 0.9)),
            Joint("collar", "chest", (0.1, 0.2, 0), rest_xyzw=(0.3, 0, 0.2, 0.9), kind="fixed"),
            Joint("arm", "collar", (0.15, 0, 0.03)),
            Joint("elbow", "arm", (0.3, 0, 0), rest_xyzw=(0, 0.2, 0, 1), kind="hinge",
                  axis=(1, 2, -0.5), limits_rad=(-0.4, 2.2)),
            Joint("hand", "elbow", (0.25, 0.01, 0), tip=(0.1, 0, 0)),
            Joint("thigh", "hips", (-0.1, -0.05, 0), rest_xyzw=(s, 0, 0, s)),
            Joint("knee", "thigh", (0, 0.4, 0), kind="hinge", axis=(0, 0, 3)),
            Joint("foot", "knee", (0, 0.4, 0), rest_xyzw=(0, 0, s, s), tip=(0, 0.1, 0.1)),
        ]
    )  # fmt: skip


def spine(count: int) -> Skeleton:
    """A root with `count` ball joints above it, all at rest in line, unit length in all."""
    return chain(count + 1, 1.0 / count)


def random_pose(skeleton: Skeleton, rng: np.random.Generator, spread_rad: float = 0.8) -> Pose:
    """A pose every joint can take: balls anywhere near rest, hinges inside their range."""
    q = skeleton.rest_xyzw.copy()
    for j in range(len(skeleton)):
        w = np.zeros(3)
        if j == 0 or skeleton.kinds[j] == BALL:
            w = rng.normal(scale=spread_rad / math.sqrt(3), size=3)
        elif skeleton.kinds[j] == HINGE:
            low, high = np.clip(skeleton.limits_rad[j], -spread_rad, spread_rad)
            w = rng.uniform(low, high) * skeleton.axes[j]
        q[j] = (Rotation.from_quat(q[j]) * Rotation.from_rotvec(w)).as_quat()
    return Pose(rng.normal(size=3), q)


def moved(skeleton: Skeleton, pose: Pose, increment: FloatArray) -> Pose:
    """`pose` after an increment (3 + 3n,): root translation, then body increments.

    A hinge takes the part along its axis and a fixed joint none, as their kinds say.
    """
    w = increment[3:].reshape(-1, 3).copy()
    hinges = skeleton.kinds == HINGE
    hinges[0] = False  # the root is free whatever its kind
    along = np.sum(w * skeleton.axes, axis=1, keepdims=True)
    w[hinges] = (along * skeleton.axes)[hinges]
    w[1:][skeleton.kinds[1:] == FIXED] = 0.0
    turned = Rotation.from_quat(pose.rotations_xyzw) * Rotation.from_rotvec(w)
    return Pose(pose.root + increment[:3], turned.as_quat())


def world_by_scipy(skeleton: Skeleton, pose: Pose) -> tuple[FloatArray, FloatArray]:
    """Positions (n, 3) and rotations (n, 3, 3) by a chain of 4x4 matrices from scipy."""
    n = len(skeleton)
    world = np.zeros((n, 4, 4))
    for j in range(n):
        local = np.eye(4)
        local[:3, :3] = Rotation.from_quat(pose.rotations_xyzw[j]).as_matrix()
        local[:3, 3] = pose.root if j == 0 else skeleton.offsets[j]
        parent = int(skeleton.parents[j])
        world[j] = local if parent < 0 else world[parent] @ local
    return world[:, :3, 3].copy(), world[:, :3, :3].copy()


def angle_between(a_xyzw: FloatArray, b_xyzw: FloatArray) -> float:
    """The largest angle (rad) between two sets of rotations (..., 4)."""
    a = Rotation.from_quat(np.reshape(a_xyzw, (-1, 4)))
    b = Rotation.from_quat(np.reshape(b_xyzw, (-1, 4)))
    return float(np.max((a.inv() * b).magnitude()))
