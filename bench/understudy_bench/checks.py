"""Promises and whether a run kept them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal

Sense = Literal["<=", ">=", "=="]

_HOLDS: Final[dict[Sense, Callable[[float, float], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One promised figure: `value` stands to `limit` as `sense` says.

    `passed` is None where the machine was too noisy to say.
    """

    name: str
    value: float
    unit: str
    sense: Sense
    limit: float
    passed: bool | None


def judge(name: str, value: float, unit: str, sense: Sense, limit: float) -> Check:
    """A check of a figure that noise cannot spoil: a ratio within one run, a count, an error."""
    return Check(name, value, unit, sense, limit, _holds(value, sense, limit))


def judge_unless_noisy(
    name: str, value: float, unit: str, sense: Sense, limit: float, *, noisy: bool
) -> Check:
    """A check of an absolute time: a failure counts only if the machine was quiet."""
    passed = _holds(value, sense, limit)
    return Check(name, value, unit, sense, limit, None if noisy and not passed else passed)


def judge_if_quiet(
    name: str, value: float, unit: str, sense: Sense, limit: float, *, noisy: bool
) -> Check:
    """A check of a figure that noise can better as well as worsen: it counts on a quiet machine."""
    passed = None if noisy else _holds(value, sense, limit)
    return Check(name, value, unit, sense, limit, passed)


def exit_code(checks: Iterable[Check]) -> int:
    """0 if no check failed, 1 otherwise; what could not be said is no failure."""
    return int(any(check.passed is False for check in checks))


def _holds(value: float, sense: Sense, limit: float) -> bool:
    return math.isfinite(value) and _HOLDS[sense](value, limit)
