from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bodies import random_pose
from support.humanoids import Reframed, actor, angle_deg
from understudy.align import Alignment, Transfer, find_roles
from understudy.align.chains import bone_middles, distribute
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Pose, Skeleton
from understudy.kinematics.rotations import exp, matrix

seeds = st.integers(0, 2**32 - 1)


def with_a_joint_inside(body: Skeleton, below: str, above: str) -> Skeleton:
    """The same body with one more joint half way along a bone."""
    joints: list[Joint] = []
    for joint in body.joints():
        if joint.name == above:
            half = 0.5 * np.asarray(joint.offset)
            joints.append(Joint("extra", below, tuple(half)))
            joints.append(replace(joint, parent="extra", offset=half))
        else:
            joints.append(joint)
    return Skeleton.build(joints)


def without(body: Skeleton, name: str) -> Skeleton:
    """The same body without a joint; what hung on it hangs on the one below."""
    gone = next(joint for joint in body.joints() if joint.name == name)
    return Skeleton.build(
        replace(
            joint, parent=gone.parent, offset=np.asarray(gone.offset) + np.asarray(joint.offset)
        )
        if joint.parent == name
        else joint
        for joint in body.joints()
        if joint.name != name
    )


def with_lower_hips(body: Skeleton, drop: float) -> Skeleton:
    """The same body with the joint of its hips `drop` m further down."""
    down = np.array([0.0, drop, 0.0])
    return Skeleton.build(
        replace(joint, offset=np.asarray(joint.offset) - down)
        if joint.name == "hips"
        else replace(joint, offset=np.asarray(joint.offset) + down)
        if joint.parent == "hips"
        else joint
        for joint in body.joints()
    )


def copied(source: Skeleton, pose: Pose, target: Skeleton) -> tuple[FloatArray, FloatArray]:
    """World positions (n_t, 3) and rotations (n_t, 3, 3) of the target that copies a pose."""
    alignment = Alignment.build(source, target, find_roles(source), find_roles(target))
    rotations, root = np.zeros((len(target), 4)), np.zeros(3)
    points, _ = posed(source, pose)
    Transfer(alignment).run(points, pose.rotations_xyzw.copy(), rotations, root)
    return posed(target, Pose(root, rotations))


def posed(body: Skeleton, pose: Pose) -> tuple[FloatArray, FloatArray]:
    kinematics = ForwardKinematics(body)
    kinematics.update(pose.root.copy(), pose.rotations_xyzw.copy())
    return kinematics.positions.copy(), kinematics.rotations.copy()


def line(body: Skeleton, points: FloatArray, start: str, end: str) -> FloatArray:
    return np.asarray(points[body.index(end)] - points[body.index(start)])


# -- marks and shares ------------------------------------------------------------------------------


def test_a_chain_is_measured_along_its_straight_way() -> None:
    bent = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 2.0, -0.5], [0.0, 4.0, 0.0]])
    np.testing.assert_allclose(bone_middles(bent), [0.125, 0.375, 0.75])


def test_joints_outside_a_chain_s_ends_count_as_at_its_ends() -> None:
    beyond = np.array([[0.0, 0.0, 0.0], [0.0, -0.3, 0.0], [0.0, 1.4, 0.0], [0.0, 1.0, 0.0]])
    np.testing.assert_allclose(bone_middles(beyond), [0.0, 0.5, 1.0])


def test_a_chain_without_length_is_divided_evenly() -> None:
    np.testing.assert_allclose(bone_middles(np.zeros((3, 3))), [0.25, 0.75])


@given(seed=seeds, ours=st.integers(1, 7), theirs=st.integers(1, 7))
def test_every_joint_is_driven_at_its_own_mark(seed: int, ours: int, theirs: int) -> None:
    rng = np.random.default_rng(seed)
    source_marks, target_marks = (np.sort(rng.uniform(0.0, 1.0, n)) for n in (ours, theirs))
    shares = distribute(range(ours), source_marks, target_marks)
    driven = [
        source_marks[share.a] + share.blend * (source_marks[share.b] - source_marks[share.a])
        for share in shares
    ]
    expected = np.clip(target_marks, source_marks[0], source_marks[-1])
    np.testing.assert_allclose(driven, expected, atol=1e-12)


# -- bodies ----------------------------------------------------------------------------------------


@settings(max_examples=10)
@given(seed=seeds)
def test_where_the_joint_of_the_hips_is_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body = actor()
    other = Reframed(with_lower_hips(body, rng.uniform(-0.05, 0.1)), rng).skeleton
    pose = random_pose(body, rng, 1.0)
    points, _ = copied(body, pose, other)
    ours, _ = posed(body, pose)
    for start, end in (("spine", "chest"), ("chest", "upperChest"), ("neck", "head")):
        angle = angle_deg(line(body, ours, start, end), line(other, points, start, end))
        assert angle < 1e-5


@settings(max_examples=10)
@given(seed=seeds)
def test_a_neck_of_more_joints_points_like_the_performer_s(seed: int) -> None:
    rng = np.random.default_rng(seed)
    body = actor()
    other = Reframed(with_a_joint_inside(body, "neck", "head"), rng).skeleton
    pose = random_pose(body, rng, 1.0)
    points, _ = copied(body, pose, other)
    ours, _ = posed(body, pose)
    for start, end in (("neck", "extra"), ("extra", "head")):
        angle = angle_deg(line(body, ours, "neck", "head"), line(other, points, start, end))
        assert angle < 1e-5


def test_chest_and_head_share_a_neck_that_the_performer_lacks() -> None:
    rng = np.random.default_rng(3)
    body = actor()
    stiff = without(body, "neck")
    pose = stiff.rest_pose()
    pose.rotations_xyzw[stiff.index("head")] = exp(np.array([0.6, 0.0, 0.0]))
    other = Reframed(body, rng).skeleton
    points, _ = copied(stiff, pose, other)
    straight, _ = copied(stiff, stiff.rest_pose(), other)
    angle = angle_deg(line(other, points, "neck", "head"), line(other, straight, "neck", "head"))
    assert angle == pytest.approx(np.degrees(0.3), abs=1e-6)


@pytest.mark.parametrize(("below", "above"), [("hips", "spine"), ("chest", "upperChest")])
def test_a_trunk_of_more_joints_bends_as_far_in_all(below: str, above: str) -> None:
    body = actor()
    pose = body.rest_pose()
    for name in ("spine", "chest", "upperChest"):
        pose.rotations_xyzw[body.index(name)] = exp(np.array([0.3, 0.1, 0.2]))
    other = with_a_joint_inside(body, below, above)
    points, rotations = copied(body, pose, other)
    ours, turns = posed(body, pose)
    np.testing.assert_allclose(
        rotations[other.index("upperChest")], turns[body.index("upperChest")], atol=1e-9
    )
    np.testing.assert_allclose(rotations[other.index("hips")], matrix(exp(np.zeros(3))), atol=1e-9)
    angle = angle_deg(line(body, ours, "hips", "neck"), line(other, points, "hips", "neck"))
    assert angle < 2.0
