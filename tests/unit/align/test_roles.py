from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from support.humanoids import actor, nameless, renamed
from support.shared import shared_path
from understudy.align import Alignment, AlignmentError, MotionSample, RoleError, find_roles
from understudy.align.humanoid import BODY_ROLES, FINGER_ROLES, FINGERS, finger_segments, mirrored
from understudy.characters.bvh import read_bvh
from understudy.characters.gltf import load_rig
from understudy.kinematics import Joint, Skeleton

HIERARCHIES = ("bvh_cgspeed", "bvh_louise", "bvh_mocap", "mocapdata_com_hierarchy")
CLIPS = (
    "cmu/07_01", "other/bandai1_punch_normal_001", "other/cmu30_jumping_jacks",
    "other/daz_pirouette", "other/fair1_dab", "other/mixamo_freebvh",
    "other/mixed_order_fingers_test3", "other/mocapbank", "other/mocopi_arm-raise-turn",
    "other/rokoko_jesse_dance", "other/xsens_style_test2",
)  # fmt: skip
VRM = ("Godette_vrm0.vrm", "cool_loops_vrm0.vrm", "catbot_vrm0.vrm", "mtoon_uv_vrm1.vrm")


def written_map(name: str) -> tuple[Skeleton, dict[str, int]]:
    """A hierarchy and the roles that somebody wrote down for it."""
    skeleton = read_bvh(shared_path(f"other/hierarchies/{name}.hierarchy.bvh")).clip.skeleton
    text = shared_path(f"other/hierarchies/{name}.mapping.json").read_text(encoding="utf-8")
    expected = json.loads(text)["expected_humanoid"]
    return skeleton, {
        role[0].lower() + role[1:]: skeleton.index(joint) for role, joint in expected.items()
    }


