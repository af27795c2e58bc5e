"""`understudy doctor`: listens, and says in plain words why nothing moves or looks wrong."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from typing import Final

from understudy.commands.arguments import add_json, number
from understudy.doctor.asking import ask_server
from understudy.doctor.diagnosis import Finding, diagnose_input, diagnose_server
from understudy.doctor.listening import listen_for_frames, listen_for_vmc
from understudy_protocol import DEFAULT_CONTROL

EXAMPLE = """with no option it listens for VMC at its usual port
example: understudy doctor --vmc 39539 --seconds 5
example: understudy doctor --server"""

_VMC_PORT: Final = 39539
_MARKS: Final = {"wrong": "WRONG", "odd": "odd  ", "good": "good "}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--vmc", type=_port, metavar="PORT", help=f"listen for VMC at this port ({_VMC_PORT})"
    )
    where.add_argument("--input", metavar="ADDRESS", help="listen for native frames, tcp://...")
    where.add_argument(
        "--server",
        nargs="?",
        const=DEFAULT_CONTROL,
        metavar="ADDRESS",
        help=f"ask a running server at its control address (default {DEFAULT_CONTROL})",
    )
    parser.add_argument(
        "--host", default="0.0.0.0", help="the address to listen for VMC at (default: every one)"
    )
    parser.add_argument(
        "--seconds",
        type=number(0.1, 600.0, "s"),
        default=5.0,
        metavar="N",
        help="how long to listen (default 5)",
    )
    add_json(parser, "what was found")


def run(arguments: argparse.Namespace) -> int:
    """Listen and tell; 1 if something is wrong."""
    findings = _examine(arguments)
    if arguments.json:
        print(json.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            print(f"{_MARKS[finding.weight]} {finding.text}")
        if not any(finding.weight == "wrong" for finding in findings):
            print("nothing is wrong here")
    return 1 if any(finding.weight == "wrong" for finding in findings) else 0


def _examine(arguments: argparse.Namespace) -> list[Finding]:
    if arguments.server is not None:
        return diagnose_server(ask_server(arguments.server, arguments.seconds))
    if arguments.input is not None:
        return diagnose_input(listen_for_frames(arguments.input, arguments.seconds))
    port = _VMC_PORT if arguments.vmc is None else arguments.vmc
    return diagnose_input(listen_for_vmc(arguments.host, port, arguments.seconds))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: a port from 1 to 65535")
    return int(text)
