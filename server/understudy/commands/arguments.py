"""Arguments that several commands share, and numbers checked as they are read."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

from understudy.config import UdpAddress, read_udp_address
from understudy_protocol import DEFAULT_CONTROL, DEFAULT_DOWNLINK, DEFAULT_UPLINK


def number(low: float, high: float, unit: str) -> Callable[[str], float]:
    """A type for argparse: a number from `low` to `high`; its error says so, with the unit."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(
                f"{text!r}; allowed: a number from {low:g} to {high:g} ({unit})"
            )
        return value

    return read


def count(text: str) -> int:
    """A type for argparse: a whole number above zero."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**9):
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: a whole number above zero")
    return int(text)


def add_output(parser: argparse.ArgumentParser) -> None:
    """`-o OUT.bvh`: the file to write; its folder is looked for before any work is done."""
    parser.add_argument(
        "-o", "--output", type=_output, required=True, metavar="OUT.bvh", help="the file to write"
    )


def _output(text: str) -> Path:
    path = Path(text)
    if path.suffix.lower() != ".bvh":
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: a name that ends in .bvh")
    if not path.absolute().parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r}; its folder does not exist")
    return path


def add_seconds(parser: argparse.ArgumentParser, what: str) -> None:
    """`--seconds N`: end by itself."""
    parser.add_argument(
        "--seconds", type=number(0.1, 1e6, "s"), metavar="N", help=f"{what} after N seconds"
    )


def add_json(parser: argparse.ArgumentParser, what: str) -> None:
    """`--json`: for programs."""
    parser.add_argument("--json", action="store_true", help=f"print {what} as JSON")


def add_wait(parser: argparse.ArgumentParser, what: str) -> None:
    """`--wait N`: how long to be patient before it is an error."""
    parser.add_argument(
        "--wait",
        type=number(0.1, 1e4, "s"),
        default=10.0,
        metavar="N",
        help=f"give up when {what} for N seconds (default 10)",
    )


def udp_target(text: str) -> UdpAddress:
    """A type for argparse: HOST:PORT to send datagrams to."""
    address = read_udp_address(text)
    if address is None or not address.port:
        raise argparse.ArgumentTypeError(f"{text!r}; allowed: HOST:PORT")
    return address


def add_uplink(parser: argparse.ArgumentParser) -> None:
    """`--to ADDRESS`: where frames are sent."""
    parser.add_argument(
        "--to",
        default=DEFAULT_UPLINK,
        metavar="ADDRESS",
        help=f"the server's input (default {DEFAULT_UPLINK})",
    )


def add_downlink(parser: argparse.ArgumentParser) -> None:
    """`--from ADDRESS`: where poses come from."""
    parser.add_argument(
        "--from",
        dest="downlink",
        default=DEFAULT_DOWNLINK,
        metavar="ADDRESS",
        help=f"the server's output (default {DEFAULT_DOWNLINK})",
    )


def add_control(parser: argparse.ArgumentParser) -> None:
    """`--control ADDRESS`: where requests are answered."""
    parser.add_argument(
        "--control",
        default=DEFAULT_CONTROL,
        metavar="ADDRESS",
        help=f"the server's control channel (default {DEFAULT_CONTROL})",
    )
