"""VRM characters: roles, facing, and files that are no characters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.gltf_files import GltfBuilder
from support.shared import shared_files, shared_path
from understudy.characters.gltf import load_rig
from understudy.characters.rig import RigError
from understudy.characters.vrm import HUMANOID_ROLES, REQUIRED_ROLES
from understudy.kinematics import ForwardKinematics

VRMS = shared_files("rigs/*.vrm")


def body(facing: float) -> tuple[GltfBuilder, dict[str, int]]:
    """Hips, a left hand with a thumb and a right one, for a file that faces +Z (1) or -Z (-1)."""
    builder = GltfBuilder()
    hips = builder.node("Hüfte", builder.node("Armature"), translation=[0, 1, 0])
    nodes = {"hips": hips}
    for role, x in (("leftHand", 0.6), ("rightHand", -0.6)):
        nodes[role] = builder.node(role + "_J", hips, translation=[x * facing, 0.4, 0])
    above = nodes["leftHand"]
    for i in range(3):
        above = builder.node(f"thumb{i}", above, translation=[0.03 * facing, 0, 0.01 * facing])
        nodes[f"thumb{i}"] = above
    return builder, nodes


def vrm0(builder: GltfBuilder, roles: dict[str, int]) -> None:
    bones = [{"bone": role, "node": node} for role, node in roles.items()]
    builder.document["extensions"] = {"VRM": {"humanoid": {"humanBones": bones}}}


def vrm1(builder: GltfBuilder, roles: dict[str, int], version: str = "1.0") -> None:
    bones = {role: {"node": node} for role, node in roles.items()}
    builder.document["extensions"] = {
        "VRMC_vrm": {"specVersion": version, "humanoid": {"humanBones": bones}}
    }


def test_a_vrm_0_character_is_turned_and_its_thumbs_get_their_vrm_1_names(tmp_path: Path) -> None:
    builder, nodes = body(facing=-1.0)
    roles = {role: nodes[role] for role in ("hips", "leftHand", "rightHand")}
    for part, node in zip(("Proximal", "Intermediate", "Distal"), range(3), strict=True):
        roles[f"leftThumb{part}"] = nodes[f"thumb{node}"]
    vrm0(builder, roles)
    rig = load_rig(builder.write(tmp_path / "old.vrm"))
    assert rig.format == "VRM 0.0"
    assert rig.turned
    assert rig.humanoid["hips"] == "Hüfte"
    thumbs = [rig.humanoid[f"leftThumb{p}"] for p in ("Metacarpal", "Proximal", "Distal")]
    assert thumbs == ["thumb0", "thumb1", "thumb2"]
    kinematics = ForwardKinematics(rig.skeleton)
    pose = rig.skeleton.rest_pose()
    kinematics.update(pose.root, pose.rotations_xyzw)
    left = kinematics.positions[rig.skeleton.index("leftHand_J")]
    assert left == pytest.approx([0.6, 1.4, 0.0])
    assert kinematics.positions[rig.skeleton.index("thumb2")][2] == pytest.approx(0.03)
    # Only the root holds the half turn: below it the file's own local rotations stay as they are.
    assert np.abs(rig.skeleton.rest_xyzw[0]) == pytest.approx([0.0, 1.0, 0.0, 0.0])
    assert rig.skeleton.rest_xyzw[1:] == pytest.approx(
        np.tile([0.0, 0.0, 0.0, 1.0], (len(rig.skeleton) - 1, 1))
    )


def test_a_vrm_1_character_without_a_skin_has_its_humanoid_bones_as_joints(tmp_path: Path) -> None:
    builder, nodes = body(facing=1.0)
    vrm1(builder, {role: nodes[role] for role in ("hips", "leftHand", "rightHand")})
    rig = load_rig(builder.write(tmp_path / "new.vrm"))
    assert rig.format == "VRM 1.0"
    assert not rig.turned
    assert rig.skeleton.names == ("Hüfte", "leftHand_J", "rightHand_J")
    assert rig.floor_m == 0.0
    assert rig.skeleton.offsets[1] == pytest.approx([0.6, 0.4, 0.0])


def test_the_t_pose_of_a_vrm_is_that_of_its_nodes_even_if_bound_otherwise(tmp_path: Path) -> None:
    builder, nodes = body(facing=1.0)
    vrm1(builder, {role: nodes[role] for role in ("hips", "leftHand", "rightHand")})
    builder.skin([nodes["hips"], nodes["leftHand"]])
    builder.document["nodes"][nodes["leftHand"]]["translation"] = [0.5, 0.3, 0]
    rig = load_rig(builder.write(tmp_path / "bound.vrm"))
    assert rig.skeleton.offsets[rig.skeleton.index("leftHand_J")] == pytest.approx([0.5, 0.3, 0.0])
    assert any("T-pose used" in note for note in rig.notes)


def test_bones_vrm_does_not_know_twice_or_not_at_all_are_told(tmp_path: Path) -> None:
    builder, nodes = body(facing=-1.0)
    vrm0(
        builder, {"hips": nodes["hips"], "tail": nodes["thumb0"], "jaw": -1, "head": nodes["hips"]}
    )
    bones = builder.document["extensions"]["VRM"]["humanoid"]["humanBones"]
    bones.append({"bone": "hips", "node": nodes["thumb1"]})
    rig = load_rig(builder.write(tmp_path / "odd.vrm"))
    assert rig.humanoid == {"hips": "Hüfte"}
    text = "\n".join(rig.notes)
    assert "'tail' is not a bone VRM knows" in text
    assert "'head' shares node 'Hüfte'" in text
    assert "'hips' is given twice" in text
    assert "missing: spine, head, leftUpperLeg" in text


@pytest.mark.parametrize(
    ("extensions", "reason"),
    [
        ({"VRMC_vrm_animation": {"specVersion": "1.0"}}, "an animation|VRM animation, not"),
        ({"VRMC_vrm": {"specVersion": "2.0"}}, "versions 0 and 1 are supported"),
        ({"VRMC_vrm": {"humanoid": {"humanBones": {"hips": {"node": 99}}}}}, "'hips': node is 99"),
        ({"VRM": {"humanoid": {"humanBones": {"hips": 0}}}}, "humanBones must be a JSON array"),
        ({"VRM": {"humanoid": {"humanBones": []}}}, "no skin and no VRM humanoid"),
    ],
)
def test_files_that_are_no_vrm_character_are_refused(
    tmp_path: Path, extensions: dict[str, Any], reason: str
) -> None:
    builder, _ = body(facing=1.0)
    builder.document["extensions"] = extensions
    with pytest.raises(RigError, match=reason):
        load_rig(builder.write(tmp_path / "wrong.vrm"))


def test_a_vrm_animation_is_refused_in_one_line() -> None:
    with pytest.raises(RigError, match=r"^pixiv_test\.vrma: .*not a character[^\n]*$"):
        load_rig(shared_path("rigs/pixiv_test.vrma"))


@pytest.mark.parametrize("path", VRMS, ids=lambda path: path.name)
def test_the_humanoid_of_a_real_file_is_complete(path: Path) -> None:
    listed = json.loads(shared_path("rigs/BONES.json").read_text(encoding="utf-8"))[path.name]
    rig = load_rig(path)
    renamed = {"Proximal": "Metacarpal", "Intermediate": "Proximal", "Distal": "Distal"}
    expected = {}
    for role, joint in listed["humanoid"].items():
        side, thumb, part = role.partition("Thumb")
        old = thumb and rig.format == "VRM 0.0"
        expected[f"{side}Thumb{renamed[part]}" if old else role] = joint
    assert rig.humanoid == expected
    assert set(REQUIRED_ROLES) <= set(rig.humanoid)
    assert all(joint in rig.skeleton for joint in rig.humanoid.values())


def test_there_are_55_roles_each_named_once() -> None:
    assert len(HUMANOID_ROLES) == len(set(HUMANOID_ROLES)) == 55
