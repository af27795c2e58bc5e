"""From what joint names say to the roles they play, decided limb by limb on the whole chain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from understudy.align.humanoid import FINGERS, SIDES, finger_segments
from understudy.align.names import AMBIGUOUS, NameHint
from understudy.align.tree import Tree

EXACT = 0.97
AMBIGUOUS_NAME = 0.85
NO_NAME = 0.6

# What a word of several meanings can stand for.
_MEANINGS: Final[dict[str, tuple[str, ...]]] = {
    "shoulder?": ("Shoulder", "UpperArm"),
    "arm?": ("UpperArm", "LowerArm", "Hand"),
    "leg?": ("UpperLeg", "LowerLeg", "Foot", "Toes"),
}


@dataclass(frozen=True, slots=True)
class NamedRoles:
    """Roles (role -> joint) read from names, and how far each can be trusted (role -> 0..1)."""

    roles: dict[str, int]
    trust: dict[str, float]


def named_roles(tree: Tree, hints: Sequence[NameHint]) -> NamedRoles:
    """The limbs, head and fingers that the names give; the trunk follows from the hierarchy."""
    roles: dict[str, int] = {}
    for side in SIDES:
        limbs = _by_part(tree, hints, side)
        roles.update(_arm(side, limbs))
        roles.update(_leg(side, limbs))
        if side + "Hand" in roles or side + "LowerArm" in roles:
            roles.update(_fingers(tree, hints, side))
    head = _head(tree, hints)
    if head is not None:
        roles["head"] = head
    trust = {role: _trust(role, hints[joint]) for role, joint in roles.items()}
    return NamedRoles(roles, trust)


def reconsidered(
    named: NamedRoles, hints: Sequence[NameHint], seen: Mapping[str, int]
) -> NamedRoles:
    """Names of several meanings in the one that shape (`seen`, role -> joint) shows.

    A `Shoulder` alone on its side is read as the upper arm; if the upper arm lost its name, shape
    still sees that the shoulder is a clavicle.
    """
    roles, trust = dict(named.roles), dict(named.trust)
    seen_as = {joint: role for role, joint in seen.items()}
    for role, joint in named.roles.items():
        meant = seen_as.get(joint, role)
        parts = _MEANINGS.get(str(hints[joint].part), ())
        if meant != role and meant not in named.roles and meant.endswith(parts):
            roles[meant], trust[meant] = roles.pop(role), trust.pop(role)
    return NamedRoles(roles, trust)


def _trust(role: str, hint: NameHint) -> float:
    if hint.part is None or (role == "head" and hint.part == "neck"):
        return NO_NAME
    return AMBIGUOUS_NAME if hint.part in AMBIGUOUS else EXACT


def _by_part(tree: Tree, hints: Sequence[NameHint], side: str) -> dict[str, list[int]]:
    """The joints of one side by the part their names give, from the trunk outwards."""
    found: dict[str, list[int]] = {}
    for joint in sorted(range(len(hints)), key=lambda joint: tree.depth[joint]):
        hint = hints[joint]
        if hint.side == side and hint.part not in (None, "never"):
            found.setdefault(str(hint.part), []).append(joint)
    return found


def _first(*candidates: list[int] | None) -> int | None:
    for joints in candidates:
        if joints:
            return joints[0]
    return None


def _arm(side: str, limbs: dict[str, list[int]]) -> dict[str, int]:
    numbered = list(limbs.get("arm?", []))  # arm_1, arm_2, ... count by depth, whatever they say
    upper = _first(limbs.get("upper_arm"))
    lower = _first(limbs.get("lower_arm"))
    hand = _first(limbs.get("hand"))
    collar = _first(limbs.get("clavicle"))
    shoulder = _first(limbs.get("shoulder?"))
    if upper is None and shoulder is not None and (collar is not None or not numbered):
        upper = shoulder
    if upper is None and numbered:
        upper = numbered.pop(0)
    if lower is None and numbered:
        lower = numbered.pop(0)
    if hand is None and numbered:
        hand = numbered.pop(0)
    if collar is None and shoulder != upper:
        collar = shoulder
    return _present(side, Shoulder=collar, UpperArm=upper, LowerArm=lower, Hand=hand)


def _leg(side: str, limbs: dict[str, list[int]]) -> dict[str, int]:
    numbered = list(limbs.get("leg?", []))
    feet = limbs.get("foot", [])
    upper = _first(limbs.get("upper_leg"), limbs.get("hip?"))
    lower = _first(limbs.get("lower_leg"))
    foot = _first(feet)
    # An ankle with a foot below it: the ankle turns the foot, the other one bends it.
    toes = _first(limbs.get("toes"), feet[1:])
    if upper is None and numbered:
        upper = numbered.pop(0)
    if lower is None and numbered:
        lower = numbered.pop(0)
    if foot is None and numbered:
        foot = numbered.pop(0)
        toes = toes if toes is not None else _first(numbered)
    return _present(side, UpperLeg=upper, LowerLeg=lower, Foot=foot, Toes=toes)


def _present(side: str, **parts: int | None) -> dict[str, int]:
    return {side + part: joint for part, joint in parts.items() if joint is not None}


def _fingers(tree: Tree, hints: Sequence[NameHint], side: str) -> dict[str, int]:
    roles: dict[str, int] = {}
    for finger in FINGERS:
        named = [
            joint
            for joint, hint in enumerate(hints)
            if hint.part == "finger" and hint.side == side and hint.finger == finger
        ]
        numbered = [joint for joint in named if hints[joint].order is not None]
        if numbered and all((hints[joint].order or 0) > 1 for joint in numbered):
            numbered = named  # Index, Index2: the first one goes without a number
        numbered.sort(key=lambda joint: tree.depth[joint])
        for segment, joint in zip(finger_segments(finger), numbered, strict=False):
            roles[side + finger + segment] = joint
    return roles


def _head(tree: Tree, hints: Sequence[NameHint]) -> int | None:
    """The joint called head; without one the last of the neck."""
    heads = [joint for joint, hint in enumerate(hints) if hint.part == "head" and not hint.side]
    if heads:
        return tree.highest(heads)
    necks = [joint for joint, hint in enumerate(hints) if hint.part == "neck" and not hint.side]
    return max(necks, key=lambda joint: tree.depth[joint]) if necks else None
