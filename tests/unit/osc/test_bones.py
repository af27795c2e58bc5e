from __future__ import annotations

from understudy_protocol.osc.bones import (
    BONE_INDEX,
    BONE_NAMES,
    BONE_PARENTS,
    VMC_NAMES,
    VRM1_NAMES,
    nearest_present_parent,
)


def parent(name: str, absent: set[str]) -> str | None:
    present = sum(1 << i for i, bone in enumerate(BONE_NAMES) if bone not in absent)
    found = nearest_present_parent(BONE_INDEX[name], present)
    return None if found < 0 else BONE_NAMES[found]


def test_there_are_55_bones_in_the_order_of_unity() -> None:
    assert len(BONE_NAMES) == len(set(BONE_NAMES)) == 55
    assert BONE_NAMES[0] == "Hips"
    assert BONE_NAMES[23:25] == ("Jaw", "LeftThumbProximal")
    assert BONE_NAMES[39] == "RightThumbProximal"
    assert BONE_NAMES[53:] == ("RightLittleDistal", "UpperChest")


def test_every_bone_but_hips_hangs_on_another() -> None:
    assert [name for name, above in zip(BONE_NAMES, BONE_PARENTS, strict=True) if above < 0] == [
        "Hips"
    ]
    assert parent("LeftUpperArm", set()) == "LeftShoulder"
    assert parent("LeftIndexProximal", set()) == "LeftHand"
    assert parent("RightToes", set()) == "RightFoot"


def test_children_of_an_absent_bone_hang_on_the_next_one_up() -> None:
    assert parent("Neck", {"UpperChest"}) == "Chest"
    assert parent("LeftShoulder", {"UpperChest", "Chest"}) == "Spine"
    assert parent("LeftUpperArm", {"UpperChest", "LeftShoulder"}) == "Chest"
    assert parent("Spine", {"Hips"}) is None


def test_vrm_1_names_differ_by_a_capital_and_in_the_thumb() -> None:
    assert VRM1_NAMES["LeftUpperArm"] == "leftUpperArm"
    assert VRM1_NAMES["RightThumbProximal"] == "rightThumbMetacarpal"
    assert VMC_NAMES["leftThumbProximal"] == "LeftThumbIntermediate"
    assert len(VMC_NAMES) == 55
