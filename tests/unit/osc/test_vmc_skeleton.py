from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from support import vmc
from understudy.ingest.vmc_assembly import VmcAssembler, VmcFrame
from understudy.ingest.vmc_skeleton import SETTLE_FRAMES, VmcBody
from understudy.kinematics import ForwardKinematics
from understudy_protocol.osc.bones import BONE_NAMES
from understudy_protocol.osc.packet import write_bundle
from understudy_protocol.osc.vmc_in import decode_vmc


class Performer:
    def __init__(self) -> None:
        self.assembler = VmcAssembler()
        self.body = VmcBody()

    def frame(self, messages: Iterable[bytes]) -> VmcFrame:
        (frame,) = self.assembler.feed(decode_vmc(write_bundle([*messages, vmc.time(0)])), 0)
        return frame

    def perform(self, messages: list[bytes], frames: int = SETTLE_FRAMES) -> list[bool]:
        return [self.body.update(self.frame(messages)) for _ in range(frames)]


def parents_of(performer: Performer) -> dict[str, str | None]:
    assert performer.body.skeleton is not None
    return {joint.name: joint.parent for joint in performer.body.skeleton.joints()}


def test_a_whole_body_becomes_a_skeleton_once_it_has_settled() -> None:
    performer = Performer()
    assert performer.perform(vmc.bones(), 5) == [False, False, True, False, False]
    skeleton = performer.body.skeleton
    assert skeleton is not None
    assert sorted(skeleton.names) == sorted(BONE_NAMES)
    assert skeleton.names[0] == "Hips"
    assert [BONE_NAMES[bone] for bone in performer.body.bones] == list(skeleton.names)
    np.testing.assert_allclose(skeleton.offsets[1:], [[0, 0.1, 0]] * 54, atol=1e-7)
    np.testing.assert_array_equal(skeleton.rest_xyzw, [[0, 0, 0, 1]] * 55)


def test_children_of_absent_bones_hang_on_the_next_one_up() -> None:
    performer = Performer()
    absent = {"UpperChest", "LeftShoulder", "Jaw"}
    performer.perform(vmc.bones(name for name in BONE_NAMES if name not in absent))
    parents = parents_of(performer)
    assert parents["Neck"] == "Chest"
    assert parents["LeftUpperArm"] == "Chest"
    assert parents["RightShoulder"] == "Chest"
    assert absent.isdisjoint(parents)


def test_without_hips_there_is_no_skeleton() -> None:
    performer = Performer()
    performer.perform(vmc.bones(["Spine", "Head"]), 10)
    assert performer.body.skeleton is None


def test_walking_and_tiny_changes_keep_the_skeleton() -> None:
    performer = Performer()
    performer.perform(vmc.bones())
    skeleton = performer.body.skeleton
    for step in range(20):
        messages = [vmc.bone("Hips", (step, 1, step)), *vmc.bones(BONE_NAMES[1:], 0.1005)]
        assert not performer.body.update(performer.frame(messages))
    assert performer.body.skeleton is skeleton


def test_offsets_that_changed_by_more_than_a_millimetre_are_a_new_skeleton() -> None:
    performer = Performer()
    performer.perform(vmc.bones())
    assert performer.perform(vmc.bones(height=0.102)) == [False, False, True]
    assert performer.body.skeleton is not None
    np.testing.assert_allclose(performer.body.skeleton.offsets[1:, 1], 0.102, atol=1e-6)


def test_a_new_bone_is_a_new_skeleton() -> None:
    performer = Performer()
    performer.perform(vmc.bones(["Hips", "Spine"]))
    assert performer.perform(vmc.bones(["Hips", "Spine", "Head"])) == [False, False, True]
    assert parents_of(performer)["Head"] == "Spine"


def test_a_glitch_of_one_frame_and_a_bone_that_never_rests_change_nothing() -> None:
    performer = Performer()
    performer.perform(vmc.bones())
    assert performer.perform(vmc.bones(height=0.5), 2) == [False, False]
    assert performer.perform(vmc.bones(), 1) == [False]
    assert performer.perform(vmc.bones(height=0.5), 2) == [False, False]
    for step in range(30):
        assert not performer.body.update(performer.frame(vmc.bones(height=0.2 + step / 100)))


def test_a_frame_as_a_pose_of_the_skeleton_puts_the_left_hand_at_plus_x() -> None:
    performer = Performer()
    arm = ["LeftShoulder", "LeftUpperArm", "LeftLowerArm", "LeftHand"]
    messages = [
        vmc.root((0, 0, 2)),
        vmc.bone("Hips", (0, 1, 0)),
        vmc.bone("Spine", (0, 0.4, 0)),
        *(vmc.bone(name, (-0.2, 0, 0)) for name in arm),
    ]
    performer.perform(messages)
    skeleton = performer.body.skeleton
    assert skeleton is not None
    root, rotations = np.zeros(3), np.zeros((len(skeleton), 4))
    performer.body.pose_into(performer.frame(messages), root, rotations)
    kinematics = ForwardKinematics(skeleton)
    kinematics.update(root, rotations)
    np.testing.assert_allclose(
        kinematics.positions[skeleton.index("LeftHand")], [0.8, 1.4, 2.0], atol=1e-6
    )
