"""`understudy monitor`: a web page that shows a running session."""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from understudy.commands.arguments import add_control, add_downlink, number
from understudy.commands.ending import until_interrupted
from understudy.errors import UnderstudyError

EXAMPLE = "example: understudy monitor --page-port 8080"

_STOP_S: Final = 5.0
# On Windows a wait without a time-out would not notice Ctrl-C.
_LOOK_S: Final = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    add_downlink(parser)
    add_control(parser)
    parser.add_argument(
        "--page-host",
        default="127.0.0.1",
        metavar="HOST",
        help="who may open the page: 127.0.0.1 this machine alone (default), 0.0.0.0 everyone",
    )
    parser.add_argument(
        "--page-port",
        type=number(0, 65535, "a port"),
        default=8080,
        metavar="PORT",
        help="the page's port; the next free one if it is taken (default 8080)",
    )
    parser.add_argument(
        "--takes",
        type=Path,
        default=Path("takes"),
        metavar="FOLDER",
        help="where recordings go (default ./takes)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve the page until told to stop."""
    try:
        from understudy.monitor.app import Monitor, MonitorOptions
    except ModuleNotFoundError as error:
        raise UnderstudyError(
            f"monitor needs {error.name}; install it with: pip install 'understudy[monitor]'"
        ) from None
    options = MonitorOptions(
        host=arguments.page_host,
        port=int(arguments.page_port),
        downlink=arguments.downlink,
        control=arguments.control,
        takes=arguments.takes,
    )
    never = threading.Event()
    with until_interrupted(), Monitor(options) as monitor:
        print(f"monitor: open {monitor.url}", flush=True)
        while not never.wait(_LOOK_S):
            pass
    return 0


def add_monitor(parser: argparse.ArgumentParser) -> None:
    """`--monitor`: the page beside another command."""
    parser.add_argument(
        "--monitor", action="store_true", help="also serve a web page that shows it live"
    )


@contextmanager
def monitoring(wanted: bool, output: str, control: str) -> Iterator[None]:
    """The monitor in a process of its own, if it is wanted, as long as the block runs.

    It prints the page's address on standard error: standard output belongs to the command.
    """
    if not wanted:
        yield
        return
    command = [sys.executable, "-m", "understudy", "monitor", "--from", output]
    with subprocess.Popen([*command, "--control", control], stdout=sys.stderr.fileno()) as process:
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                process.kill()
