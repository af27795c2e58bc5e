"""`bench results`: documents made from runs, so that no figure in them is typed by hand."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from understudy_bench.commands.compare import read_run
from understudy_bench.documents import digest, measured_section, results_document, with_section
from understudy_bench.machine import describe_machine
from understudy_bench.processes import BenchError
from understudy_bench.report import Json, Report, Table

EXAMPLE = (
    "example: understudy bench results latency.json solvers.json -o RESULTS.md --readme README.md"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the bench's arguments."""
    parser.add_argument(
        "runs", nargs="+", type=Path, metavar="RUN.json", help="--json files, or kept digests"
    )
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="OUT.md", help="the file to write"
    )
    parser.add_argument(
        "--readme",
        type=Path,
        metavar="FILE",
        help="write the headlines between the markers of this file too",
    )
    parser.add_argument(
        "--keep",
        type=Path,
        metavar="FOLDER",
        help="keep in FOLDER what is needed to make the documents again, instead of what is there",
    )


def run(arguments: argparse.Namespace) -> Report:
    """Write the documents."""
    digests = [digest(read_run(path)) for path in arguments.runs]
    written = [str(arguments.output)]
    arguments.output.write_text(results_document(digests), encoding="utf-8")
    if arguments.readme is not None:
        _write_readme(arguments.readme, digests)
        written.append(str(arguments.readme))
    if arguments.keep is not None:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        for earlier in arguments.keep.glob("[0-9][0-9]-*.json"):
            earlier.unlink()
        for name, content in zip(_names(digests), digests, strict=True):
            text = json.dumps(content, indent=1, allow_nan=False)
            (arguments.keep / name).write_text(text + "\n", encoding="utf-8")
        written.append(str(arguments.keep))
    rows = [[each["meta"]["bench"], str(len(each["checks"]))] for each in digests]
    table = Table(f"wrote {', '.join(written)}", ("bench", "checks"), rows)
    return Report("results", describe_machine(), {"runs": len(digests)}, (), (table,))


def _write_readme(path: Path, digests: list[dict[str, Json]]) -> None:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise BenchError(f"{path}: cannot be read: {error.strerror}") from None
    path.write_text(with_section(text, measured_section(digests)), encoding="utf-8")


def _names(digests: list[dict[str, Json]]) -> list[str]:
    """File names that sort as the runs were given."""
    seen: Counter[str] = Counter()
    names = []
    for place, each in enumerate(digests):
        bench = str(each["meta"]["bench"])
        seen[bench] += 1
        again = f"-{seen[bench]}" if seen[bench] > 1 else ""
        names.append(f"{place + 1:02d}-{bench}{again}.json")
    return names
