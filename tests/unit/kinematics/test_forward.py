"""Where joints are, and how points and orientations move with every kind of joint."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import chain, mixed_body, moved, random_pose, world_by_scipy
from understudy.characters import builtin_character
from understudy.kinematics import FIXED, ForwardKinematics, Pose, Skeleton

STEP = 1e-6

BODIES = {
    "balls": chain(4),
    "hinges": chain(4, kind="hinge"),
    "fixed": chain(4, kind="fixed"),
    "one joint": chain(1),
    "mixture": mixed_body(),
    "human": builtin_character("actor"),
}


@pytest.fixture(params=BODIES, name="body")
def body_fixture(request: pytest.FixtureRequest) -> Skeleton:
    return BODIES[request.param]


def updated(body: Skeleton, pose: Pose) -> ForwardKinematics:
    kinematics = ForwardKinematics(body)
    kinematics.update(pose.root, pose.rotations_xyzw)
    return kinematics


def ends(body: Skeleton) -> list[int]:
    """Every joint of a small body, every other or so of a large one."""
    return list(range(len(body)))[:: max(1, len(body) // 5)]


def test_joints_are_where_a_chain_of_matrices_puts_them(body: Skeleton) -> None:
    rng = np.random.default_rng(1)
    for spread in (0.0, 0.5, 3.0):
        pose = random_pose(body, rng, spread)
        kinematics = updated(body, pose)
        positions, rotations = world_by_scipy(body, pose)
        np.testing.assert_allclose(kinematics.positions, positions, atol=1e-14)
        np.testing.assert_allclose(kinematics.rotations, rotations, atol=1e-14)


def test_the_pose_says_where_the_root_is_and_its_offset_does_not() -> None:
    body = mixed_body()
    pose = body.rest_pose()
    pose.root[:] = [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(updated(body, pose).positions[0], [1.0, 2.0, 3.0])


def test_a_point_is_carried_by_its_joint() -> None:
    body = mixed_body()
    pose = random_pose(body, np.random.default_rng(2))
    joint, offset = body.index("hand"), np.array([0.1, -0.2, 0.3])
    positions, rotations = world_by_scipy(body, pose)
    np.testing.assert_allclose(
        updated(body, pose).point(joint, offset), positions[joint] + rotations[joint] @ offset,
        atol=1e-14,
    )  # fmt: skip


def test_a_point_jacobian_is_the_central_difference(body: Skeleton) -> None:
    rng = np.random.default_rng(3)
    pose = random_pose(body, rng)
    offset = rng.normal(scale=0.2, size=3)
    for joint in ends(body):
        found = updated(body, pose).point_jacobian(joint, offset)
        for column in range(found.shape[1]):
            d = np.zeros(found.shape[1])
            d[column] = STEP
            ahead = updated(body, moved(body, pose, d)).point(joint, offset)
            behind = updated(body, moved(body, pose, -d)).point(joint, offset)
            np.testing.assert_allclose(found[:, column], (ahead - behind) / (2.0 * STEP), atol=2e-9)


def test_an_orientation_jacobian_is_the_central_difference(body: Skeleton) -> None:
    pose = random_pose(body, np.random.default_rng(4))
    for joint in ends(body):
        found = updated(body, pose).orientation_jacobian(joint)
        for column in range(found.shape[1]):
            d = np.zeros(found.shape[1])
            d[column] = STEP
            ahead = Rotation.from_matrix(updated(body, moved(body, pose, d)).rotations[joint])
            behind = Rotation.from_matrix(updated(body, moved(body, pose, -d)).rotations[joint])
            turned = (ahead * behind.inv()).as_rotvec()
            np.testing.assert_allclose(found[:, column], turned / (2.0 * STEP), atol=2e-9)


def test_columns_of_fixed_joints_and_of_other_branches_are_zero() -> None:
    body = mixed_body()
    kinematics = updated(body, random_pose(body, np.random.default_rng(5)))
    hand = body.index("hand")
    on_the_way = set(body.ancestors(hand))
    for J in (kinematics.point_jacobian(hand, np.ones(3)), kinematics.orientation_jacobian(hand)):
        for j in range(len(body)):
            columns = J[:, 3 + 3 * j : 6 + 3 * j]
            still = j not in on_the_way or body.kinds[j] == FIXED
            assert np.all(columns == 0.0) == still, body.names[j]


def test_the_root_is_free_whatever_its_kind() -> None:
    joints = mixed_body().joints()
    free = Skeleton.build(joints)
    joints[0] = type(joints[0])("hips", None, joints[0].offset, joints[0].rest_xyzw, "fixed")
    fixed = Skeleton.build(joints)
    pose = random_pose(free, np.random.default_rng(6))
    hand = free.index("hand")
    np.testing.assert_array_equal(
        updated(free, pose).point_jacobian(hand, np.ones(3)),
        updated(fixed, pose).point_jacobian(hand, np.ones(3)),
    )


def test_two_bodies_do_not_share_buffers() -> None:
    body = mixed_body()
    rng = np.random.default_rng(7)
    first = updated(body, random_pose(body, rng))
    before = first.positions.copy()
    updated(body, random_pose(body, rng))
    np.testing.assert_array_equal(first.positions, before)


@pytest.mark.parametrize("spoil", ["read-only", "strided", "float32"])
def test_an_array_of_another_kind_is_refused_at_once(spoil: str) -> None:
    body = mixed_body()
    pose = random_pose(body, np.random.default_rng(8))
    q = pose.rotations_xyzw
    if spoil == "read-only":
        q.setflags(write=False)
    elif spoil == "strided":
        q = np.repeat(q, 2, axis=1)[:, ::2]
    wrong = q.astype(np.float32) if spoil == "float32" else q
    with pytest.raises(TypeError):
        ForwardKinematics(body).update(pose.root, wrong)  # type: ignore[arg-type]  # on purpose
