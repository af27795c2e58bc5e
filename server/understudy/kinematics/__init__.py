"""Bodies and their motion: skeletons, rotations, forward kinematics, Jacobians."""

from understudy.kinematics.forward import ForwardKinematics
from understudy.kinematics.skeleton import (
    BALL,
    FIXED,
    HINGE,
    KIND_NAMES,
    Joint,
    JointKind,
    Pose,
    Skeleton,
    SkeletonError,
)
from understudy.kinematics.types import ByteArray, FloatArray, IntArray

__all__ = [
    "BALL",
    "FIXED",
    "HINGE",
    "KIND_NAMES",
    "ByteArray",
    "FloatArray",
    "ForwardKinematics",
    "IntArray",
    "Joint",
    "JointKind",
    "Pose",
    "Skeleton",
    "SkeletonError",
]
