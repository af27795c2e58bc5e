"""Bodies of one family: same joint names, same rest pose. Between them angles copy as they are."""

from __future__ import annotations

import numpy as np

from understudy.align.motion import MotionSample
from understudy.align.roles import RoleMap
from understudy.kinematics import FloatArray, Skeleton

_ALIKE_RAD = np.radians(5.0)
_SHORTEST_BONE_M = 1e-6


def rest_turns(skeleton: Skeleton) -> FloatArray:
    """World rotations (n, 3, 3) of the rest pose."""
    return np.asarray(MotionSample.of_rest(skeleton).rotations[0])


def shared_joints(
    source: Skeleton, target: Skeleton, source_roles: RoleMap, target_roles: RoleMap
) -> dict[int, int]:
    """Source joint -> target joint of the same name, if the two are twins; else nothing.

    Twins call every part of the body alike, and their bones lie and turn alike at rest.
    """
    ours = {role: source.names[joint] for role, joint in source_roles.roles.items()}
    theirs = {role: target.names[joint] for role, joint in target_roles.roles.items()}
    if ours != theirs:
        return {}
    pairs = {source.index(name): target.index(name) for name in target.names if name in source}
    source_rest, target_rest = MotionSample.of_rest(source), MotionSample.of_rest(target)
    for a, b in pairs.items():
        turn = source_rest.rotations[0, a].T @ target_rest.rotations[0, b]
        if _angle(turn) > _ALIKE_RAD or not _hang_alike(source, target, a, b):
            return {}
    for role, a in source_roles.roles.items():
        parent = int(source.parents[a])
        if parent < 0:
            continue
        bone_a = source_rest.positions[0, a] - source_rest.positions[0, parent]
        b = target_roles.roles[role]
        above = int(target.parents[b])
        bone_b = target_rest.positions[0, b] - target_rest.positions[0, above]
        if not _same_direction(bone_a, bone_b):
            return {}
    return pairs


def _hang_alike(source: Skeleton, target: Skeleton, a: int, b: int) -> bool:
    above_a, above_b = int(source.parents[a]), int(target.parents[b])
    if above_a < 0 or above_b < 0:
        return above_a == above_b
    return source.names[above_a] == target.names[above_b]


def _angle(rotation: FloatArray) -> float:
    return float(np.arccos(np.clip(0.5 * (np.trace(rotation) - 1.0), -1.0, 1.0)))


def _same_direction(a: FloatArray, b: FloatArray) -> bool:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths < _SHORTEST_BONE_M**2:
        return True
    return bool(np.arccos(np.clip(a @ b / lengths, -1.0, 1.0)) <= _ALIKE_RAD)
