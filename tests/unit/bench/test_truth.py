"""Which foot points are planted, by hindsight, and on what."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from understudy.kinematics import FloatArray
from understudy_bench.quality.truth import STRICT_SPEED, WIDE_SPEED, find_contacts

RATE_HZ = 120.0


def standing(seconds: float, height: float = 0.0) -> FloatArray:
    """Four sole points (T, 4, 3) m that rest at a height."""
    points = np.zeros((round(seconds * RATE_HZ), 4, 3))
    points[..., 1] = height
    return points


def rising(seconds: float, start: float, end: float) -> FloatArray:
    """The same on their way from one height to another, moving forward at 1 m/s."""
    points = standing(seconds)
    points[..., 1] = np.linspace(start, end, len(points))[:, None]
    points[..., 2] = np.arange(len(points))[:, None] / RATE_HZ
    return points


def test_feet_at_rest_are_planted_on_the_floor() -> None:
    truth = find_contacts(standing(1.0, 0.3), RATE_HZ, STRICT_SPEED)
    assert truth.planted.all()
    assert not truth.ledges.any()


@pytest.mark.parametrize(("speed", "planted"), [(0.05, True), (0.2, False)])
def test_a_foot_that_slips_is_planted_while_it_is_slow(speed: float, planted: bool) -> None:
    points = standing(1.0)
    points[:, 0, 0] = speed * np.arange(len(points)) / RATE_HZ
    truth = find_contacts(points, RATE_HZ, WIDE_SPEED)
    assert truth.planted[20:-20, 0].all() == planted
    assert truth.planted[:, 1:].all()


def test_what_lies_far_above_the_floor_is_a_ledge() -> None:
    points = np.concatenate([standing(1.0), rising(1.0, 0.0, 0.5), standing(1.0, 0.5)])
    points[:, 1, 1] += 0.02  # a heel that stays up
    truth = find_contacts(points, RATE_HZ, WIDE_SPEED)
    above = slice(round(2.5 * RATE_HZ), None)
    assert not truth.ledges[: round(RATE_HZ)].any()
    np.testing.assert_allclose(truth.ledges[above, 0], 0.5, atol=1e-3)
    np.testing.assert_allclose(truth.ledges[above, 1], 0.52, atol=1e-3)


def test_a_floor_that_rises_step_by_step_stays_the_floor() -> None:
    heights = (0.0, 0.06, 0.12, 0.18, 0.24)
    parts = [standing(1.0)]
    for low, high in itertools.pairwise(heights):
        parts += [rising(0.5, low, high), standing(1.0, high)]
    truth = find_contacts(np.concatenate(parts), RATE_HZ, WIDE_SPEED)
    assert truth.planted[-30:].all()
    assert not truth.ledges.any()


def test_down_from_a_ledge_is_the_floor_again() -> None:
    points = np.concatenate(
        [standing(1.0, 0.5), rising(1.0, 0.5, 0.0), standing(1.0), rising(1.0, 0.0, 0.5)]
    )
    truth = find_contacts(np.concatenate([points, standing(1.0, 0.5)]), RATE_HZ, WIDE_SPEED)
    assert not truth.ledges[: round(3.0 * RATE_HZ)].any()
    np.testing.assert_allclose(truth.ledges[-30:], 0.5, atol=1e-3)
