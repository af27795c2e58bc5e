"""Quaternion arithmetic against scipy, at ordinary angles and at the awkward ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from understudy.kinematics import FloatArray, rotations
from understudy.kinematics._kernels import difference, turn

# Zero, a denormal, both sides of every switch between series and closed form, and pi.
ANGLES = (
    0.0, 1e-300, 1e-160, 1e-12, 1e-9, 2e-8, 1e-6, 6e-3, 6.5e-3, 0.06, 0.0632, 0.0633, 0.5, 2.0,
    3.0, math.pi - 1e-3, math.pi - 1e-6, math.pi - 1e-9, math.pi - 1e-12, math.pi,
)  # fmt: skip

angle = st.floats(0.0, math.pi)
direction = st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda v: math.hypot(*v) > 0.1)


def python_twin(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The plain Python function that a kernel was compiled from."""
    return cast(Callable[..., Any], cast(Any, kernel).py_func)


def vectors_of(size: float, count: int = 40, seed: int = 3) -> FloatArray:
    rng = np.random.default_rng(seed)
    unit = rng.normal(size=(count, 3))
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    unit[:6] = np.concatenate([np.eye(3), -np.eye(3)])
    return np.asarray(size * unit, np.float64)


def random_quaternions(count: int, seed: int) -> FloatArray:
    q = np.random.default_rng(seed).normal(size=(count, 4))
    return rotations.normalise(q)


def same_rotation(a: FloatArray, b: FloatArray, atol: float = 4e-16) -> None:
    np.testing.assert_allclose(rotations.align_sign(a, b), b, atol=atol)


@pytest.mark.parametrize("size", ANGLES)
def test_exp_is_scipys(size: float) -> None:
    v = vectors_of(size)
    same_rotation(rotations.exp(v), Rotation.from_rotvec(v).as_quat())


@pytest.mark.parametrize("size", ANGLES)
def test_log_undoes_exp(size: float) -> None:
    v = vectors_of(size)
    back = rotations.log(rotations.exp(v))
    if size > math.pi - 1e-11:  # either way round is right at pi
        back *= np.sign(np.sum(back * v, axis=1, keepdims=True))
    np.testing.assert_allclose(back, v, atol=2e-15, rtol=1e-15)


@pytest.mark.parametrize("size", ANGLES)
def test_log_is_scipys(size: float) -> None:
    q = Rotation.from_rotvec(vectors_of(size)).as_quat()
    expected = Rotation.from_quat(q).as_rotvec()
    found = rotations.log(q)
    if size > math.pi - 1e-11:
        found *= np.sign(np.sum(found * expected, axis=1, keepdims=True))
    np.testing.assert_allclose(found, expected, atol=2e-15)


def test_log_takes_the_short_way_for_either_sign() -> None:
    q = random_quaternions(200, 1)
    np.testing.assert_allclose(rotations.log(q), rotations.log(-q), atol=1e-15)
    assert np.max(np.linalg.norm(rotations.log(q), axis=1)) <= math.pi + 1e-15


def test_products_and_turned_vectors_are_scipys() -> None:
    a, b = random_quaternions(200, 2), random_quaternions(200, 3)
    v = np.random.default_rng(4).normal(size=(200, 3))
    expected = Rotation.from_quat(a) * Rotation.from_quat(b)
    same_rotation(rotations.multiply(a, b), expected.as_quat(), 1e-15)
    np.testing.assert_allclose(rotations.rotate(a, v), Rotation.from_quat(a).apply(v), atol=2e-15)
    same_rotation(
        rotations.multiply(a, rotations.conjugate(a)), np.tile(rotations.IDENTITY_XYZW, (200, 1))
    )


def test_operations_broadcast_over_leading_axes() -> None:
    a = random_quaternions(6, 5).reshape(2, 3, 4)
    b = random_quaternions(3, 6)
    product = rotations.multiply(a, b)
    assert product.shape == (2, 3, 4)
    np.testing.assert_array_equal(product[1, 2], rotations.multiply(a[1, 2], b[2]))
    assert rotations.rotate(a, np.ones(3)).shape == (2, 3, 3)
    assert rotations.slerp(a, b, np.linspace(0.0, 1.0, 3)).shape == (2, 3, 4)


@pytest.mark.parametrize("size", ANGLES)
def test_matrices_are_scipys_and_come_back(size: float) -> None:
    q = rotations.exp(vectors_of(size))
    matrix = rotations.matrix(q)
    np.testing.assert_allclose(matrix, Rotation.from_quat(q).as_matrix(), atol=1e-15)
    back = rotations.from_matrix(matrix)
    same_rotation(back, q, 1e-15)
    assert np.all(back[:, 3] >= 0.0)


def test_random_matrices_come_back() -> None:
    q = random_quaternions(500, 7)
    same_rotation(rotations.from_matrix(rotations.matrix(q)), q, 1e-15)


