"""How a cost grows, told from a few sizes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from understudy_bench.commands.capacity import MAX_JOINT_PRICE, MAX_ROWS_EXPONENT
from understudy_bench.growth import JOINTS, ROWS, Cost, Growth, measure_growth


def grown(by_joints: Callable[[int], float], by_rows: Callable[[int], float]) -> Growth:
    return Growth(
        tuple(Cost(joints, 12, by_joints(joints)) for joints in JOINTS),
        tuple(Cost(100, rows, by_rows(rows)) for rows in ROWS),
    )


def test_linear_growth_with_joints_is_told_from_quadratic() -> None:
    linear = grown(lambda n: 8.0 + 0.1 * n, lambda m: 5.0 + m)
    assert linear.joint_price_ratio == pytest.approx(1.0)
    quadratic = grown(lambda n: 8.0 + 0.1 * n + 0.002 * n**2, lambda m: 5.0 + m)
    assert quadratic.joint_price_ratio > MAX_JOINT_PRICE


def test_growth_beyond_cubic_with_rows_is_told_from_cubic() -> None:
    cubic = grown(lambda n: 8.0 + n, lambda m: 5.0 + 1e-3 * m**3)
    assert cubic.rows_exponent == pytest.approx(MAX_ROWS_EXPONENT)
    quartic = grown(lambda n: 8.0 + n, lambda m: 5.0 + 1e-4 * m**4)
    assert quartic.rows_exponent == pytest.approx(4.0)


def test_every_size_is_measured_on_a_body_that_has_it() -> None:
    growth = measure_growth("clik", rounds=1)
    assert tuple(cost.joints for cost in growth.over_joints) == JOINTS
    assert tuple(cost.rows for cost in growth.over_rows) == ROWS
    assert all(cost.us > 0.0 for cost in (*growth.over_joints, *growth.over_rows))
