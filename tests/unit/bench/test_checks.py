from __future__ import annotations

import math

import pytest

from understudy_bench.checks import (
    Sense,
    exit_code,
    judge,
    judge_if_quiet,
    judge_unless_noisy,
)


@pytest.mark.parametrize(
    ("value", "sense", "limit", "passed"),
    [
        (2.0, "<=", 2.0, True),
        (2.1, "<=", 2.0, False),
        (20.0, ">=", 20.0, True),
        (19.0, ">=", 20.0, False),
        (0, "==", 0, True),
        (1, "==", 0, False),
        (math.nan, "<=", 2.0, False),
        (math.inf, ">=", 2.0, False),
    ],
)
def test_a_figure_is_held_against_its_limit(
    value: float, sense: Sense, limit: float, passed: bool
) -> None:
    assert judge("x", value, "", sense, limit).passed is passed


def test_noise_excuses_a_failure_and_spoils_no_pass() -> None:
    assert judge_unless_noisy("x", 3.0, "us", "<=", 2.0, noisy=True).passed is None
    assert judge_unless_noisy("x", 1.0, "us", "<=", 2.0, noisy=True).passed is True
    assert judge_unless_noisy("x", 3.0, "us", "<=", 2.0, noisy=False).passed is False


def test_what_noise_can_better_is_not_said_of_a_noisy_machine() -> None:
    assert judge_if_quiet("x", 3.0, "", ">=", 0.5, noisy=True).passed is None
    assert judge_if_quiet("x", 0.1, "", ">=", 0.5, noisy=True).passed is None
    assert judge_if_quiet("x", 3.0, "", ">=", 0.5, noisy=False).passed is True
    assert judge_if_quiet("x", 0.1, "", ">=", 0.5, noisy=False).passed is False


def test_only_a_failure_sets_the_exit_code() -> None:
    passed = judge("x", 1.0, "", "<=", 2.0)
    unsaid = judge_unless_noisy("x", 3.0, "", "<=", 2.0, noisy=True)
    failed = judge("x", 3.0, "", "<=", 2.0)
    assert exit_code([passed, unsaid]) == 0
    assert exit_code([passed, failed]) == 1