@given(direction, angle, st.floats(0.0, 1.0))
def test_slerp_turns_evenly_about_one_axis(
    axis: tuple[float, float, float], size: float, fraction: float
) -> None:
    a = random_quaternions(1, 8)[0]
    step = np.array(axis) / math.hypot(*axis) * min(size, math.pi - 1e-6)
    b = rotations.multiply(a, rotations.exp(step))
    expected = rotations.multiply(a, rotations.exp(fraction * step))
    same_rotation(rotations.slerp(a, -b, fraction), expected, 1e-14)


@given(direction, direction)
def test_between_takes_one_direction_to_the_other_by_the_smallest_turn(
    a: tuple[float, float, float], b: tuple[float, float, float]
) -> None:
    start, end = np.array(a), np.array(b)
    cosine = start @ end / np.linalg.norm(start) / np.linalg.norm(end)
    assume(cosine > 1e-11 - 1.0)  # nearly opposite ones have a test of their own
    q = rotations.between(start, end)
    turned = rotations.rotate(q, start / np.linalg.norm(start))
    np.testing.assert_allclose(turned, end / np.linalg.norm(end), atol=1e-8)
    size = float(np.linalg.norm(rotations.log(q)))
    assert math.cos(size) == pytest.approx(cosine, abs=1e-8)


@pytest.mark.parametrize("gap", [0.0, 1e-9, 1e-7, 1e-5, 1e-3])
def test_between_opposite_directions_is_half_a_turn(gap: float) -> None:
    for start in vectors_of(1.0):
        across = np.cross(start, [0.3, -0.5, 0.8])
        end = rotations.rotate(rotations.exp((math.pi - gap) * across / np.linalg.norm(across)),
                               start)  # fmt: skip
        q = rotations.between(start, end)
        assert np.linalg.norm(rotations.log(q)) == pytest.approx(math.pi - gap, abs=2e-6)
        np.testing.assert_allclose(rotations.rotate(q, start), end, atol=2e-6)


def test_align_sign_chooses_the_nearer_of_two_equal_quaternions() -> None:
    q, reference = random_quaternions(100, 9), random_quaternions(100, 10)
    aligned = rotations.align_sign(q, reference)
    assert np.all(np.sum(aligned * reference, axis=1) >= 0.0)
    np.testing.assert_array_equal(np.abs(aligned), np.abs(q))


def test_the_shared_identity_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        rotations.IDENTITY_XYZW[0] = 1.0


@pytest.mark.parametrize("size", ANGLES)
def test_compiled_turn_is_a_body_increment(size: float) -> None:
    start = random_quaternions(40, 11)
    expected = Rotation.from_quat(start) * Rotation.from_rotvec(vectors_of(size))
    for function in (turn, python_twin(turn)):
        q = start.copy()
        for j, v in enumerate(vectors_of(size)):
            function(q, j, v[0], v[1], v[2])
        same_rotation(q, expected.as_quat(), 1e-15)
        np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, atol=4e-16)


def test_compiled_turn_touches_only_its_joint() -> None:
    q = random_quaternions(3, 12)
    before = q.copy()
    turn(q, 1, 0.1, 0.2, 0.3)
    np.testing.assert_array_equal(q[[0, 2]], before[[0, 2]])


@pytest.mark.parametrize("size", ANGLES)
def test_compiled_difference_is_the_increment_that_was_made(size: float) -> None:
    a = random_quaternions(40, 13)
    v = vectors_of(size)
    b = rotations.multiply(a, rotations.exp(v))
    b[::2] *= -1.0  # the same rotations
    for function in (difference, python_twin(difference)):
        found = np.array([function(a, j, b, j) for j in range(len(a))])
        if size > math.pi - 1e-9:
            found *= np.sign(np.sum(found * v, axis=1, keepdims=True))
        np.testing.assert_allclose(found, v, atol=3e-15)


def test_compiled_difference_is_scipys_between_any_two() -> None:
    a, b = random_quaternions(300, 14), random_quaternions(300, 15)
    expected = (Rotation.from_quat(a).inv() * Rotation.from_quat(b)).as_rotvec()
    found = np.array([difference(a, j, b, j) for j in range(len(a))])
    np.testing.assert_allclose(found, expected, atol=2e-14)


def test_turning_by_the_difference_arrives() -> None:
    a, b = random_quaternions(300, 16), random_quaternions(300, 17)
    for j in range(len(a)):
        turn(a, j, *difference(a, j, b, j))
    same_rotation(a, b, 1e-15)


def test_not_a_number_is_not_hidden() -> None:
    q = random_quaternions(2, 18)
    turn(q, 0, math.nan, 0.0, 0.0)
    assert np.all(np.isnan(q[0]))
    assert np.isnan(difference(q, 0, q, 1)).any()
