"""The filter on the performer's motion: noise goes, motion stays, nothing jumps."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.characters import load_clip
from understudy.characters.builtin import builtin_character
from understudy.conditioning import Smoother
from understudy.conditioning._kernels import smooth
from understudy.conditioning.smoothing import BEHIND_M, BEHIND_RAD
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import exp, multiply

ACTOR = builtin_character("actor")
DT = 1.0 / 120.0
EASE_S = 0.3
N = len(ACTOR)


def smoother(strength: float = 1.0) -> Smoother:
    """One at its full strength, standing at the origin with every rotation the identity."""
    result = Smoother(ACTOR, 0.0)
    result.set_strength(strength)
    result.apply(np.zeros(3), still(), DT)
    return result


def still() -> FloatArray:
    return np.tile([0.0, 0.0, 0.0, 1.0], (N, 1))


def turned(angle_rad: float) -> FloatArray:
    return np.tile(exp(np.array([0.0, angle_rad, 0.0])), (N, 1))


def angles(a: FloatArray, b: FloatArray) -> FloatArray:
    """Between rows of rotations, rad."""
    return np.asarray(2.0 * np.arccos(np.minimum(1.0, np.abs(np.sum(a * b, axis=-1)))))


def test_it_is_off_until_it_is_given_a_strength() -> None:
    result = Smoother(ACTOR, EASE_S)
    assert not result.active
    result.set_strength(0.5)
    assert result.active


def test_the_pose_that_is_given_is_left_alone() -> None:
    result = smoother()
    root, rotations = np.array([0.1, 0.2, 0.3]), turned(0.2)
    result.apply(root, rotations, DT)
    np.testing.assert_array_equal(root, [0.1, 0.2, 0.3])
    np.testing.assert_array_equal(rotations, turned(0.2))


def test_noise_around_a_still_pose_goes() -> None:
    rng = np.random.default_rng(3)
    result = smoother()
    rough, smoothed = [], []
    for _ in range(600):
        noisy = multiply(still(), exp(rng.normal(0.0, 0.01, (N, 3))))
        result.apply(rng.normal(0.0, 0.002, 3), np.ascontiguousarray(noisy), DT)
        rough.append(angles(noisy, still()))
        smoothed.append(angles(result.rotations_xyzw, still()))
    assert np.mean(smoothed[100:]) < 0.3 * np.mean(rough[100:])


@pytest.mark.parametrize("strength", [0.25, 1.0])
@pytest.mark.parametrize("speed", [0.5, 5.0, 20.0])
def test_a_steady_motion_is_followed_within_the_promised_distance(
    strength: float, speed: float
) -> None:
    result = smoother(strength)
    for k in range(1, 200):
        result.apply(np.array([0.1 * speed * k * DT, 0.0, 0.0]), turned(speed * k * DT), DT)
    behind = angles(result.rotations_xyzw, turned(speed * 199 * DT))
    assert behind.max() <= strength * BEHIND_RAD
    assert 0.1 * speed * 199 * DT - result.root[0] <= strength * BEHIND_M


def test_where_the_performer_stops_the_smoothed_pose_arrives() -> None:
    result = smoother()
    for _ in range(400):
        result.apply(np.array([0.3, 0.0, 0.0]), turned(0.4), DT)
    assert angles(result.rotations_xyzw, turned(0.4)).max() < 1e-6
    assert result.root[0] == pytest.approx(0.3, abs=1e-6)


def test_strength_comes_and_goes_gradually_and_ends_in_the_measured_pose() -> None:
    clip = load_clip("walk", 120.0)
    result = Smoother(clip.skeleton, EASE_S)
    shown = []
    for k in range(360):
        if k == 60:
            result.set_strength(1.0)
        elif k == 200:
            result.set_strength(0.0)
        measured = clip.rotations_xyzw[k].copy()
        if result.active:
            result.apply(clip.roots[k].copy(), measured, DT)
            measured = result.rotations_xyzw.copy()
        shown.append(measured)
    usual = angles(clip.rotations_xyzw[1:360], clip.rotations_xyzw[:359]).max()
    assert angles(np.array(shown[1:]), np.array(shown[:-1])).max() < 1.3 * usual
    assert not result.active
    np.testing.assert_array_equal(shown[-1], clip.rotations_xyzw[359])


def test_a_jump_is_taken_as_it_is() -> None:
    result = smoother()
    result.apply(np.array([5.0, 0.0, 0.0]), turned(2.0), DT, True)
    np.testing.assert_array_equal(result.root, [5.0, 0.0, 0.0])
    np.testing.assert_array_equal(result.rotations_xyzw, turned(2.0))


def test_two_frames_at_one_moment_do_no_harm() -> None:
    result = smoother()
    result.apply(np.array([0.1, 0.0, 0.0]), turned(0.1), 0.0)
    assert np.all(np.isfinite(result.rotations_xyzw))


def test_the_kernel_does_what_its_source_says() -> None:
    def arrays() -> list[FloatArray]:
        root = np.array([0.1, 0.2, 0.3])
        state = [np.zeros(3), still(), np.zeros(3), turned(0.1), np.zeros((N + 1, 3))]
        return [np.array([0.2, 0.08, 0.1, 0.03]), root, turned(0.3), *state]

    compiled, plain = arrays(), arrays()
    smooth(0.7, DT, *compiled)
    smooth.py_func(0.7, DT, *plain)  # type: ignore[attr-defined]  # numba's
    for a, b in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
