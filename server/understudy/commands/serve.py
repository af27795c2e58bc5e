"""`understudy serve`: the server, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import functools
import logging
import sys
from pathlib import Path
from typing import Final

from understudy.commands.arguments import add_json
from understudy.commands.monitor import add_monitor, monitoring
from understudy.config import ShowFile, decode_config
from understudy.runtime.launch import run as serve

EXAMPLE = "example: understudy serve server/shows/walk.toml"

_STANDARD_INPUT: Final = Path("-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "show", type=Path, metavar="SHOW", help="the show file (TOML), - for standard input"
    )
    add_monitor(parser)
    add_json(parser, "the line that says it is ready")


def run(arguments: argparse.Namespace) -> int:
    """Serve the show."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    page = functools.partial(monitoring, arguments.monitor)
    if arguments.show == _STANDARD_INPUT:
        config = decode_config(sys.stdin.buffer.read(), Path("standard input"))
        return serve(config, as_json=arguments.json, beside=page)
    show_file = ShowFile(arguments.show)
    return serve(show_file.config, show_file=show_file, as_json=arguments.json, beside=page)
