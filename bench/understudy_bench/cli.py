"""`understudy bench`: finds the bench asked for, runs it, shows and writes what it found."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, Protocol, cast

from rich.console import Console

from understudy.cli import WRONG_USE, OneLineParser
from understudy.errors import UnderstudyError
from understudy_bench.report import Report
from understudy_client.errors import ClientError

# Only the module of the bench asked for is loaded: most of them load compiled code.
BENCHES: Final = {
    "latency": "where one frame's time goes, beside a bare echo",
    "budget": "does every frame come back before the next is due, at 30 to 120 Hz",
    "solvers": "every solver on one task, hot and paced, with peers beside them",
    "quality": "errors, slides, pops and limits for clips, characters and solvers",
    "pairs": "does any performer fit any character: limbs, hinges, trunk, toes and ankles, copied",
    "paper": "the published figures of the papers behind the solvers, beside ours",
    "soak": "very many frames: does memory, latency or anything else grow",
    "capacity": "how many characters at 120 Hz one core holds, beside a bare echo",
    "viewers": "what those who look at the monitor's page cost the stream",
    "compare": "what changed between two runs beyond the noise",
    "results": "a document made from runs",
}

_PLAIN_WIDTH: Final = 120  # columns, where there is no terminal to ask


class Bench(Protocol):
    """What the module of a bench provides."""

    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the bench's arguments."""

    def run(self, arguments: argparse.Namespace) -> Report:
        """Measure and judge."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a bench; 0 if no check failed, 1 if one did, 2 if it was refused in one line."""
    words = list(sys.argv[1:] if argv is None else argv)
    name = next((word for word in words if not word.startswith("-")), None)
    arguments = build_parser(name).parse_args(words)
    run = cast(Callable[[argparse.Namespace], Report], arguments.run)
    try:
        report = run(arguments)
    except (UnderstudyError, ClientError) as error:
        print(f"understudy bench: {error}", file=sys.stderr)
        return WRONG_USE
    console = Console()
    if not console.is_terminal:
        console = Console(width=_PLAIN_WIDTH)
    report.show(console)
    if arguments.json is not None:
        report.write(arguments.json)
    if arguments.html is not None:
        # Plots need a library that nothing else here does.
        from understudy_bench.html import write_page

        write_page(report, arguments.html)
    return report.exit_code


def build_parser(bench: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of `bench` alone."""
    parser = OneLineParser(
        prog="understudy bench",
        description="Measure latency, budgets and quality on this machine.",
        epilog="example: understudy bench latency --seconds 20 --json latency.json",
    )
    benches = parser.add_subparsers(
        dest="bench", required=True, metavar="BENCH", parser_class=OneLineParser
    )
    for name, summary in BENCHES.items():
        if name != bench:
            benches.add_parser(name, help=summary)
            continue
        module = cast(Bench, importlib.import_module(f"understudy_bench.commands.{name}"))
        entry = benches.add_parser(
            name,
            help=summary,
            description=summary[0].upper() + summary[1:] + ".",
            epilog=module.EXAMPLE,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(entry)
        entry.add_argument("--json", type=_file, metavar="FILE", help="write the figures to FILE")
        entry.add_argument(
            "--html", type=_file, metavar="FILE", help="write a page with plots to FILE"
        )
        entry.set_defaults(run=module.run)
    return parser


def _file(text: str) -> Path:
    path = Path(text)
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}; its folder does not exist")
    return path