def clip_of(name: str) -> tuple[Skeleton, MotionSample]:
    clip = read_bvh(shared_path(f"{name}.bvh")).clip
    chosen = slice(1, None, max(1, clip.frame_count // 30))
    motion = MotionSample.from_frames(
        clip.skeleton, clip.roots[chosen], clip.rotations_xyzw[chosen], 30.0
    )
    return clip.skeleton, motion


@pytest.mark.parametrize("name", HIERARCHIES)
def test_hand_written_maps_are_found_by_name(name: str) -> None:
    skeleton, expected = written_map(name)
    found = find_roles(skeleton)
    assert {role: found.joint(role) for role in expected} == expected
    assert found.refused is None
    assert min(found.confidence[role] for role in expected) >= 0.9


def test_hand_written_maps_are_found_without_names() -> None:
    right = total = 0
    for name in HIERARCHIES:
        skeleton, expected = written_map(name)
        found = find_roles(nameless(skeleton))
        right += sum(found.joint(role) == joint for role, joint in expected.items())
        total += len(expected)
        assert found.refused is None
        assert found.problems  # nothing is taken for granted without names
    assert right >= 0.95 * total


@pytest.mark.parametrize("name", CLIPS)
def test_clips_are_mapped_the_same_with_and_without_names(name: str) -> None:
    skeleton, motion = clip_of(name)
    named = find_roles(skeleton, motion=motion)
    shaped = find_roles(nameless(skeleton), motion=motion)
    body = {role: joint for role, joint in named.roles.items() if role in BODY_ROLES}
    assert named.refused is None
    assert min(named.confidence[role] for role in body) >= 0.9
    right = sum(shaped.joint(role) == joint for role, joint in body.items())
    assert right >= 0.95 * len(body)
    fingers = {role: joint for role, joint in named.roles.items() if role in FINGER_ROLES}
    if len(fingers) > 2:  # a thumb or a mitten alone does not show by its shape
        assert {role: shaped.joint(role) for role in fingers} == fingers


@pytest.mark.parametrize("name", VRM)
def test_vrm_bodies_are_found_by_their_names_as_their_files_state_them(name: str) -> None:
    rig = load_rig(shared_path(f"rigs/{name}"))
    stated = find_roles(rig.skeleton, humanoid=rig.humanoid)
    found = find_roles(rig.skeleton, weights=rig.weights)
    shaped = find_roles(nameless(rig.skeleton), weights=rig.weights)
    for role in BODY_ROLES:
        assert found.joint(role) == stated.joint(role), role
        assert shaped.joint(role) == stated.joint(role), role
    for role in FINGER_ROLES:
        assert found.joint(role) == stated.joint(role), role
        assert shaped.joint(role) == stated.joint(role), role


@pytest.mark.parametrize(
    "name", ["CesiumMan.glb", "RiggedFigure.glb", "RobotExpressive.glb", "Knight.glb"]
)
def test_rigs_without_vrm_data_are_mapped_without_help(name: str) -> None:
    rig = load_rig(shared_path(f"rigs/{name}"))
    found = find_roles(rig.skeleton, weights=rig.weights)
    shaped = find_roles(nameless(rig.skeleton), weights=rig.weights)
    assert found.refused is None
    for role in BODY_ROLES:
        assert shaped.joint(role) == found.joint(role), role


def test_a_left_arm_that_counts_backwards_is_ordered_by_depth() -> None:
    rig = load_rig(shared_path("rigs/CesiumMan.glb"))
    found = find_roles(rig.skeleton)
    assert rig.skeleton.names[found.joint("leftUpperArm")] == "Skeleton_arm_joint_L__4_"
    assert rig.skeleton.names[found.joint("leftHand")] == "Skeleton_arm_joint_L__2_"


def test_a_fox_is_no_humanoid() -> None:
    rig = load_rig(shared_path("rigs/Fox.glb"))
    found = find_roles(rig.skeleton, weights=rig.weights)
    assert found.refused is not None
    assert "four-legged" in found.refused
    with pytest.raises(AlignmentError, match=r"the character cannot be aligned: .*four-legged"):
        Alignment.build(actor(), rig.skeleton, find_roles(actor()), found)


def test_a_crouching_person_is_still_a_humanoid() -> None:
    body = actor()
    crouched = body.rest_xyzw.copy()
    crouched[body.index("hips")] = (np.sin(0.75), 0.0, 0.0, np.cos(0.75))
    roots = np.tile(body.offsets[0], (5, 1))
    motion = MotionSample.from_frames(body, roots, np.tile(crouched, (5, 1, 1)), 30.0)
    assert find_roles(body, motion=motion).refused is None


def test_a_body_without_names_is_found_by_its_shape() -> None:
    body = actor()
    found = find_roles(nameless(body))
    assert found.refused is None
    assert {role: body.names[joint] for role, joint in found.roles.items()} == {
        role: role for role in body.names
    }


def with_fingers(joints_each: int, tips: bool) -> Skeleton:
    """The actor with five fingers on each hand, named by their roles; a tip's joint at each end."""
    joints = actor().joints()
    for side, out in (("left", 1.0), ("right", -1.0)):
        for place, finger in enumerate(FINGERS):
            parent, offset = side + "Hand", (0.09 * out, 0.0, 0.04 - 0.02 * place)
            step = (0.03 * out, -0.004, 0.0)
            if finger == "Thumb":
                offset, step = (0.02 * out, -0.01, 0.02), (0.02 * out, -0.01, 0.02)
            names = [side + finger + segment for segment in finger_segments(finger)]
            for name in names[:joints_each] + [side + finger + "Tip"] * tips:
                joints.append(Joint(name, parent, offset))
                parent, offset = name, step
    return Skeleton.build(joints)


@pytest.mark.parametrize("tips", [False, True])
@pytest.mark.parametrize("joints_each", [2, 3])
def test_fingers_without_names_are_found_by_their_shape(joints_each: int, tips: bool) -> None:
    body = with_fingers(joints_each, tips and joints_each == 3)
    found = find_roles(nameless(body))
    fingers = [name for name in body.names if name in FINGER_ROLES]
    assert len(fingers) == 10 * joints_each
    assert {role: body.names[found.joint(role)] for role in fingers} == {
        role: role for role in fingers
    }


def test_an_arm_that_ends_in_fingers_without_a_wrist_is_found_by_its_shape() -> None:
    whole = with_fingers(3, tips=False)
    joints = []
    for joint in whole.joints():
        hand = joint.parent
        if hand is not None and hand.endswith("Hand"):
            elbow = hand.replace("Hand", "LowerArm")
            knuckle = whole.offsets[whole.index(hand)] + joint.offset
            joints.append(replace(joint, parent=elbow, offset=knuckle))
        elif not joint.name.endswith("Hand"):
            joints.append(joint)
    body = Skeleton.build(joints)
    found = find_roles(nameless(body))
    assert found.refused is None
    expected = {role: role for role in body.names if role in BODY_ROLES}
    assert {role: body.names[joint] for role, joint in found.roles.items()} == expected


def test_shape_completes_the_fingers_that_have_names() -> None:
    body = with_fingers(3, tips=False)
    erased = {name: f"n{i}" for i, name in enumerate(body.names) if "Ring" in name}
    found = find_roles(renamed(body, erased))
    assert found.joint("leftIndexProximal") == body.index("leftIndexProximal")
    assert found.joint("leftRingProximal") == body.index("leftRingProximal")


def test_shape_says_nothing_about_fingers_where_a_name_contradicts_it() -> None:
    body = with_fingers(3, tips=False)
    names = {name: f"n{i}" for i, name in enumerate(body.names) if "Little" in name}
    names |= {name: name.replace("Index", "Ring") for name in body.names if "Index" in name}
    names |= {name: name.replace("Ring", "Index") for name in body.names if "Ring" in name}
    found = find_roles(renamed(body, names))
    assert found.joint("leftRingProximal") == body.index("leftIndexProximal")
    assert found.joint("leftLittleProximal") == -1


def test_a_hand_whose_shortest_finger_begins_last_is_not_guessed_at() -> None:
    joints = [
        replace(joint, offset=(0.1, 0.0, 0.0)) if joint.name == "leftThumbMetacarpal" else joint
        for joint in with_fingers(3, tips=False).joints()
    ]
    found = find_roles(nameless(Skeleton.build(joints)))
    assert found.refused is None
    assert not any(role in FINGER_ROLES for role in found.roles)


@pytest.mark.parametrize("seed", range(4))
def test_half_of_the_names_are_enough(seed: int) -> None:
    body = actor()
    rng = np.random.default_rng(seed)
    erased = {name: f"n{i}" for i, name in enumerate(body.names) if rng.random() < 0.5}
    found = find_roles(renamed(body, erased))
    for role, joint in found.roles.items():
        assert body.names[joint] == role


def test_swapped_sides_are_noticed_and_told() -> None:
    body = actor()
    found = find_roles(renamed(body, {name: mirrored(name) for name in body.names}))
    assert any("swapped" in problem for problem in found.problems)
    assert max(found.confidence["leftFoot"], found.confidence["rightFoot"]) < 0.9


def test_a_missing_part_is_named() -> None:
    body = Skeleton.build(
        joint for joint in actor().joints() if not joint.name.startswith("leftLowerLeg")
        and not joint.name.startswith(("leftFoot", "leftToes"))
    )  # fmt: skip
    found = find_roles(body)
    assert found.refused is not None
    assert "leftLowerLeg" in found.refused
    assert "leftFoot" in found.refused


def test_an_uncertain_part_is_asked_for_and_not_guessed() -> None:
    """Two arms of which one has no hand: the lonely hand is asked for, not used."""
    joints = [joint for joint in actor().joints() if joint.name != "rightHand"]
    found = find_roles(Skeleton.build(joints))
    assert "leftHand" not in found.roles
    assert any(problem.startswith("leftHand is perhaps 'leftHand'") for problem in found.problems)


def test_a_given_map_is_believed_and_completed() -> None:
    body = renamed(actor(), {"leftHand": "Paw", "leftToes": "Claw"})
    found = find_roles(body, humanoid={"leftHand": "Paw", "leftToes": "Claw"})
    assert found.joint("leftHand") == body.index("Paw")
    assert found.confidence["leftHand"] == 1.0
    assert found.joint("rightHand") == body.index("rightHand")


def test_a_given_map_with_an_unknown_joint_is_refused_by_name() -> None:
    with pytest.raises(RoleError, match="role 'leftHand': no joint 'Paw'"):
        find_roles(actor(), humanoid={"leftHand": "Paw"})


def test_vrm_0_thumbs_are_renamed() -> None:
    joints = actor().joints()
    parent = "leftHand"
    for name in ("t1", "t2", "t3"):
        joints.append(Joint(name, parent, offset=(0.03, 0.0, 0.02)))
        parent = name
    given = {"leftThumbProximal": "t1", "leftThumbIntermediate": "t2", "leftThumbDistal": "t3"}
    skeleton = Skeleton.build(joints)
    found = find_roles(skeleton, humanoid=given)
    names = [
        skeleton.names[found.joint(f"leftThumb{s}")] for s in ("Metacarpal", "Proximal", "Distal")
    ]
    assert names == ["t1", "t2", "t3"]


def test_a_long_spine_keeps_its_first_middle_and_last_joint() -> None:
    joints = actor().joints()
    extra = [
        Joint(f"spine{i}", "spine" if i == 2 else f"spine{i - 1}", (0, 0.03, 0)) for i in (2, 3)
    ]
    joints = [
        replace(joint, parent="spine3") if joint.name == "chest" else joint for joint in joints
    ]
    skeleton = Skeleton.build(joints + extra)
    found = find_roles(skeleton)
    assert [skeleton.names[joint] for joint in found.spine] == [
        "spine", "spine2", "spine3", "chest", "upperChest",
    ]  # fmt: skip
    assert skeleton.names[found.joint("chest")] == "spine3"
    assert skeleton.names[found.joint("upperChest")] == "upperChest"
