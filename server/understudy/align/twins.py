"""Bodies of one family: same joint names, same rest pose. Between them angles copy as they are."""

from __future__ import annotations

import numpy as np

from understudy.align.humanoid import SIDES
from understudy.align.motion import MotionSample
from understudy.align.roles import RoleMap
from understudy.kinematics import FloatArray, Skeleton

_ALIKE_RAD = np.radians(5.0)
_SHORTEST_BONE_M = 1e-6
_BONES = (
    ("UpperArm", "LowerArm"),
    ("LowerArm", "Hand"),
    ("UpperLeg", "LowerLeg"),
    ("LowerLeg", "Foot"),
)


def rest_turns(skeleton: Skeleton) -> FloatArray:
    """World rotations (n, 3, 3) of the rest pose."""
    return np.asarray(MotionSample.of_rest(skeleton).rotations[0])


def shared_joints(
    source: Skeleton, target: Skeleton, source_roles: RoleMap, target_roles: RoleMap
) -> dict[int, int]:
    """Source joint -> target joint of the same name, if the two are twins; else nothing.

    Twins call every part of the body alike, and their limbs lie and turn alike at rest. Trunk and
    neck may have different numbers of joints; then those in between are left out.
    """
    ours, theirs = _named_roles(source, source_roles), _named_roles(target, target_roles)
    if ours != theirs:
        return {}
    source_rest, target_rest = MotionSample.of_rest(source), MotionSample.of_rest(target)
    differing = _differing_chains(source, target, source_roles, target_roles)
    pairs = {
        source.index(name): target.index(name)
        for name in target.names
        if name in source and name not in differing
    }
    for a, b in pairs.items():
        if _angle(source_rest.rotations[0, a].T @ target_rest.rotations[0, b]) > _ALIKE_RAD:
            return {}
    for side in SIDES:
        for upper, lower in _BONES:
            if side + lower in ours and not _same_direction(
                _bone(source_rest, source_roles, side + upper, side + lower),
                _bone(target_rest, target_roles, side + upper, side + lower),
            ):
                return {}
    return pairs


def _named_roles(skeleton: Skeleton, body: RoleMap) -> dict[str, str]:
    """The names of all parts but those inside trunk and neck, which are chains of any length."""
    inside = {*body.spine[:-1], *body.neck}
    named = {role: skeleton.names[joint] for role, joint in body.roles.items()}
    return {
        role: name
        for role, name in named.items()
        if body.roles[role] not in inside and role not in ("spine", "chest", "upperChest", "neck")
    }


def _differing_chains(
    source: Skeleton, target: Skeleton, source_roles: RoleMap, target_roles: RoleMap
) -> set[str]:
    """Names of the joints inside a trunk or neck that the two do not have in common."""
    differing: set[str] = set()
    for ours, theirs in (
        (source_roles.spine, target_roles.spine),
        (source_roles.neck, target_roles.neck),
    ):
        first = [source.names[joint] for joint in ours]
        second = [target.names[joint] for joint in theirs]
        if first != second:
            differing.update(first, second)
    return differing


def _bone(rest: MotionSample, body: RoleMap, upper: str, lower: str) -> FloatArray:
    return np.asarray(rest.positions[0, body.roles[lower]] - rest.positions[0, body.roles[upper]])


def _angle(rotation: FloatArray) -> float:
    return float(np.arccos(np.clip(0.5 * (np.trace(rotation) - 1.0), -1.0, 1.0)))


def _same_direction(a: FloatArray, b: FloatArray) -> bool:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    if lengths < _SHORTEST_BONE_M**2:
        return True
    return bool(np.arccos(np.clip(a @ b / lengths, -1.0, 1.0)) <= _ALIKE_RAD)
