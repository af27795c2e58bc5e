"""Numbers and words of a solver that a user may change, with their ranges and meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from understudy.solvers.base import ParameterValue, SolverError


@dataclass(frozen=True, slots=True)
class Parameter:
    """One number: what it is called, what it starts as, what is allowed, what it does.

    One with `choices` is a word to the user and its place among them inside.
    """

    name: str
    default: float
    low: float
    high: float
    meaning: str
    whole: bool = False
    choices: tuple[str, ...] = ()

    @classmethod
    def choice(cls, name: str, choices: tuple[str, ...], meaning: str) -> Parameter:
        """A parameter that is one of some words; the first is the default."""
        return cls(name, 0.0, 0.0, len(choices) - 1.0, meaning, True, choices)

    @property
    def allowed(self) -> str:
        """What may be given, as a user reads it."""
        return ", ".join(self.choices) or f"{self.low:g} to {self.high:g}"

    def shown(self, number: float) -> ParameterValue:
        """The number as a user would write it."""
        return self.choices[int(number)] if self.choices else number

    def check(self, solver: str, value: ParameterValue) -> float:
        """The value as a number in range; SolverError says what is allowed."""
        if self.choices and isinstance(value, str) and value in self.choices:
            return float(self.choices.index(value))
        fits = isinstance(value, int | float) and self.low <= value <= self.high
        if self.choices or not fits:
            raise SolverError(
                f"solver {solver!r}: parameter {self.name!r} = {value!r}; allowed: {self.allowed}"
            )
        number = float(value)
        if self.whole and number != int(number):
            raise SolverError(
                f"solver {solver!r}: parameter {self.name!r} = {value!r}; allowed: whole numbers"
            )
        return number


def checked(
    solver: str, known: Sequence[Parameter], values: Mapping[str, ParameterValue]
) -> dict[str, float]:
    """Every value checked against its parameter; an unknown name is refused with the known ones."""
    by_name = {parameter.name: parameter for parameter in known}
    result = {}
    for name, value in values.items():
        if name not in by_name:
            names = ", ".join(by_name) or "none"
            raise SolverError(f"solver {solver!r}: no parameter {name!r}; it has: {names}")
        result[name] = by_name[name].check(solver, value)
    return result
