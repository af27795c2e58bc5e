"""`bench compare`: what changed between two runs, beyond what noise explains."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from understudy_bench.checks import Check, judge
from understudy_bench.machine import describe_machine
from understudy_bench.noise import MAX_STEAL
from understudy_bench.processes import BenchError
from understudy_bench.report import Report, Table

EXAMPLE = "example: understudy bench compare before.json after.json"

# What two equal runs may differ by on a quiet machine, and on a noisy one, where only ratios,
# counts and errors mean anything.
QUIET_BAND: Final = 0.15
NOISY_BAND: Final = 0.60
# Figures that grow with the length of a run or name the machine, and long series.
_IGNORED: Final = frozenset(
    {
        "all", "count", "frames", "histogram", "histograms", "resident_after", "resident_before",
        "resident_bytes", "settled_frames", "versions",
    }
)  # fmt: skip
_TIMES: Final = ("_us", "p50", "p99", "max", "p999")


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of two runs."""

    name: str
    before: float
    after: float

    @property
    def relative(self) -> float:
        """The change as a fraction of what it was."""
        if self.before == self.after:
            return 0.0
        return (self.after - self.before) / abs(self.before) if self.before else float("inf")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument("before", type=Path, metavar="A.json", help="a bench's --json file")
    parser.add_argument("after", type=Path, metavar="B.json", help="a later one of the same bench")


def run(arguments: argparse.Namespace) -> Report:
    """Compare two files."""
    return compare(read_run(arguments.before), read_run(arguments.after))


def compare(before: Mapping[str, Any], after: Mapping[str, Any]) -> Report:
    """List what changed; a check that passed before and fails now is a failure."""
    kinds = [content["meta"]["bench"] for content in (before, after)]
    if kinds[0] != kinds[1]:
        raise BenchError(f"cannot compare a run of {kinds[0]!r} with one of {kinds[1]!r}")
    noisy = any(_noisy(content["meta"]) for content in (before, after))
    old = dict(figures(before["results"]))
    changes = [
        Change(name, old[name], value)
        for name, value in figures(after["results"])
        if name in old and old[name] != value
    ]
    beyond = [c for c in changes if abs(c.relative) > band(c.name, noisy)]
    beyond.sort(key=lambda c: abs(c.relative), reverse=True)
    table = Table(
        f"{kinds[0]}: {before['meta'].get('commit')} to {after['meta'].get('commit')},"
        f" {len(beyond)} of {len(old)} figures changed beyond the noise",
        ("figure", "before", "after", "change"),
        [
            [c.name, f"{c.before:.4g}", f"{c.after:.4g}", f"{100 * c.relative:+.0f} %"]
            for c in beyond
        ],
    )
    notes = [
        f"times count as changed beyond {100 * band('x_us', noisy):.0f} %"
        f" ({'a noisy' if noisy else 'a quiet'} machine), other figures beyond"
        f" {100 * QUIET_BAND:.0f} %",
    ]
    results = {"changed": [asdict(c) for c in beyond], "noisy": noisy, "compared": len(old)}
    checks = _lost_checks(before["checks"], after["checks"])
    return Report("compare", describe_machine(), results, checks, (table,), notes)


def band(name: str, noisy: bool) -> float:
    """How much of a change in this figure is noise."""
    return NOISY_BAND if noisy and name.endswith(_TIMES) else QUIET_BAND


def figures(results: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number in a run's results, with its path; items of a list go by what they are about."""
    if isinstance(results, Mapping):
        for key, value in results.items():
            if key not in _IGNORED:
                yield from figures(value, f"{path}.{key}" if path else key)
    elif isinstance(results, list):
        for place, value in enumerate(results):
            yield from figures(value, f"{path}[{_subject(value, place)}]")
    elif isinstance(results, int | float) and not isinstance(results, bool):
        yield path, float(results)


def _subject(value: object, place: int) -> str:
    if not isinstance(value, Mapping):
        return str(place)
    keys = ("transport", "clip", "character", "solver", "rate_hz", "what", "characters")
    return " ".join(str(value[key]) for key in keys if key in value) or str(place)


def _lost_checks(before: list[Mapping[str, Any]], after: list[Mapping[str, Any]]) -> list[Check]:
    """Checks that failed before are no news; one that has begun to fail is."""
    failed_before = {check["name"] for check in before if check["passed"] is False}
    begun = [c for c in after if c["passed"] is False and c["name"] not in failed_before]
    return [judge("checks that fail now and did not before", len(begun), "checks", "==", 0)]


def _noisy(meta: Mapping[str, Any]) -> bool:
    return bool(meta.get("noisy")) or float(meta.get("steal") or 0.0) > MAX_STEAL


def read_run(path: Path) -> dict[str, Any]:  # Any: what JSON carries
    """The content of a bench's --json file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        run: dict[str, Any] = {"report": {}, **content}
        run["meta"] = {**run["meta"], "bench": str(run["meta"]["bench"])}
        complete = {"results", "checks"} <= run.keys()
    except OSError as error:
        raise BenchError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise BenchError(f"{path}: is not the --json file of a bench") from None
    if not complete:
        raise BenchError(f"{path}: is not the --json file of a bench")
    return run
