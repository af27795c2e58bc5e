"""Which joint of a skeleton plays which part of a human body, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from understudy.align.humanoid import ALL_ROLES, REQUIRED_ROLES, SIDES
from understudy.align.motion import MotionSample
from understudy.align.named_roles import EXACT, NO_NAME, named_roles
from understudy.align.names import NameHint, read_names
from understudy.align.tree import Tree
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton


class RoleError(UnderstudyError):
    """A role or joint name that cannot be used in a map."""


@dataclass(frozen=True, slots=True)
class RoleMap:
    """The body found in a skeleton.

    `roles` (VRM 1 humanoid role -> joint) with a `confidence` (0 to 1) for each; `spine`, the
    joints above the hips up to the one that carries the arms; `neck`, those above it and below
    the head; `problems` in plain words, each with a suggestion; `refused`, why this is no
    humanoid, or None.
    """

    roles: dict[str, int]
    confidence: dict[str, float]
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    problems: tuple[str, ...] = ()
    refused: str | None = None

    def joint(self, role: str) -> int:
        """The joint that plays `role`, or -1."""
        return self.roles.get(role, -1)


def find_roles(
    skeleton: Skeleton,
    *,
    humanoid: Mapping[str, str] | None = None,
    motion: MotionSample | None = None,
) -> RoleMap:
    """Find the human body in a skeleton.

    `humanoid` (role -> joint name) is taken as given, as a VRM file states it; what it leaves
    out is filled in from names.
    """
    tree = Tree(skeleton.parents)
    hints = read_names(skeleton.names)
    named = named_roles(tree, hints)
    given = _given_roles(skeleton, humanoid or {})
    roles = {role: joint for role, joint in named.roles.items() if joint not in given.values()}
    roles.update(given)
    confidence = {role: named.trust.get(role, NO_NAME) for role in roles}
    confidence.update(dict.fromkeys(given, 1.0))
    spine, neck = _trunk(tree, hints, roles, confidence, given)
    missing = [role for role in REQUIRED_ROLES if role not in roles]
    refused = f"no joint found for {', '.join(missing)}" if missing else None
    return RoleMap(roles, confidence, tuple(spine), tuple(neck), refused=refused)


def _given_roles(skeleton: Skeleton, humanoid: Mapping[str, str]) -> dict[str, int]:
    given: dict[str, int] = {}
    for role, name in _vrm1(humanoid).items():
        if role not in ALL_ROLES:
            continue  # eyes and jaw are no part of the body's posture
        if name not in skeleton:
            raise RoleError(
                f"role {role!r}: no joint {name!r}; the skeleton has {', '.join(skeleton.names)}"
            )
        given[role] = skeleton.index(name)
    return given


def _vrm1(humanoid: Mapping[str, str]) -> dict[str, str]:
    """VRM 0 calls a thumb's bones proximal, intermediate, distal; VRM 1 starts at metacarpal."""
    renamed = dict(humanoid)
    for side in SIDES:
        if side + "ThumbIntermediate" in humanoid:
            if side + "ThumbProximal" in humanoid:
                renamed[side + "ThumbMetacarpal"] = humanoid[side + "ThumbProximal"]
            renamed[side + "ThumbProximal"] = renamed.pop(side + "ThumbIntermediate")
    return renamed


def _trunk(
    tree: Tree,
    hints: list[NameHint],
    roles: dict[str, int],
    confidence: dict[str, float],
    given: Mapping[str, int],
) -> tuple[list[int], list[int]]:
    """Complete hips, spine and neck from where legs, arms and head hang; return both chains."""
    legs = [roles[side + "UpperLeg"] for side in SIDES if side + "UpperLeg" in roles]
    arms = [roles[side + "UpperArm"] for side in SIDES if side + "UpperArm" in roles]
    if len(legs) < 2 or len(arms) < 2:
        return [], []
    chest = tree.common_ancestor(arms)
    hips = given.get("hips", tree.common_ancestor(legs))
    if hips != chest and not tree.is_above(hips, chest):
        hips = tree.common_ancestor([hips, chest])
    spine = tree.between(hips, chest)
    head = roles.get("head")
    neck: list[int] = []
    if head is not None and tree.is_above(chest, head):
        neck = tree.between(chest, head)[:-1]
    elif head is not None:
        del roles["head"], confidence["head"]
    found = {"hips": hips}
    found.update(zip(("spine", "chest", "upperChest"), _three(spine), strict=False))
    if neck:
        found["neck"] = neck[0]
    for role, joint in found.items():
        if role not in given:
            roles[role] = joint
            confidence[role] = EXACT if _fits(role, hints[joint]) else NO_NAME
    return spine, neck


def _three(chain: list[int]) -> list[int]:
    """The first, the middle and the last joint of a longer chain."""
    if len(chain) <= 3:
        return chain
    return [chain[0], chain[len(chain) // 2], chain[-1]]


def _fits(role: str, hint: NameHint) -> bool:
    if role == "hips":
        return hint.part == "hips"
    return hint.part == ("neck" if role == "neck" else "trunk")
