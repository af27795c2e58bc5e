"""VRM humanoid data: which node plays which part, in the words of VRM 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from understudy.characters.gltf_file import (
    GltfFile,
    Json,
    check_index,
    get_object,
    get_objects,
    get_text,
)
from understudy.characters.gltf_nodes import NodeTree
from understudy.characters.rig import RigError

_FINGERS: Final = tuple(
    f"{finger}{part}"
    for finger, parts in (
        ("Thumb", ("Metacarpal", "Proximal", "Distal")),
        ("Index", ("Proximal", "Intermediate", "Distal")),
        ("Middle", ("Proximal", "Intermediate", "Distal")),
        ("Ring", ("Proximal", "Intermediate", "Distal")),
        ("Little", ("Proximal", "Intermediate", "Distal")),
    )
    for part in parts
)
_LIMBS: Final = (
    "Eye",
    "UpperLeg",
    "LowerLeg",
    "Foot",
    "Toes",
    "Shoulder",
    "UpperArm",
    "LowerArm",
    "Hand",
    *_FINGERS,
)
HUMANOID_ROLES: Final[tuple[str, ...]] = (
    "hips",
    "spine",
    "chest",
    "upperChest",
    "neck",
    "head",
    "jaw",
    *(f"{side}{part}" for side in ("left", "right") for part in _LIMBS),
)
REQUIRED_ROLES: Final[tuple[str, ...]] = (
    "hips",
    "spine",
    "head",
    *(
        f"{side}{part}"
        for side in ("left", "right")
        for part in ("UpperLeg", "LowerLeg", "Foot", "UpperArm", "LowerArm", "Hand")
    ),
)
# VRM 0 counts the thumb's bones like those of the other fingers, VRM 1 as anatomists do.
_VRM0_THUMBS: Final = {
    f"{side}Thumb{old}": f"{side}Thumb{new}"
    for side in ("left", "right")
    for old, new in (("Proximal", "Metacarpal"), ("Intermediate", "Proximal"))
}


@dataclass(frozen=True, slots=True, eq=False)
class Humanoid:
    """The format's name, whether its characters face -Z, and node numbers by VRM 1 role."""

    format: str
    faces_back: bool
    nodes: dict[str, int]
    notes: tuple[str, ...]


def read_humanoid(file: GltfFile, tree: NodeTree) -> Humanoid:
    """The humanoid data of a VRM 0 or 1 file; none of it for plain glTF."""
    vrm1, vrm0 = file.extension("VRMC_vrm"), file.extension("VRM")
    if vrm1 is not None:
        version = get_text(vrm1, "specVersion", "VRMC_vrm") or "1.0"
        if not version.startswith("1."):
            raise RigError(f"VRM version {version[:20]!r}; versions 0 and 1 are supported")
        bones = get_object(get_object(vrm1, "humanoid", "VRMC_vrm"), "humanBones", "humanoid")
        pairs = [(role, get_object(bones, role, "humanBones")) for role in bones]
        nodes, notes = _assign(pairs, tree, {})
        return Humanoid(f"VRM {version}", False, nodes, notes)
    if vrm0 is not None:
        listed = get_objects(get_object(vrm0, "humanoid", "VRM"), "humanBones", "humanoid")
        pairs = [(get_text(bone, "bone", "humanBones"), bone) for bone in listed]
        nodes, notes = _assign(pairs, tree, _VRM0_THUMBS)
        return Humanoid("VRM 0.0", True, nodes, notes)
    if file.extension("VRMC_vrm_animation") is not None:
        raise RigError("this is a VRM animation, not a character: give it a .vrm, .glb or .gltf")
    return Humanoid("glTF", False, {}, ())


def _assign(
    pairs: list[tuple[str, Json]], tree: NodeTree, renamed: dict[str, str]
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Node numbers by role, and notes on what was left out."""
    nodes: dict[str, int] = {}
    notes: list[str] = []
    for written, bone in pairs:
        role = renamed.get(written, written)
        if bone.get("node") == -1:  # VRM 0 exporters write -1 for a bone the model lacks
            continue
        node = check_index(bone.get("node"), len(tree), f"humanoid bone {written!r}: node")
        if role not in HUMANOID_ROLES:
            notes.append(f"humanoid bone {written!r} is not a bone VRM knows; ignored")
        elif role in nodes:
            notes.append(f"humanoid bone {written!r} is given twice; the first is used")
        elif node in nodes.values():
            notes.append(
                f"humanoid bone {written!r} shares node {tree.label(node)} with another; ignored"
            )
        else:
            nodes[role] = node
    missing = [role for role in REQUIRED_ROLES if role not in nodes]
    if missing:
        notes.append(f"humanoid bones VRM requires are missing: {', '.join(missing)}")
    return nodes, tuple(notes)
