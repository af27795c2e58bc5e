"""Humanoid bodies in any convention: other names, other axes, other rest poses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from understudy.characters.builtin import builtin_character
from understudy.kinematics import FloatArray, Pose, Skeleton
from understudy.kinematics.rotations import conjugate, multiply, rotate

LIMBS = tuple(
    (side + upper, side + lower)
    for side in ("left", "right")
    for upper, lower in (
        ("UpperArm", "LowerArm"),
        ("LowerArm", "Hand"),
        ("UpperLeg", "LowerLeg"),
        ("LowerLeg", "Foot"),
    )
)


def actor() -> Skeleton:
    """The built-in actor: VRM names, T-pose, no rest rotations."""
    return builtin_character("actor")


def renamed(skeleton: Skeleton, names: Mapping[str, str]) -> Skeleton:
    """The same body with other joint names; those not listed keep theirs."""
    return Skeleton.build(
        replace(
            joint,
            name=names.get(joint.name, joint.name),
            parent=None if joint.parent is None else names.get(joint.parent, joint.parent),
        )
        for joint in skeleton.joints()
    )


def nameless(skeleton: Skeleton) -> Skeleton:
    """The same body with names that say nothing."""
    return renamed(skeleton, {name: f"n{i}" for i, name in enumerate(skeleton.names)})


def scaled(skeleton: Skeleton, factors: Mapping[str, float]) -> Skeleton:
    """The same body with some bones longer or shorter; factors go by the joint they lead to."""
    return Skeleton.build(
        replace(joint, offset=np.asarray(joint.offset) * factors.get(joint.name, 1.0))
        for joint in skeleton.joints()
    )


class Reframed:
    """The same body with other axes in every joint, and poses of the first one for it."""

    def __init__(self, skeleton: Skeleton, rng: np.random.Generator) -> None:
        turns = Rotation.random(len(skeleton), random_state=rng).as_quat()
        self._parents = skeleton.parents
        self._turns: FloatArray = turns
        joints = []
        for i, joint in enumerate(skeleton.joints()):
            above = self._above(i)
            joints.append(
                replace(
                    joint,
                    offset=rotate(conjugate(above), np.asarray(joint.offset, np.float64)),
                    rest_xyzw=self._local(i, np.asarray(joint.rest_xyzw, np.float64)),
                    tip=None
                    if joint.tip is None
                    else rotate(conjugate(turns[i]), np.asarray(joint.tip, np.float64)),
                )
            )
        self.skeleton = Skeleton.build(joints)

    def _above(self, joint: int) -> FloatArray:
        parent = int(self._parents[joint])
        return np.array([0.0, 0.0, 0.0, 1.0]) if parent < 0 else self._turns[parent]

    def _local(self, joint: int, rotation_xyzw: FloatArray) -> FloatArray:
        return multiply(multiply(conjugate(self._above(joint)), rotation_xyzw), self._turns[joint])

    def pose(self, pose: Pose) -> Pose:
        """The same posture in this body's axes."""
        q = np.array([self._local(i, row) for i, row in enumerate(pose.rotations_xyzw)])
        return Pose(pose.root.copy(), q)


def angle_deg(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles between directions (..., 3), degrees."""
    sine = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.degrees(np.arctan2(sine, np.sum(a * b, axis=-1))))
