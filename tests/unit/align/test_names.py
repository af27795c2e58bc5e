from __future__ import annotations

import pytest

from support.humanoids import actor, renamed
from understudy.align.names import read_names
from understudy.align.roles import find_roles
from understudy.kinematics import Skeleton

VRM_LIMB = ("Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes")
TRUNK = ("hips", "spine", "chest", "upperChest", "neck", "head")

# For each family: trunk, then the limbs of one side with {} for the side, then both sides' marks.
FAMILIES = {
    "mixamo": (
        "mixamorig:Hips mixamorig:Spine mixamorig:Spine1 mixamorig:Spine2 mixamorig:Neck"
        " mixamorig:Head",
        "mixamorig:{}Shoulder mixamorig:{}Arm mixamorig:{}ForeArm mixamorig:{}Hand"
        " mixamorig:{}UpLeg mixamorig:{}Leg mixamorig:{}Foot mixamorig:{}ToeBase",
        ("Left", "Right"),
    ),
    "cmu": (
        "Hips LowerBack Spine Spine1 Neck Head",
        "{}Shoulder {}Arm {}ForeArm {}Hand {}UpLeg {}Leg {}Foot {}ToeBase",
        ("Left", "Right"),
    ),
    "biped": (
        "Bip01_Pelvis Bip01_Spine Bip01_Spine1 Bip01_Spine2 Bip01_Neck Bip01_Head",
        "Bip01_{}_Clavicle Bip01_{}_UpperArm Bip01_{}_Forearm Bip01_{}_Hand"
        " Bip01_{}_Thigh Bip01_{}_Calf Bip01_{}_Foot Bip01_{}_Toe0",
        ("L", "R"),
    ),
    "daz": (
        "hip abdomenLower abdomenUpper chest neck head",
        "{}Collar {}Shldr {}ForeArm {}Hand {}Thigh {}Shin {}Foot {}Toe",
        ("l", "r"),
    ),
    "xsens": (
        "Pelvis L5 T12 T8 Neck Head",
        "{}Shoulder {}UpperArm {}ForeArm {}Hand {}UpperLeg {}LowerLeg {}Foot {}Toe",
        ("Left", "Right"),
    ),
    "xsens-bvh": (
        "Hips Chest Chest2 Chest3 Neck Head",
        "{}Collar {}Shoulder {}Elbow {}Wrist {}Hip {}Knee {}Ankle {}Toe",
        ("Left", "Right"),
    ),
    "rokoko": (
        "Hips Spine1 Spine2 Spine3 Neck Head",
        "{}Shoulder {}Arm {}ForeArm {}Hand {}Thigh {}Shin {}Foot {}Toe",
        ("Left", "Right"),
    ),
    "mocopi": (
        "root torso_1 torso_2 torso_3 neck_1 head",
        "{}_shoulder {}_up_arm {}_low_arm {}_hand {}_up_leg {}_low_leg {}_foot {}_toes",
        ("l", "r"),
    ),
    "bandai": (
        "Hips Spine Chest UpperChest Neck Head",
        "Shoulder_{} UpperArm_{} LowerArm_{} Hand_{} UpperLeg_{} LowerLeg_{} Foot_{} Toes_{}",
        ("L", "R"),
    ),
    "smpl": (
        "Pelvis Spine1 Spine2 Spine3 Neck Head",
        "{}_Collar {}_Shoulder {}_Elbow {}_Wrist {}_Hip {}_Knee {}_Ankle {}_Foot",
        ("L", "R"),
    ),
    "unreal": (
        "pelvis spine_01 spine_02 spine_03 neck_01 head",
        "clavicle_{} upperarm_{} lowerarm_{} hand_{} thigh_{} calf_{} foot_{} ball_{}",
        ("l", "r"),
    ),
    "vroid": (
        "J_Bip_C_Hips J_Bip_C_Spine J_Bip_C_Chest J_Bip_C_UpperChest J_Bip_C_Neck J_Bip_C_Head",
        "J_Bip_{}_Shoulder J_Bip_{}_UpperArm J_Bip_{}_LowerArm J_Bip_{}_Hand"
        " J_Bip_{}_UpperLeg J_Bip_{}_LowerLeg J_Bip_{}_Foot J_Bip_{}_ToeBase",
        ("L", "R"),
    ),
}  # fmt: skip


def in_family(family: str) -> Skeleton:
    trunk, limbs, sides = FAMILIES[family]
    names = dict(zip(TRUNK, trunk.split(), strict=True))
    for side, mark in zip(("left", "right"), sides, strict=True):
        for part, name in zip(VRM_LIMB, limbs.split(), strict=True):
            names[side + part] = name.format(mark)
    return renamed(actor(), names)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_body_joint_of_a_naming_family_is_found_without_doubt(family: str) -> None:
    body = actor()
    found = find_roles(in_family(family))
    assert found.refused is None
    assert {role: found.joint(role) for role in body.names} == {
        role: body.index(role) for role in body.names
    }
    assert min(found.confidence.values()) >= 0.9
    assert found.problems == ()


@pytest.mark.parametrize(
    ("name", "part", "side"),
    [
        ("rButtock", "never", "right"),
        ("LHipJoint", "never", "left"),
        ("LeftToe_End", "never", "left"),
        ("kneeIK.l", "never", "left"),
        ("lhand", "hand", "left"),
        ("LeftForeFoot", "toes", "left"),
        ("左ひじ", "lower_arm", "left"),
        ("lowerback", "trunk", ""),
        ("hip", "hips", ""),
        ("HairBall_L", "never", "left"),
        ("Bone.004", None, ""),
    ],
)
def test_a_name_says_part_and_side(name: str, part: str | None, side: str) -> None:
    hint = read_names([name])[0]
    assert (hint.part, hint.side) == (part, side)


@pytest.mark.parametrize(
    ("name", "finger", "order"),
    [
        ("LeftHandIndex2", "Index", 2),
        ("rMid1", "Middle", 1),
        ("Bip01 L Finger0", "Thumb", 1),
        ("Bip01 L Finger21", "Middle", 2),
        ("J_Bip_L_Little3", "Little", 3),
        ("leftThumbMetacarpal", "Thumb", 1),
        ("LThumb", "Thumb", None),
    ],
)
def test_a_finger_s_name_says_which_and_how_far_out(
    name: str, finger: str, order: int | None
) -> None:
    hint = read_names([name])[0]
    assert (hint.part, hint.finger, hint.order) == ("finger", finger, order)


def test_bones_in_the_palm_are_no_fingers() -> None:
    assert read_names(["LeftInHandIndex"])[0].part == "palm"
    assert read_names(["index_metacarpal_l"])[0].part == "palm"


def test_a_word_on_every_joint_says_nothing() -> None:
    hints = read_names([f"{name}_Body" for name in ("pelvis", "thigh_l", "thigh_r", "shin_l")])
    assert [hint.part for hint in hints] == ["hips", "upper_leg", "upper_leg", "lower_leg"]
