"""The projection of a joint into its swing and twist range."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from support.bodies import chain, mixed_body, random_pose
from understudy.kinematics import FloatArray, rotations
from understudy.kinematics.limits import JointLimits
from understudy.solvers._kernels.limits import project, take_out
from understudy.solvers.plan import Plan

BODY = chain(2)
LOW, HIGH = np.array([-0.7, -0.3, -0.5]), np.array([0.4, 0.9, 1.1])


def limits_of(low: FloatArray = LOW, high: FloatArray = HIGH) -> JointLimits:
    limits = JointLimits.none(BODY)
    limits.set(
        1,
        centre_xyzw=Rotation.from_rotvec([0.4, -0.3, 0.8]).as_quat(),
        twist_axis=np.array([0.2, 1.0, -0.4]),
        low_rad=low,
        high_rad=high,
    )
    return limits


LIMITS = limits_of()
JOINTS_F = Plan(BODY, [], limits=LIMITS).joints_f


def projected(q: FloatArray, joints_f: FloatArray = JOINTS_F) -> tuple[FloatArray, int, FloatArray]:
    """Joint 1's rotation after the projection, the count, and the directions left (3, 3)."""
    pose = np.stack([rotations.IDENTITY_XYZW, q])
    free = np.tile(np.eye(3).ravel(), (2, 1))
    count = project(joints_f, 1, pose, free)
    return pose[1], int(count), free[1].reshape(3, 3)


def swung(s1: float, s2: float, twist: float) -> FloatArray:
    """The rotation with these angles about the limits' centre."""
    e1, e2, a = LIMITS.basis[1]
    h1, h2 = math.sin(s1 / 2), math.sin(s2 / 2)
    swing = Rotation.from_quat(np.array([*(h1 * e1 + h2 * e2), math.sqrt(1 - h1 * h1 - h2 * h2)]))
    centre = Rotation.from_quat(LIMITS.centre_xyzw[1])
    return np.asarray((centre * swing * Rotation.from_rotvec(twist * a)).as_quat(), np.float64)


quaternion = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.1)
share = st.floats(0.001, 0.999)


@given(share, share, share)
def test_what_is_inside_is_not_touched(f1: float, f2: float, f3: float) -> None:
    s1, s2, twist = LOW + np.array([f1, f2, f3]) * (HIGH - LOW)
    q = swung(s1, s2, twist)
    after, count, free = projected(q)
    np.testing.assert_array_equal(after, q)
    assert count == 0
    np.testing.assert_array_equal(free, np.eye(3))


@given(quaternion)
def test_what_is_outside_lands_on_the_boundary_and_stays(raw: tuple[float, ...]) -> None:
    q = rotations.normalise(np.array(raw))
    before = LIMITS.angles(1, q)
    after, count, free = projected(q)
    angles = LIMITS.angles(1, after)
    outside = np.maximum(LOW - before, before - HIGH)
    assert np.linalg.norm(after) == pytest.approx(1.0, abs=1e-14)
    assert np.max(LIMITS.excess_rad(np.stack([after, after]))) < 1e-9
    np.testing.assert_allclose(angles, np.clip(before, LOW, HIGH), atol=1e-9)
    assert count == np.sum(outside > 0.0) or np.min(np.abs(outside)) < 1e-9
    again, _, _ = projected(after)
    np.testing.assert_allclose(rotations.align_sign(again, after), after, atol=1e-14)
    # what is left free is an orthogonal projector of the right rank
    np.testing.assert_allclose(free @ free, free, atol=1e-12)
    np.testing.assert_allclose(free, free.T, atol=1e-12)
    assert np.trace(free) == pytest.approx(3 - count, abs=1e-9)


@pytest.mark.parametrize(
    ("angles", "clipped"),
    [((0.6, 0.2, 0.3), 0), ((0.1, 1.2, 0.3), 1), ((0.1, 0.2, -0.9), 2)],
)
def test_the_direction_taken_out_is_the_one_that_leads_out(
    angles: tuple[float, float, float], clipped: int
) -> None:
    at_limit, count, free = projected(swung(*angles))
    assert count == 1
    step = 1e-6
    for direction in np.linalg.svd(free)[0][:, :2].T:  # what is left keeps the angle at its limit
        turned = rotations.multiply(at_limit, rotations.exp(step * direction))
        change = LIMITS.angles(1, turned) - LIMITS.angles(1, at_limit)
        if clipped == 2:
            assert abs(change[clipped]) < 0.2 * step  # swing and twist couple at second order
        else:
            assert abs(change[clipped]) < 0.35 * step
    normal = np.linalg.svd(free)[0][:, 2]
    turned = rotations.multiply(at_limit, rotations.exp(step * normal))
    change = LIMITS.angles(1, turned) - LIMITS.angles(1, at_limit)
    assert abs(change[clipped]) > 0.9 * step


def test_a_half_turn_across_the_bone_is_brought_back_finite() -> None:
    e1, e2, _ = LIMITS.basis[1]
    for axis in (e1, e2, (e1 + e2) / math.sqrt(2.0)):
        q = (
            Rotation.from_quat(LIMITS.centre_xyzw[1]) * Rotation.from_rotvec(math.pi * axis)
        ).as_quat()
        after, count, _ = projected(q)
        assert count > 0
        assert np.max(LIMITS.excess_rad(np.stack([after, after]))) < 1e-9


def test_a_twist_of_any_size_is_free_where_the_range_is_wide() -> None:
    wide = limits_of(np.array([-0.5, -0.5, -2.5]), np.array([0.5, 0.5, 2.5]))
    joints_f = Plan(BODY, [], limits=wide).joints_f
    for twist in np.linspace(-math.pi, math.pi, 41):
        q = swung(0.2, -0.2, float(twist))
        after, _, _ = projected(q, joints_f)
        np.testing.assert_allclose(rotations.align_sign(after, q), q, atol=1e-8)


def test_a_bounded_hinge_stays_on_its_axis() -> None:
    body = mixed_body()
    joints_f = Plan(body, []).joints_f
    elbow = body.index("elbow")
    rest = Rotation.from_quat(body.rest_xyzw[elbow])
    low, high = body.limits_rad[elbow]
    free = np.tile(np.eye(3).ravel(), (len(body), 1))
    for angle in np.linspace(-1.55, 3.05, 47):
        q = random_pose(body, np.random.default_rng(1)).rotations_xyzw
        q[elbow] = (rest * Rotation.from_rotvec(angle * body.axes[elbow])).as_quat()
        count = project(joints_f, elbow, q, free)
        turn = (rest.inv() * Rotation.from_quat(q[elbow])).as_rotvec()
        np.testing.assert_allclose(turn, np.clip(angle, low, high) * body.axes[elbow], atol=1e-9)
        assert (count > 0) == (not low <= angle <= high)


def test_directions_are_taken_out_one_after_the_other() -> None:
    free = np.eye(3).reshape(1, 9).copy()
    take_out(free, 0, 1.0, 1.0, 0.0)
    np.testing.assert_allclose(free[0].reshape(3, 3) @ [1, 1, 0], 0.0, atol=1e-15)
    take_out(free, 0, 1.0, 0.0, 0.0)  # all that is left of it is along (1, -1, 0)
    np.testing.assert_allclose(free[0].reshape(3, 3), np.diag([0.0, 0.0, 1.0]), atol=1e-15)
    before = free.copy()
    take_out(free, 0, 0.3, -0.7, 0.0)  # nothing left of it
    np.testing.assert_array_equal(free, before)
