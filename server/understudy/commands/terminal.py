"""Output for people: live tables and progress on a terminal, plain lines anywhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, NamedTuple, Self

from rich import box
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

Cell = str

_TERMINAL_REFRESH_S: Final = 0.25
_PLAIN_REFRESH_S: Final = 1.0


class Column(NamedTuple):
    """A column of a table: its name, and its unit if it holds numbers."""

    name: str
    unit: str = ""


class LiveTable:
    """A table that is drawn over and over on a terminal, and one line a row elsewhere."""

    def __init__(self, columns: Sequence[Column], title: str) -> None:
        self._columns = columns
        self._title = title
        self._console = Console()
        self._live = (
            Live(console=self._console, auto_refresh=False) if self._console.is_terminal else None
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def refresh_s(self) -> float:
        """How often to show it: lines stay, so there are fewer of them."""
        return _PLAIN_REFRESH_S if self._live is None else _TERMINAL_REFRESH_S

    def show(self, rows: Sequence[Sequence[Cell]]) -> None:
        """Show these rows in the place of the last ones."""
        if self._live is not None:
            self._live.update(self._table(rows), refresh=True)
        else:
            for cells in rows:
                print(plain_row(self._columns, cells), flush=True)

    def _table(self, rows: Sequence[Sequence[Cell]]) -> Table:
        table = Table(title=self._title, title_justify="left", box=box.SIMPLE_HEAD)
        for column in self._columns:
            heading = f"{column.name}\n{column.unit}"
            table.add_column(heading, justify="right" if column.unit else "left")
        for cells in rows:
            table.add_row(*cells)
        return table


def plain_row(columns: Sequence[Column], cells: Sequence[Cell]) -> str:
    """A row as a sentence: its first cell, then every other with its column's name and unit."""
    told = [
        f"{column.name} {cell} {column.unit}".rstrip()
        for column, cell in zip(columns[1:], cells[1:], strict=True)
    ]
    return f"{cells[0]}: {', '.join(told)}"


@contextmanager
def progress(title: str, total: int) -> Iterator[Progress | None]:
    """A progress bar on standard error if that is a terminal; None where there is none."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    )
    with bar:
        bar.add_task(title, total=total)
        yield bar
