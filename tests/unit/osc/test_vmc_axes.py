from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.ingest._kernels import poses_from_vmc

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def read(rows: list[tuple[float, ...]]) -> tuple[np.ndarray, np.ndarray, list[bool]]:
    """Positions, rotations and verdicts; outputs are 9 where they were left alone."""
    positions, rotations = np.full((len(rows), 3), 9.0), np.full((len(rows), 4), 9.0)
    good = np.zeros(len(rows), np.bool_)
    numbers, bones = np.array(rows, np.float32), np.arange(len(rows))
    bad = poses_from_vmc(numbers, bones, 1e6, 0.1, positions, rotations, good)
    assert bad == len(rows) - good.sum()
    return positions, rotations, good.tolist()


def turned(quaternion: np.ndarray, point: np.ndarray) -> np.ndarray:
    axis, w = quaternion[:3], quaternion[3]
    return np.asarray(point + 2 * np.cross(axis, np.cross(axis, point) + w * point))


@given(st.integers(0, 2**32))
def test_a_pose_turns_and_moves_points_in_the_mirror(seed: int) -> None:
    """Checked on points: the formula of a rotation is the same in either handedness."""
    random = np.random.default_rng(seed)
    quaternion = random.normal(size=4)
    quaternion /= np.linalg.norm(quaternion)
    place, point = random.normal(size=3), random.normal(size=3)
    mirror = np.array([-1.0, 1.0, 1.0])
    positions, rotations, good = read([(*place, *quaternion)])
    assert good == [True]
    np.testing.assert_allclose(
        turned(rotations[0], mirror * point) + positions[0],
        mirror * (turned(quaternion, point) + place),
        atol=1e-5,
    )


def test_a_quaternion_of_about_unit_length_is_brought_to_it() -> None:
    _, rotations, good = read([(0, 0, 0, 0, 0.6 * 1.05, 0, 0.8 * 1.05)])
    assert good == [True]
    np.testing.assert_allclose(rotations, [[0, -0.6, 0, 0.8]], atol=1e-7)


@pytest.mark.parametrize(
    "pose",
    [
        (math.nan, 0, 0, *IDENTITY),
        (0, math.inf, 0, *IDENTITY),
        (0, 2e6, 0, *IDENTITY),
        (0, 0, 0, 0, 0, 0, 0),
        (0, 0, 0, 0, 0, 0, 1.2),
        (0, 0, 0, math.nan, 0, 0, 1),
        (0, 0, 0, 3e38, 3e38, 0, 1),
    ],
)
def test_an_impossible_pose_is_left_out(pose: tuple[float, ...]) -> None:
    positions, rotations, good = read([pose, (1, 2, 3, *IDENTITY)])
    assert good == [False, True]
    np.testing.assert_array_equal(positions, [[9, 9, 9], [-1, 2, 3]])
    np.testing.assert_array_equal(rotations, [[9, 9, 9, 9], IDENTITY])


@given(st.integers(0, 2**32))
def test_the_compiled_code_is_the_code_that_is_written(seed: int) -> None:
    rows = np.random.default_rng(seed).normal(size=(20, 7)).astype(np.float32)
    rows[:10, 3:] /= np.linalg.norm(rows[:10, 3:], axis=1, keepdims=True)
    bones = np.random.default_rng(seed).permutation(20)
    outputs = []
    written = cast(Any, poses_from_vmc).py_func  # numba has no types
    for function in (poses_from_vmc, written):
        positions, rotations, good = np.zeros((20, 3)), np.zeros((20, 4)), np.zeros(20, np.bool_)
        bad = function(rows, bones, 1e6, 0.1, positions, rotations, good)
        outputs.append((bad, positions, rotations, good))
    for ours, expected in zip(*outputs, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-15)
