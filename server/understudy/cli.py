"""The `understudy` command: finds the command asked for, runs it, and tells errors in one line."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Final, NoReturn, Protocol, cast

from understudy import __version__
from understudy.commands import load
from understudy.errors import UnderstudyError
from understudy_client.errors import ClientError
from understudy_protocol.errors import ProtocolError

OK: Final = 0
WRONG_USE: Final = 2

# Only the module of the command asked for is loaded: most of them load compiled code.
COMMANDS: Final = {
    "demo": "a show on this machine: server, built-in performer, two characters",
    "serve": "run the server with a show file",
    "play": "be a performer: send a clip's frames in real time",
    "watch": "a live table of characters: rate, latency, error",
    "monitor": "a web page that shows performers and characters live",
    "record": "write a character's stream to a BVH file",
    "retarget": "retarget a clip file to a character, as fast as it goes",
    "inspect": "what a clip or rig holds: tree, unit, axes, frames",
    "map": "which joint plays which part of the body; a profile to correct it",
    "doctor": "listen, and say why nothing moves or looks wrong",
    "status": "ask a server what it runs",
    "bench": "measure latency, budgets and quality on this machine",
}

_BENCH: Final = "bench"


class Command(Protocol):
    """What every module of `understudy.commands` provides."""

    EXAMPLE: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's arguments."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; the exit code."""


class OneLineParser(argparse.ArgumentParser):
    """A parser whose errors are one line, without the usage."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong and where to read on; exit code 2."""
        self.exit(WRONG_USE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of `command` alone."""
    parser = OneLineParser(
        prog="understudy",
        description="Real-time motion retargeting: capture frames in, a character's angles out.",
        epilog="example: understudy demo --seconds 10",
    )
    parser.add_argument("--version", action="version", version=f"understudy {__version__}")
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=OneLineParser
    )
    for name, summary in COMMANDS.items():
        if name == command and name != _BENCH:
            module = _module(name)
            entry = commands.add_parser(
                name,
                help=summary,
                description=summary[0].upper() + summary[1:] + ".",
                epilog=module.EXAMPLE,
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
            module.add_arguments(entry)
            entry.set_defaults(run=module.run)
        else:
            commands.add_parser(name, help=summary)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 2 refused in one line, 130 interrupted."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == [_BENCH]:
            return _bench(words[1:])
        command = next((word for word in words if not word.startswith("-")), None)
        arguments = build_parser(command).parse_args(words)
        run = cast(Callable[[argparse.Namespace], int], arguments.run)
        return run(arguments)
    except (UnderstudyError, ClientError, ProtocolError) as error:
        return _fail(str(error))
    except BrokenPipeError:
        # Whoever read our output has gone (`understudy inspect x | head`): nothing is wrong. What
        # is still buffered must not be written at exit.
        sys.stdout = None
        return OK
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"{where}{error.strerror or error}")
    except KeyboardInterrupt:
        return 130


def _module(name: str) -> Command:
    return cast(Command, load(name))


def _bench(words: list[str]) -> int:
    try:
        module = importlib.import_module("understudy_bench.cli")
    except ModuleNotFoundError as error:
        return _fail(f"bench needs {error.name}; install it with: pip install 'understudy[bench]'")
    bench = cast(Callable[[list[str]], int], module.main)
    return bench(words)


def _fail(text: str) -> int:
    print(f"understudy: {' '.join(text.split())}", file=sys.stderr)
    return WRONG_USE
