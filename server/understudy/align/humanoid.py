"""The parts of a human body by their VRM 1 humanoid names: roles, sides, anatomical order."""

from __future__ import annotations

from typing import Final

SIDES: Final = ("left", "right")
LIMB_PARTS: Final = (
    "Shoulder",
    "UpperArm",
    "LowerArm",
    "Hand",
    "UpperLeg",
    "LowerLeg",
    "Foot",
    "Toes",
)
TRUNK_ROLES: Final[tuple[str, ...]] = ("hips", "spine", "chest", "upperChest", "neck", "head")
FINGERS: Final = ("Thumb", "Index", "Middle", "Ring", "Little")


def finger_segments(finger: str) -> tuple[str, str, str]:
    """The three bones of a finger, from the palm outwards."""
    if finger == "Thumb":
        return "Metacarpal", "Proximal", "Distal"
    return "Proximal", "Intermediate", "Distal"


BODY_ROLES: Final[tuple[str, ...]] = TRUNK_ROLES + tuple(
    side + part for side in SIDES for part in LIMB_PARTS
)
FINGER_ROLES: Final = tuple(
    side + finger + segment
    for side in SIDES
    for finger in FINGERS
    for segment in finger_segments(finger)
)
ALL_ROLES: Final = BODY_ROLES + FINGER_ROLES

# Without one of these there is no humanoid to drive.
REQUIRED_ROLES: Final = (
    "hips",
    "spine",
    "head",
    *(
        side + part
        for side in SIDES
        for part in ("UpperArm", "LowerArm", "UpperLeg", "LowerLeg", "Foot")
    ),
)


def side_of(role: str) -> str:
    """`left`, `right`, or nothing for a role in the middle of the body."""
    for side in SIDES:
        if role.startswith(side):
            return side
    return ""


def mirrored(role: str) -> str:
    """The same part of the other side; a middle role is its own mirror."""
    side = side_of(role)
    if not side:
        return role
    return ("right" if side == "left" else "left") + role[len(side) :]


def _parents() -> dict[str, tuple[str, ...]]:
    above: dict[str, tuple[str, ...]] = {
        "spine": ("hips",),
        "chest": ("spine",),
        "upperChest": ("chest",),
        "neck": ("upperChest", "chest", "spine"),
        "head": ("neck", "upperChest", "chest", "spine"),
    }
    for side in SIDES:
        above[side + "Shoulder"] = ("upperChest", "chest", "spine")
        above[side + "UpperArm"] = (side + "Shoulder", "upperChest", "chest", "spine")
        above[side + "LowerArm"] = (side + "UpperArm",)
        above[side + "Hand"] = (side + "LowerArm",)
        above[side + "UpperLeg"] = ("hips",)
        above[side + "LowerLeg"] = (side + "UpperLeg",)
        above[side + "Foot"] = (side + "LowerLeg",)
        above[side + "Toes"] = (side + "Foot",)
        for finger in FINGERS:
            previous: tuple[str, ...] = (side + "Hand", side + "LowerArm")
            for segment in finger_segments(finger):
                above[side + finger + segment] = previous
                previous = (side + finger + segment, *previous)
    return above


# For every role the roles it may hang below, the nearest first.
ROLES_ABOVE: Final = _parents()
