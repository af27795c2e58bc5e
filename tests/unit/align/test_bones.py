"""Poses as humanoid bones: normalised whatever the rig's axes, or raw."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.humanoids import Reframed, actor
from understudy.align import find_roles
from understudy.align.bones import HumanoidBones, t_pose
from understudy.align.calibration import at_rest_in
from understudy.characters import builtin_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Pose, Skeleton

ACTOR = actor()
PARENTS = [int(parent) for parent in ACTOR.parents]
EVERY = list(range(len(ACTOR)))
CLIP = builtin_clip("wave", 10.0)


def poses() -> list[Pose]:
    return [CLIP.pose(frame) for frame in range(0, CLIP.frame_count, 7)]


def normalised(skeleton: Skeleton, *, at_rest: bool = True) -> HumanoidBones:
    turns = t_pose(skeleton, find_roles(skeleton), at_rest=at_rest)
    return HumanoidBones.normalised(skeleton, EVERY, PARENTS, turns)


def updated(bones: HumanoidBones, pose: Pose) -> tuple[FloatArray, FloatArray]:
    """Hips and rotations of a pose, the rotations with w >= 0."""
    bones.update(pose.root.copy(), pose.rotations_xyzw.copy())
    rotations = bones.rotations_xyzw.copy()
    return bones.hips.copy(), np.where(rotations[:, 3:] < 0, -rotations, rotations)


def test_the_t_pose_is_the_identity_in_every_bone_whatever_the_axes() -> None:
    body = Reframed(ACTOR, np.random.default_rng(1)).skeleton
    _, rotations = updated(normalised(body), body.rest_pose())
    np.testing.assert_allclose(rotations, np.tile([0, 0, 0, 1.0], (len(body), 1)), atol=1e-12)


def test_normalised_bones_do_not_depend_on_the_rigs_axes() -> None:
    reframed = Reframed(ACTOR, np.random.default_rng(2))
    plain, turned = normalised(ACTOR), normalised(reframed.skeleton)
    np.testing.assert_allclose(turned.offsets, plain.offsets, atol=1e-12)
    for pose in poses():
        hips, rotations = updated(turned, reframed.pose(pose))
        wanted_hips, wanted = updated(plain, pose)
        np.testing.assert_allclose(hips, wanted_hips, atol=1e-12)
        np.testing.assert_allclose(rotations, wanted, atol=1e-9)


def test_normalised_bones_of_a_body_without_rest_rotations_are_its_own() -> None:
    for pose in poses():
        hips, rotations = updated(normalised(ACTOR), pose)
        own = pose.rotations_xyzw
        np.testing.assert_allclose(hips, pose.root)
        np.testing.assert_allclose(rotations, np.where(own[:, 3:] < 0, -own, own), atol=1e-12)


def test_bones_put_every_joint_where_the_skeleton_has_it() -> None:
    reframed = Reframed(ACTOR, np.random.default_rng(3))
    body = reframed.skeleton
    forward = ForwardKinematics(body)
    for bones in (
        normalised(body),
        HumanoidBones.raw(body, EVERY, PARENTS, turned=False),
        HumanoidBones.raw(body, EVERY, PARENTS, turned=True),
    ):
        for pose in poses():
            posed = reframed.pose(pose)
            hips, rotations = updated(bones, posed)
            forward.update(posed.root.copy(), posed.rotations_xyzw.copy())
            places, turns = [hips], [Rotation.from_quat(rotations[0])]
            for bone in EVERY[1:]:
                above = PARENTS[bone]
                places.append(places[above] + turns[above].apply(bones.offsets[bone]))
                turns.append(turns[above] * Rotation.from_quat(rotations[bone]))
            np.testing.assert_allclose(places, forward.positions, atol=1e-9)


def test_joints_between_bones_and_above_the_hips_are_taken_along() -> None:
    turn = tuple(Rotation.from_euler("xyz", [0.3, -0.5, 0.9]).as_quat())
    skeleton = Skeleton.build(
        [
            Joint("root", None, (0, 0, 0), turn),
            Joint("hips", "root", (0, 1, 0), turn),
            Joint("twist", "hips", (0, 0.1, 0), turn),
            Joint("spine", "twist", (0, 0.2, 0), turn),
        ]
    )
    bones = HumanoidBones.raw(skeleton, [1, 3], [-1, 0], turned=False)
    hips, rotations = updated(bones, skeleton.rest_pose())
    forward = ForwardKinematics(skeleton)
    rest = skeleton.rest_pose()
    forward.update(rest.root, rest.rotations_xyzw)
    np.testing.assert_allclose(hips, forward.positions[1], atol=1e-12)
    expected = forward.rotations[1].T @ forward.rotations[3]
    np.testing.assert_allclose(Rotation.from_quat(rotations[1]).as_matrix(), expected, atol=1e-12)
    local = forward.rotations[1].T @ (forward.positions[3] - forward.positions[1])
    np.testing.assert_allclose(bones.offsets[1], local, atol=1e-12)


@pytest.mark.parametrize("drop_deg", [35.0, 60.0])
def test_arms_of_a_body_that_rests_in_an_a_pose_are_the_identity_in_the_t_pose(
    drop_deg: float,
) -> None:
    rest = ACTOR.rest_pose()
    for side, sign in (("left", -1.0), ("right", 1.0)):
        rest.rotations_xyzw[ACTOR.index(f"{side}UpperArm")] = Rotation.from_euler(
            "z", sign * drop_deg, degrees=True
        ).as_quat()
    lowered = at_rest_in(ACTOR, rest)
    _, rotations = updated(normalised(lowered, at_rest=False), ACTOR.rest_pose())
    arms = [
        ACTOR.index(f"{side}{part}Arm") for side in ("left", "right") for part in ("Upper", "Lower")
    ]
    angles = Rotation.from_quat(rotations[arms]).magnitude()
    assert np.degrees(angles).max() < 2.0
