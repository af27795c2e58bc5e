"""`understudy serve`: the server, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import argparse
import functools
import logging
from pathlib import Path

from understudy.commands.arguments import add_json
from understudy.commands.monitor import add_monitor, monitoring
from understudy.config import load_config
from understudy.runtime.launch import run as serve

EXAMPLE = "example: understudy serve server/shows/walk.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("show", type=Path, metavar="SHOW", help="the show file (TOML)")
    add_monitor(parser)
    add_json(parser, "the line that says it is ready")


def run(arguments: argparse.Namespace) -> int:
    """Serve the show."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s")
    page = functools.partial(monitoring, arguments.monitor)
    return serve(load_config(arguments.show), as_json=arguments.json, beside=page)
