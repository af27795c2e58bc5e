"""The throw of two abnormal bodies: what the published table says, and what must hold anyway."""

from __future__ import annotations

import numpy as np
import pytest

from understudy_bench.paper.egik import (
    ALPHAS,
    PROPORTIONS,
    PUBLISHED,
    ErrorTable,
    abnormal_body,
    error_table,
    performers_throw,
    published_unit,
    throw_errors,
)


@pytest.fixture(scope="module", name="unit")
def unit_fixture() -> float:
    return published_unit()


@pytest.fixture(scope="module", name="table")
def table_fixture(unit: float) -> ErrorTable:
    return error_table(unit)


def test_one_length_unit_puts_the_first_body_where_the_paper_has_it(table: ErrorTable) -> None:
    assert table.errors["abnorman-1"][1] == pytest.approx(PUBLISHED["abnorman-1"][1], rel=1e-3)


@pytest.mark.parametrize("body", PROPORTIONS)
def test_copying_misses_as_the_published_bodies_do(table: ErrorTable, body: str) -> None:
    assert table.errors[body][0] == pytest.approx(PUBLISHED[body][0], rel=0.03)


@pytest.mark.parametrize("body", PROPORTIONS)
def test_the_other_cells_are_no_worse_than_the_published_ones(table: ErrorTable, body: str) -> None:
    for cell in range(2, 4):
        assert table.errors[body][cell] <= PUBLISHED[body][cell]
    assert table.errors[body][4] < 1e-7


@pytest.mark.parametrize("body", PROPORTIONS)
@pytest.mark.parametrize("default", [False, True])
def test_the_error_falls_with_alpha_and_goes_with_beta_by_alpha(
    unit: float, table: ErrorTable, body: str, default: bool
) -> None:
    errors = (error_table(0.0) if default else table).errors[body]
    assert np.all(np.diff(errors) < 0.0)
    ratio = errors[2] / errors[3]
    assert ratio == pytest.approx((0.1 / 0.9) / (0.01 / 0.99), rel=0.08)


def test_angles_leave_the_performers_as_alpha_grows(unit: float) -> None:
    throw = performers_throw()
    body = abnormal_body(throw.figure, "abnorman-1")
    away = [throw_errors(throw, body, alpha, unit).angle_rms_rad for alpha in ALPHAS]
    assert away[0] < 1e-12
    assert np.all(np.diff(away) > 0.0)


def test_the_throw_stays_as_smooth_as_the_performers(unit: float) -> None:
    throw = performers_throw()
    body = abnormal_body(throw.figure, "abnorman-1")
    for alpha in ALPHAS:
        assert throw_errors(throw, body, alpha, unit).jerk_ratio < 1.02
