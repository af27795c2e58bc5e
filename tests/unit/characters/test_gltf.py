"""glTF characters: where their joints are, and what the reader makes of unusual files."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support.gltf_files import GltfBuilder, node_worlds, open_glb
from support.shared import shared_files, shared_path
from understudy.characters.gltf import load_rig
from understudy.characters.rig import Rig, RigError
from understudy.kinematics import FloatArray, ForwardKinematics

QUARTER_ABOUT_X = (np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5))
RIGS = [*shared_files("rigs/*.glb"), *shared_files("rigs/*.vrm")]

# Head, left hand, left foot and left toes of the files that do not name them themselves.
LEFT_AND_HEAD = {
    "CesiumMan": (
        "Skeleton_neck_joint_2",
        "Skeleton_arm_joint_L__2_",
        "leg_joint_L_3",
        "leg_joint_L_5",
    ),
    "RiggedFigure": ("neck_joint_2", "arm_joint_L_3", "leg_joint_L_3", "leg_joint_L_5"),
    "RobotExpressive": ("Head", "LowerArm.L", "Foot.L", None),
    "Knight": ("head", "hand.l", "foot.l", "toes.l"),
}


def rest_positions(rig: Rig) -> dict[str, FloatArray]:
    kinematics = ForwardKinematics(rig.skeleton)
    pose = rig.skeleton.rest_pose()
    kinematics.update(pose.root, pose.rotations_xyzw)
    return dict(zip(rig.skeleton.names, kinematics.positions.copy(), strict=True))


def parent_of(rig: Rig, joint: str) -> str:
    return rig.skeleton.names[int(rig.skeleton.parents[rig.skeleton.index(joint)])]


def told(rig: Rig, words: str) -> bool:
    return any(words in note for note in rig.notes)


# Files others made


@pytest.mark.parametrize("path", RIGS, ids=lambda path: path.name)
def test_every_joint_rests_where_the_products_of_the_files_matrices_put_it(path: Path) -> None:
    document, binary = open_glb(path)
    worlds = node_worlds(document)
    if path.stem == "RobotExpressive":  # its nodes are in mid-motion: bind matrices of skin 0
        skin = document["skins"][0]
        accessor = document["accessors"][skin["inverseBindMatrices"]]
        start = document["bufferViews"][accessor["bufferView"]]["byteOffset"]
        start += accessor.get("byteOffset", 0)
        flat = np.frombuffer(binary, "<f4", 16 * accessor["count"], start).astype(np.float64)
        binds = np.linalg.inv(flat.reshape(-1, 4, 4).transpose(0, 2, 1))
        mesh_node = next(i for i, n in enumerate(document["nodes"]) if n.get("skin") == 0)
        worlds[skin["joints"]] = worlds[mesh_node] @ binds
    rig = load_rig(path)
    turn = np.diag([-1.0, 1.0, -1.0]) if "VRM" in document.get("extensions", {}) else np.eye(3)
    joints = {j for skin in document.get("skins", []) for j in skin["joints"]}
    joints.update(range(len(worlds)) if not joints else ())
    expected = {document["nodes"][j]["name"]: turn @ worlds[j][:3, 3] for j in joints}
    for name, position in rest_positions(rig).items():
        assert position == pytest.approx(expected[name], abs=1e-6 * rig.height_m), name


@pytest.mark.parametrize("path", RIGS, ids=lambda path: path.name)
def test_every_rig_keeps_the_joints_of_its_file_but_ends_and_controls(path: Path) -> None:
    listed = json.loads(shared_path("rigs/BONES.json").read_text(encoding="utf-8"))[path.name]
    names = {name for name, _ in listed["joints"]}
    kept = set(load_rig(path).skeleton.names)
    assert kept <= names
    ends = {name for name in names if name.lower().replace("_armature", "").endswith("_end")}
    controls = {
        "Knight": {name for name in names if "IK" in name or "control" in name},
        "RobotExpressive": {"PoleTarget.L", "PoleTarget.R"},
        "mtoon_uv_vrm1": {"Armature", "root", "ScrollX", "ScrollY", "ScrollRot"},
    }
    assert names - kept - ends == controls.get(path.stem, set())


@pytest.mark.parametrize(
    "path", [path for path in RIGS if path.stem != "Fox"], ids=lambda path: path.name
)
def test_a_humanoid_stands_upright_on_its_floor_with_its_left_at_positive_x(path: Path) -> None:
    rig = load_rig(path)
    where = rest_positions(rig)
    head, hand, foot, toes = LEFT_AND_HEAD.get(path.stem) or (
        rig.humanoid[role] if role in rig.humanoid else None
        for role in ("head", "leftHand", "leftFoot", "leftToes")
    )
    assert head is not None
    assert hand is not None
    assert foot is not None
    assert where[hand][0] > 0.0
    assert where[foot][0] > 0.0
    rise = where[head] - where[foot]
    assert rise[1] > 5.0 * abs(rise[2])
    assert abs(rig.floor_m) < 0.01 * rig.height_m
    assert 0.0 <= where[foot][1] - rig.floor_m < 0.2 * rig.height_m
    if toes is not None:
        assert where[toes][2] > where[foot][2]


def test_the_robots_feet_hang_below_its_shins() -> None:
    rig = load_rig(shared_path("rigs/RobotExpressive.glb"))
    assert parent_of(rig, "Foot.L") == "LowerLeg.L"
    assert parent_of(rig, "Foot.R") == "LowerLeg.R"
    assert told(rig, "the bind pose is the rest pose")
    assert told(rig, "node scale 100")
    assert told(rig, "unusual")  # 4.5 m
    where = rest_positions(rig)
    assert where["LowerArm.L"][1] == pytest.approx(where["UpperArm.L"][1], abs=0.05)  # T-pose


def test_the_knight_loses_its_controls_and_stands_on_its_feet_not_on_its_sword() -> None:
    rig = load_rig(shared_path("rigs/Knight.glb"))
    assert len(rig.skeleton) == 23
    assert told(rig, "18 control bones")
    assert rig.weights[rig.skeleton.index("root")] == 0.0
    assert rig.weights[rig.skeleton.index("foot.l")] > 0.0
    assert rig.weights.sum() == pytest.approx(1.0)


# Files made here


def test_transforms_above_the_root_are_folded_in(tmp_path: Path) -> None:
    builder = GltfBuilder()
    # Z up and centimetres above, as exporters of other programs leave them.
    top = builder.node("Z_UP", matrix=[1, 0, 0, 0, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1])
    scaled = builder.node("Armature", top, scale=[0.01, 0.01, 0.01])
    joints = [builder.node("hips", scaled, translation=[0, 0, 100])]
    joints.append(builder.node("spine", joints[0], translation=[0, -5, 20]))
    builder.skin(joints)
    rig = load_rig(builder.write(tmp_path / "centimetres.glb"))
    where = rest_positions(rig)
    assert where["hips"] == pytest.approx([0.0, 1.0, 0.0])
    assert where["spine"] == pytest.approx([0.0, 1.2, 0.05])
    assert told(rig, "node scale 0.01")


def test_scale_inside_the_tree_ends_up_in_the_offsets(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("hips", translation=[0, 1, 0], scale=[1, 2, 1])
    middle = builder.node("spine", root, translation=[0, 0.2, 0], scale=[0.5, 0.5, 0.5])
    builder.skin([root, middle, builder.node("head", middle, translation=[0, 0.5, 0])])
    rig = load_rig(builder.write(tmp_path / "scaled.glb"))
    assert rest_positions(rig)["head"] == pytest.approx([0.0, 1.9, 0.0])
    assert rig.skeleton.rest_xyzw == pytest.approx(np.tile([0, 0, 0, 1.0], (3, 1)))
    assert not told(rig, "shear")


def test_shear_is_told_and_positions_stay_exact(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("hips", scale=[1, 3, 1])
    turn = (0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8))
    middle = builder.node("spine", root, translation=[0, 0.2, 0], rotation=turn)
    joints = [root, middle, builder.node("head", middle, translation=[0.1, 0.5, 0])]
    builder.skin(joints)
    rig = load_rig(builder.write(tmp_path / "sheared.glb"))
    assert rest_positions(rig)["head"] == pytest.approx(builder.worlds()[joints[2]][:3, 3])
    assert told(rig, "shear 2 joints, first 'spine'")


@pytest.mark.parametrize(
    ("scale", "reason"), [([-1, 1, 1], "mirrored"), ([1, 0, 1], "scale is zero")]
)
def test_mirrored_and_flat_joints_are_refused(tmp_path: Path, scale: Any, reason: str) -> None:
    builder = GltfBuilder()
    root = builder.node("hips")
    joints = [root, builder.node("spine", root, scale=scale)]
    builder.skin(joints, np.tile(np.eye(4), (2, 1, 1)))
    with pytest.raises(RigError, match=rf"^bad\.glb: joint 'spine': .*{reason}"):
        load_rig(builder.write(tmp_path / "bad.glb"))


def test_a_node_between_two_joints_is_folded_into_the_bone(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("hips", translation=[0, 1, 0])
    between = builder.node("offset", root, translation=[0, 0.3, 0], rotation=QUARTER_ABOUT_X)
    head = builder.node("head", between, translation=[0, 0, -0.2])
    builder.skin([root, head])
    rig = load_rig(builder.write(tmp_path / "between.glb"))
    assert rig.skeleton.names == ("hips", "head")
    assert rest_positions(rig)["head"] == pytest.approx([0.0, 1.5, 0.0])
    assert rig.skeleton.rest_xyzw[1] == pytest.approx(QUARTER_ABOUT_X)
    assert told(rig, "folded in: offset")


def test_a_pose_left_in_the_nodes_gives_way_to_the_bind_pose(tmp_path: Path) -> None:
    builder = GltfBuilder()
    top = builder.node("Armature", translation=[0, 0, 3])
    joints = builder.chain(top, "hips", "spine", "head")
    worlds = builder.worlds()
    builder.skin(joints)
    builder.document["nodes"][joints[1]]["rotation"] = QUARTER_ABOUT_X
    rig = load_rig(builder.write(tmp_path / "posed.glb"))
    assert told(rig, "90 degrees off")
    for name, joint in zip(("hips", "spine", "head"), joints, strict=True):
        assert rest_positions(rig)[name] == pytest.approx(worlds[joint][:3, 3])


def test_two_skins_over_one_posed_skeleton_agree_on_the_bind_pose(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "hips", "spine", "head", "crown")
    worlds = builder.worlds()
    shift = np.eye(4)
    shift[:3, 3] = (5.0, 0.0, 0.0)
    builder.skin(joints[:3])
    # The second mesh was bound somewhere else in space and knows only the upper joints.
    builder.skin(joints[2:], np.linalg.inv(worlds[joints[2:]]) @ shift)
    builder.document["nodes"][joints[1]]["rotation"] = QUARTER_ABOUT_X
    rig = load_rig(builder.write(tmp_path / "two.glb"))
    assert told(rig, "2 skins")
    assert rest_positions(rig)["crown"] == pytest.approx(worlds[joints[3]][:3, 3])


def test_several_top_joints_get_their_common_ancestor_as_root(tmp_path: Path) -> None:
    builder = GltfBuilder()
    scene = builder.node("Scene")
    rig_node = builder.node("Rig", scene, translation=[0, 1, 0])
    upper = builder.chain(rig_node, "spine", "head")
    lower = builder.chain(rig_node, "thigh", "shin", step=(0, -0.4, 0))
    builder.skin([*upper, *lower])
    rig = load_rig(builder.write(tmp_path / "tops.glb"))
    assert rig.skeleton.names[0] == "Rig"
    assert parent_of(rig, "spine") == parent_of(rig, "thigh") == "Rig"
    assert rest_positions(rig)["shin"] == pytest.approx([0.0, 0.2, 0.0])
    assert told(rig, "became the root")


def test_of_two_unconnected_skeletons_the_larger_is_used(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.skin(builder.chain(None, "hips", "spine", "head"))
    builder.skin(builder.chain(None, "leash", "collar"))
    rig = load_rig(builder.write(tmp_path / "dog.glb"))
    assert rig.skeleton.names == ("hips", "spine", "head")
    assert told(rig, "another skeleton in the file were left out: leash, collar")


def test_joints_that_share_a_name_are_numbered(tmp_path: Path) -> None:
    builder = GltfBuilder()
    builder.skin(builder.chain(None, "bone", "bone", "bone#2", "bone", ""))
    rig = load_rig(builder.write(tmp_path / "names.glb"))
    assert rig.skeleton.names == ("bone", "bone#2", "bone#2#2", "bone#3", "node4")


def test_weightless_controls_go_but_a_weightless_hand_below_the_body_stays(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("root")
    hips, arm, hand = builder.chain(root, "hips", "arm", "hand")
    pole = builder.node("elbow_pole", root)
    skin = builder.skin([root, hips, arm, hand, pole])
    builder.skinned_mesh(skin, [[0, 0, 0], [0, 2.5, 0]], [1, 2])
    rig = load_rig(builder.write(tmp_path / "controls.glb"))
    assert rig.skeleton.names == ("root", "hips", "arm", "hand")
    assert rig.weights == pytest.approx([0.0, 0.5, 0.5, 0.0])
    assert told(rig, "elbow_pole")


def test_feet_that_hang_on_the_root_move_below_their_own_shins(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("root")
    hips = builder.node("hips", root, translation=[0, 1, 0])
    joints = [root, hips]
    for side, x in (("L", 0.1), ("R", -0.1)):
        thigh = builder.node(f"UpperLeg.{side}", hips, translation=[x, 0, 0])
        shin = builder.node(f"LowerLeg.{side}", thigh, translation=[0, -0.45, 0])
        foot = builder.node(f"Foot.{side}", root, translation=[x, 0.1, 0])
        toes = builder.node(f"Toes.{side}", foot, translation=[0, -0.1, 0.15])
        joints += [thigh, shin, foot, toes]
    builder.skin(joints)
    rig = load_rig(builder.write(tmp_path / "ik.glb"))
    assert parent_of(rig, "Foot.L") == "LowerLeg.L"
    assert parent_of(rig, "Foot.R") == "LowerLeg.R"
    assert parent_of(rig, "Toes.R") == "Foot.R"
    assert rest_positions(rig)["Toes.R"] == pytest.approx([-0.1, 0.0, 0.15])
    assert told(rig, "re-hung below 'LowerLeg.L'")


def test_a_weightless_end_becomes_the_tip_of_its_bone(tmp_path: Path) -> None:
    builder = GltfBuilder()
    hips, head, end = builder.chain(None, "hips", "head", "head_end", step=(0, 0.5, 0))
    hand = builder.node("hand", hips, translation=[0.4, 0, 0], rotation=QUARTER_ABOUT_X)
    builder.node("hand_end", hand, translation=[0.1, 0, 0])  # not even listed as a joint
    builder.skin([hips, head, end, hand])
    rig = load_rig(builder.write(tmp_path / "ends.glb"))
    assert rig.skeleton.names == ("hips", "head", "hand")
    assert rig.skeleton.tips[rig.skeleton.index("head")] == pytest.approx([0.0, 0.5, 0.0])
    assert rig.skeleton.tips[rig.skeleton.index("hand")] == pytest.approx([0.1, 0.0, 0.0])
    assert rig.skeleton.has_tip.tolist() == [False, True, True]


def test_the_tip_of_a_skinned_leaf_is_where_its_skin_ends(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "hips", "head")
    skin = builder.skin(joints)
    points = [[0.0, 0.0], [-0.1, 2.0], [0.1, 2.0], [-0.1, 2.3], [0.1, 2.3]]
    builder.skinned_mesh(skin, [[x, y, 0.0] for x, y in points], [0, 1, 1, 1, 1])
    rig = load_rig(builder.write(tmp_path / "skull.glb"))
    assert rig.skeleton.tips[1] == pytest.approx([0.0, 0.3, 0.0], abs=1e-6)


def test_the_floor_is_the_lowest_skinned_vertex_not_the_tip_of_a_sword(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "foot", "hips", "head", step=(0, 0.5, 0))
    skin = builder.skin(joints)
    builder.skinned_mesh(skin, [[0, 0.4, 0], [0, 1.8, 0]], [0, 2])
    builder.rigid_mesh(joints[1], [[0, 0, 0], [0, -3, 0]])
    rig = load_rig(builder.write(tmp_path / "sword.glb"))
    assert rig.floor_m == pytest.approx(0.4)
    assert rig.height_m == pytest.approx(1.4)


def test_a_body_of_rigid_parts_stands_on_them_and_their_joints_carry_weight(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "foot", "hips", "head", step=(0, 0.5, 0))
    builder.skin(joints)
    builder.rigid_mesh(joints[0], [[0, -0.1, 0], [0, 0.1, 0]])
    rig = load_rig(builder.write(tmp_path / "robot.glb"))
    assert rig.floor_m == pytest.approx(0.4)
    assert rig.weights == pytest.approx([1.0, 0.0, 0.0])


def test_a_mesh_that_does_not_reach_the_feet_says_nothing_about_the_floor(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "foot", "hips", "head", step=(0, 0.5, 0))
    builder.skin(joints)
    builder.rigid_mesh(joints[1], [[0, -0.2, 0], [0, 0.2, 0]])
    rig = load_rig(builder.write(tmp_path / "belly.glb"))
    assert rig.floor_m == 0.0
    assert rig.height_m == pytest.approx(1.5)


def test_no_joint_is_dropped_while_a_mesh_cannot_be_read(tmp_path: Path) -> None:
    builder = GltfBuilder()
    root = builder.node("root")
    hips = builder.node("hips", root, translation=[0, 1, 0])
    arm = builder.node("arm", root)
    skin = builder.skin([root, hips, arm])
    builder.skinned_mesh(skin, [[0, 1, 0]], [1])
    builder.skinned_mesh(skin, [[0, 1, 0]], [2])
    primitive = builder.document["meshes"][1]["primitives"][0]
    primitive["extensions"] = {"KHR_draco_mesh_compression": {"bufferView": 0}}
    rig = load_rig(builder.write(tmp_path / "draco.glb"))
    assert "arm" in rig.skeleton
    assert told(rig, "Draco")


def test_a_gltf_with_data_uri_or_file_beside_it_reads_like_the_glb(tmp_path: Path) -> None:
    builder = GltfBuilder()
    skin = builder.skin(builder.chain(None, "hips", "head"))
    builder.skinned_mesh(skin, [[0, 1, 0], [0, 2, 0.5]], [0, 1])
    expected = load_rig(builder.write(tmp_path / "rig.glb"))
    document = builder.finished()
    payload = base64.b64encode(builder.binary).decode()
    (tmp_path / "my rig.bin").write_bytes(builder.binary)
    for i, uri in enumerate((f"data:application/octet-stream;base64,{payload}", "my%20rig.bin")):
        document["buffers"][0]["uri"] = uri
        path = tmp_path / f"{i}.gltf"
        path.write_text(json.dumps(document), encoding="utf-8")
        rig = load_rig(path)
        assert rig.skeleton.names == expected.skeleton.names
        assert np.array_equal(rig.skeleton.offsets, expected.skeleton.offsets)
        assert np.array_equal(rig.weights, expected.weights)


def test_a_file_outside_the_rigs_folder_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(b"\0" * 64)
    folder = tmp_path / "rig"
    folder.mkdir()
    document = {"asset": {"version": "2.0"}, "nodes": [{}]}
    for uri in ("../secret.bin", "..%2Fsecret.bin", str(tmp_path / "secret.bin")):
        document["buffers"] = [{"byteLength": 64, "uri": uri}]
        (folder / "rig.gltf").write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(RigError, match="outside the rig's own folder"):
            load_rig(folder / "rig.gltf")


def test_sparse_and_normalised_accessors_are_read(tmp_path: Path) -> None:
    builder = GltfBuilder()
    joints = builder.chain(None, "hips", "head")
    skin = builder.skin(joints)
    builder.skinned_mesh(skin, [[0, 1, 0], [0, 1.5, 0]], [0, 1])
    attributes = builder.document["meshes"][0]["primitives"][0]["attributes"]
    attributes["WEIGHTS_0"] = builder.accessor([[255, 0, 0, 0], [51, 204, 0, 0]], "VEC4", 5121)
    builder.document["accessors"][-1]["normalized"] = True
    attributes["JOINTS_0"] = builder.accessor([[0, 1, 0, 0]] * 2, "VEC4", 5121)
    where, what = builder.view(np.array([1], "<u2").tobytes()), np.array([[0, 0.7, 0]], "<f4")
    builder.document["accessors"][attributes["POSITION"]]["sparse"] = {
        "count": 1,
        "indices": {"bufferView": where, "componentType": 5123},
        "values": {"bufferView": builder.view(what.tobytes())},
    }
    rig = load_rig(builder.write(tmp_path / "sparse.glb"))
    assert rig.weights == pytest.approx([0.6, 0.4])
    assert rig.floor_m == pytest.approx(0.7)


def test_pygltflib_reads_the_same_joints_from_the_files_made_here(tmp_path: Path) -> None:
    pygltflib = pytest.importorskip("pygltflib")
    builder = GltfBuilder()
    joints = builder.chain(None, "hips", "spine", "head")
    builder.skin(joints)
    path = builder.write(tmp_path / "rig.glb")
    other = pygltflib.GLTF2.load_from_bytes(path.read_bytes())
    assert [other.nodes[j].name for j in other.skins[0].joints] == list(
        load_rig(path).skeleton.names
    )
