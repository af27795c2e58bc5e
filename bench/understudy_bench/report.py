"""What a bench leaves behind: a JSON file for programs, tables for people, an exit code."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as RichTable

from understudy_bench.checks import Check, exit_code

Json = Any  # what a JSON file carries

# Beyond this only what did not pass is listed on the terminal.
_MANY_CHECKS: Final = 40
_VERDICTS = {True: "[green]pass[/]", False: "[red]FAIL[/]", None: "[yellow]too noisy to say[/]"}


@dataclass(frozen=True, slots=True)
class Table:
    """Figures for people: the first column holds words, the others numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Headline:
    """One figure of a run for those who read no more, and the command that measures it."""

    what: str
    figure: str
    command: str


@dataclass(frozen=True, slots=True)
class Report:
    """One run of one bench; `headlines` and the short tables `briefs` are for a README."""

    bench: str
    meta: Mapping[str, Json]
    results: Mapping[str, Json]
    checks: Sequence[Check]
    tables: Sequence[Table] = field(default=(), repr=False)
    notes: Sequence[str] = ()
    headlines: Sequence[Headline] = ()
    briefs: Sequence[Table] = ()

    @property
    def exit_code(self) -> int:
        """0 if no check failed."""
        return exit_code(self.checks)

    def as_json(self) -> dict[str, Json]:
        """The content of the JSON file; a number that is not finite becomes null.

        `report` holds the tables and notes as people see them, for documents made from the file.
        """
        content: dict[str, Json] = _finite(
            {
                "meta": {"bench": self.bench, **self.meta},
                "results": dict(self.results),
                "checks": [asdict(check) for check in self.checks],
                "report": {
                    "tables": [asdict(table) for table in self.tables],
                    "notes": list(self.notes),
                    "headlines": [asdict(headline) for headline in self.headlines],
                    "briefs": [asdict(table) for table in self.briefs],
                },
            }
        )
        return content

    def write(self, path: Path) -> None:
        """Write the JSON file."""
        text = json.dumps(self.as_json(), indent=1, allow_nan=False)
        path.write_text(text + "\n", encoding="utf-8")

    def show(self, console: Console) -> None:
        """Print tables, notes and checks."""
        for table in self.tables:
            console.print(_rich(table))
        for note in self.notes:
            console.print(f"[dim]{note}[/]")
        shown = self.checks
        if len(shown) > _MANY_CHECKS:
            shown = [check for check in self.checks if check.passed is not True]
            console.print(f"{len(self.checks) - len(shown)} of {len(self.checks)} checks passed")
        if shown:
            console.print(_checks_table(shown))


class Meter:
    """A progress bar: `advance` from wherever the work is done."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress = progress

    def advance(self, amount: float = 1.0) -> None:
        """Some more of the total is done."""
        if self._progress is not None:
            self._progress.advance(self._progress.task_ids[0], amount)
            self._progress.refresh()


@contextmanager
def metered(title: str, total: float) -> Iterator[Meter]:
    """A progress bar on a terminal's standard error, nothing elsewhere.

    It draws only when it is advanced: a thread of its own would disturb what is measured.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield Meter(None)
        return
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        auto_refresh=False,
    )
    with progress:
        progress.add_task(title, total=total)
        progress.refresh()
        yield Meter(progress)


def _rich(table: Table) -> RichTable:
    rich = RichTable(title=table.title, title_justify="left")
    for place, column in enumerate(table.columns):
        rich.add_column(column, justify="right" if place else "left")
    for row in table.rows:
        rich.add_row(*row)
    return rich


def _checks_table(checks: Sequence[Check]) -> RichTable:
    table = RichTable(title="checks", title_justify="left")
    for column in ("check", "value", "limit", ""):
        table.add_column(column, justify="left" if column in ("check", "") else "right")
    for check in checks:
        table.add_row(
            check.name,
            f"{check.value:.4g} {check.unit}".strip(),
            f"{check.sense} {check.limit:g}",
            _VERDICTS[check.passed],
        )
    return table


def _finite(value: Json) -> Json:
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
