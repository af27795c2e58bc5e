"""The 55 bones of the VMC protocol: names, parents, and the way from VRM 1 spelling.

The order is Unity's HumanBodyBones, which every sender and receiver of the protocol shares. A
bone's number in this package is its place in `BONE_NAMES`.
"""

from __future__ import annotations

from typing import Final

_SIDES: Final = ("Left", "Right")
_FINGERS: Final = ("Thumb", "Index", "Middle", "Ring", "Little")
_PHALANGES: Final = ("Proximal", "Intermediate", "Distal")

BONE_NAMES: Final[tuple[str, ...]] = (
    *("Hips", "LeftUpperLeg", "RightUpperLeg", "LeftLowerLeg", "RightLowerLeg", "LeftFoot"),
    *("RightFoot", "Spine", "Chest", "Neck", "Head", "LeftShoulder", "RightShoulder"),
    *("LeftUpperArm", "RightUpperArm", "LeftLowerArm", "RightLowerArm", "LeftHand", "RightHand"),
    *("LeftToes", "RightToes", "LeftEye", "RightEye", "Jaw"),
    *(side + finger + part for side in _SIDES for finger in _FINGERS for part in _PHALANGES),
    "UpperChest",
)
BONE_COUNT: Final = len(BONE_NAMES)
BONE_INDEX: Final[dict[str, int]] = {name: i for i, name in enumerate(BONE_NAMES)}
HIPS: Final = BONE_INDEX["Hips"]


def _parent_names() -> dict[str, str | None]:
    parents: dict[str, str | None] = {
        "Hips": None,
        "Spine": "Hips",
        "Chest": "Spine",
        "UpperChest": "Chest",
        "Neck": "UpperChest",
        "Head": "Neck",
        "LeftEye": "Head",
        "RightEye": "Head",
        "Jaw": "Head",
    }
    for side in _SIDES:
        arm = ("UpperChest", *(side + part for part in ("Shoulder", "UpperArm", "LowerArm")))
        leg = ("Hips", *(side + part for part in ("UpperLeg", "LowerLeg", "Foot", "Toes")))
        for chain in ((*arm, side + "Hand"), leg):
            parents.update(zip(chain[1:], chain[:-1], strict=True))
        for finger in _FINGERS:
            above = side + "Hand"
            for part in _PHALANGES:
                parents[side + finger + part] = above
                above = side + finger + part
    return parents


_PARENT_NAMES: Final = _parent_names()

BONE_PARENTS: Final[tuple[int, ...]] = tuple(
    -1 if (parent := _PARENT_NAMES[name]) is None else BONE_INDEX[parent] for name in BONE_NAMES
)
"""The parent of each bone in a complete body; -1 for Hips."""

# VRM 1 names the thumb's joints after its anatomy, one place nearer to the wrist than Unity does.
_VRM1_THUMB: Final = {
    side + "Thumb" + vmc: side.lower() + "Thumb" + vrm
    for side in _SIDES
    for vmc, vrm in zip(_PHALANGES, ("Metacarpal", "Proximal", "Distal"), strict=True)
}
VRM1_NAMES: Final[dict[str, str]] = {
    name: _VRM1_THUMB.get(name, name[0].lower() + name[1:]) for name in BONE_NAMES
}
"""VMC name to VRM 1 humanoid name."""

VMC_NAMES: Final[dict[str, str]] = {vrm: vmc for vmc, vrm in VRM1_NAMES.items()}
"""VRM 1 humanoid name to VMC name."""


def nearest_present_parent(bone: int, present: int) -> int:
    """The closest ancestor of `bone` among the bones whose bits are set in `present`, or -1.

    UpperChest, Chest, shoulders and others are optional: the children of an absent bone hang on
    the next one up.
    """
    parent = BONE_PARENTS[bone]
    while parent >= 0 and not present >> parent & 1:
        parent = BONE_PARENTS[parent]
    return parent
