"""Swing and twist of a joint, and how far beyond its range it is."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from support.bodies import chain, mixed_body, random_pose
from understudy.kinematics import HINGE, FloatArray, Joint, Skeleton, rotations
from understudy.kinematics.limits import JointLimits, bone_axis

small = st.floats(-1.2, 1.2)


def limited_joint(low: FloatArray, high: FloatArray) -> JointLimits:
    """A two-joint chain whose joint 1 has a range about its bone, centred off the rest pose."""
    limits = JointLimits.none(chain(2))
    limits.set(
        1,
        centre_xyzw=Rotation.from_rotvec([0.3, -0.2, 0.5]).as_quat(),
        twist_axis=np.array([0.0, 2.0, 1.0]),
        low_rad=low,
        high_rad=high,
    )
    return limits


WIDE = limited_joint(np.full(3, -0.6), np.full(3, 0.4))


def swung(limits: JointLimits, swing1: float, swing2: float, twist: float) -> FloatArray:
    """centre * swing * twist: the rotation whose angles were asked for, by scipy."""
    e1, e2, a = limits.basis[1]
    half = np.array([math.sin(swing1 / 2), math.sin(swing2 / 2)])
    w = math.sqrt(1.0 - half @ half)
    swing = Rotation.from_quat(np.array([*(half[0] * e1 + half[1] * e2), w]))
    centre = Rotation.from_quat(limits.centre_xyzw[1])
    return np.asarray((centre * swing * Rotation.from_rotvec(twist * a)).as_quat(), np.float64)


@given(small, small, st.floats(-3.0, 3.0))
def test_angles_are_those_the_rotation_was_made_of(s1: float, s2: float, twist: float) -> None:
    q = swung(WIDE, s1, s2, twist)
    for sign in (1.0, -1.0):
        np.testing.assert_allclose(WIDE.angles(1, sign * q), [s1, s2, twist], atol=1e-10)


@given(small, small, st.floats(-3.0, 3.0))
def test_excess_is_the_farthest_angle_beyond_its_range(s1: float, s2: float, twist: float) -> None:
    pose = np.stack([rotations.IDENTITY_XYZW, swung(WIDE, s1, s2, twist)])
    beyond = max(0.0, *(max(x - 0.4, -0.6 - x) for x in (s1, s2, twist)))
    np.testing.assert_allclose(WIDE.excess_rad(pose), [0.0, beyond], atol=1e-10)


def test_the_basis_is_a_right_handed_frame_about_the_bone() -> None:
    for axis in ([1, 0, 0], [0, 1, 0], [0, 0, -1], [1, 1, 1], [-0.2, 3.0, 0.1]):
        limits = JointLimits.none(chain(2))
        limits.set(
            1,
            centre_xyzw=rotations.IDENTITY_XYZW,
            twist_axis=np.array(axis, np.float64),
            low_rad=np.zeros(3),
            high_rad=np.zeros(3),
        )
        basis = limits.basis[1]
        np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(basis) == pytest.approx(1.0)
        np.testing.assert_allclose(basis[2], np.array(axis) / np.linalg.norm(axis))


def test_without_limits_only_bounded_hinges_have_any() -> None:
    body = mixed_body()
    limits = JointLimits.none(body)
    assert set(np.flatnonzero(limits.limited)) == {body.index("elbow")}
    free = random_pose(body, np.random.default_rng(1), 3.0).rotations_xyzw
    assert np.all(np.delete(limits.excess_rad(free), body.index("elbow")) == 0.0)


@given(st.floats(-2.0, 2.6))
def test_a_hinges_excess_counts_from_its_own_limits(angle: float) -> None:
    body = mixed_body()
    elbow = body.index("elbow")
    low, high = body.limits_rad[elbow]
    q = body.rest_xyzw.copy()
    q[elbow] = (
        Rotation.from_quat(q[elbow]) * Rotation.from_rotvec(angle * body.axes[elbow])
    ).as_quat()
    excess = JointLimits.none(body).excess_rad(q)
    assert excess[elbow] == pytest.approx(max(0.0, angle - high, low - angle), abs=1e-10)


def test_poses_inside_are_inside_and_excess_takes_whole_motions() -> None:
    body = mixed_body()
    rng = np.random.default_rng(2)
    motion = np.stack([random_pose(body, rng).rotations_xyzw for _ in range(20)])
    excess = JointLimits.none(body).excess_rad(motion)
    assert excess.shape == (20, len(body))
    np.testing.assert_allclose(excess, 0.0, atol=1e-12)


def test_a_motion_is_inside_its_own_range_and_the_margin_is_the_room_left() -> None:
    body = mixed_body()
    rng = np.random.default_rng(3)
    motion = np.stack([random_pose(body, rng, 0.6).rotations_xyzw for _ in range(30)])
    for margin in (0.0, 0.1):
        limits = JointLimits.around_motion(body, motion, margin)
        assert np.max(limits.excess_rad(motion)) < 1e-12
        for j in range(1, len(body)):
            angles = limits.angles(j, motion[:, j])
            room = limits.high_rad[j] - angles.max(axis=0)
            if body.kinds[j] != HINGE:
                np.testing.assert_allclose(room, margin, atol=1e-12)
    assert not limits.limited[0]


def test_a_range_around_a_motion_keeps_a_hinge_on_its_axis_and_inside_its_limits() -> None:
    body = mixed_body()
    rng = np.random.default_rng(4)
    motion = np.stack([random_pose(body, rng, 3.0).rotations_xyzw for _ in range(30)])
    limits = JointLimits.around_motion(body, motion, 0.3)
    own = JointLimits.none(body)
    elbow = body.index("elbow")
    np.testing.assert_allclose(limits.basis[elbow, 2], body.axes[elbow], atol=1e-12)
    rest, axis = Rotation.from_quat(body.rest_xyzw[elbow]), body.axes[elbow]
    for angle in np.linspace(-1.5, 3.0, 91):
        q = body.rest_xyzw.copy()
        q[elbow] = (rest * Rotation.from_rotvec(angle * axis)).as_quat()
        if own.excess_rad(q)[elbow] > 0.0:
            assert limits.excess_rad(q)[elbow] > 0.0


def test_a_bone_points_to_its_farthest_child_or_to_its_tip() -> None:
    body = mixed_body()
    np.testing.assert_allclose(bone_axis(body, body.index("arm")), [1, 0, 0])
    np.testing.assert_allclose(bone_axis(body, body.index("foot")), np.array([0, 1, 1]) / 2**0.5)
    fork = Skeleton.build(
        [Joint("a", None), Joint("near", "a", (0.1, 0, 0)), Joint("far", "a", (0, 0, 0.5))]
    )
    np.testing.assert_allclose(bone_axis(fork, 0), [0, 0, 1])
    np.testing.assert_allclose(bone_axis(fork, 1), [0, 1, 0])
