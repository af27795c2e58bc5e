"""One experiment's share of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from understudy_bench.checks import Check
from understudy_bench.report import Json, Table


@dataclass(frozen=True, slots=True)
class Section:
    """What an experiment has to say: `results` for programs, tables and notes for people."""

    name: str
    results: Json
    tables: Sequence[Table]
    checks: Sequence[Check]
    notes: Sequence[str] = ()
