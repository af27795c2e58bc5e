"""How sure a role is: names and shape as two witnesses, and what makes both doubtful."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from understudy.align.humanoid import ROLES_ABOVE, mirrored, side_of
from understudy.align.topology import ShapeRoles
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, Skeleton

# From ACCEPT a role is used as it is, from WARN with a word to the user; below, the user is asked.
ACCEPT: Final = 0.9
WARN: Final = 0.7

_SHAPE: Final = 0.85
_SIDE_ASSUMED: Final = 0.9
_NO_POSTURE: Final = 0.4
_CONTRADICTED: Final = 0.3
_NOT_BELOW_PARENT: Final = 0.4
_NO_MIRROR: Final = 0.6
_SIDES_DIFFER: Final = 0.8
_LENGTHS_DIFFER: Final = 0.25
_SWAPPED: Final = 0.8


def shape_trust(shape: ShapeRoles, role: str) -> float:
    """How far the shape alone can be trusted about a role, 0 to 1."""
    known = 1.0 if shape.sides_known or not side_of(role) else _SIDE_ASSUMED
    standing = 1.0 if shape.standing else _NO_POSTURE
    return _SHAPE * shape.votes[role] * shape.symmetry * known * standing


def agree(name: float, shape: float) -> float:
    """Two witnesses who say the same."""
    return 1.0 - (1.0 - name) * (1.0 - shape)


def disagree(believed: float, other: float) -> float:
    """Two witnesses who contradict each other: one is believed, but less."""
    return believed * (1.0 - _CONTRADICTED * other)


def from_trunk(name: float, limbs: float) -> float:
    """A joint of the trunk: what its name says, and how sure the limbs are that hang on it."""
    return agree(name, _SHAPE * limbs)


def swapped(confidence: float) -> float:
    """A limb whose name says one side while the toes say the other."""
    return confidence * _SWAPPED


def doubts(
    tree: Tree, skeleton: Skeleton, roles: Mapping[str, int], role: str
) -> tuple[float, list[str]]:
    """A factor (0 to 1) for what is odd about a role in its surroundings, and the oddities."""
    factor = 1.0
    odd: list[str] = []
    joint = roles[role]
    above = next((roles[name] for name in ROLES_ABOVE.get(role, ()) if name in roles), None)
    if above is not None and not tree.is_above(above, joint):
        factor *= _NOT_BELOW_PARENT
        odd.append(f"does not hang below {skeleton.names[above]!r}")
    other = mirrored(role)
    if other not in roles:
        factor *= _NO_MIRROR
        odd.append(f"there is no {other}")
    elif _length(tree, skeleton.offsets, roles, role) is not None:
        ours = _length(tree, skeleton.offsets, roles, role)
        theirs = _length(tree, skeleton.offsets, roles, other)
        if ours and theirs and abs(np.log(ours / theirs)) > np.log(1.0 + _LENGTHS_DIFFER):
            factor *= _SIDES_DIFFER
            odd.append(f"its bone is not as long as that of {other}")
    return factor, odd


def _length(tree: Tree, offsets: FloatArray, roles: Mapping[str, int], role: str) -> float | None:
    """The length (m) of the path down to a role's joint from the role above it."""
    for name in ROLES_ABOVE.get(role, ()):
        if name in roles and tree.is_above(roles[name], roles[role]):
            path = tree.between(roles[name], roles[role])
            return float(np.linalg.norm(offsets[path], axis=1).sum())
    return None
