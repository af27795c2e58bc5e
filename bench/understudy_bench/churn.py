"""Performers and subscribers that come and leave: what do they leave behind?"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from understudy_bench.motion import EndlessMotion
from understudy_bench.processes import BenchError, ServerProcess
from understudy_bench.report import Meter
from understudy_client import Character, Performer
from understudy_protocol import decode_skeleton

_PATIENCE_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Churn:
    """How many came and left, and the server's open files and memory before and after."""

    count: int
    files_before: int
    files_after: int
    resident_before: int
    resident_after: int


def churn(
    server: ServerProcess, character: str, motion: EndlessMotion, count: int, meter: Meter
) -> Churn:
    """Let a guest performer and a subscriber come, be served and leave, `count` times."""
    skeleton = decode_skeleton(motion.announcement[1])
    files, resident = server.open_files(), server.resident_bytes()
    for _ in range(count):
        with (
            Performer("guest", skeleton, server.endpoints["input"]) as performer,
            Character(character, server.endpoints["output"]) as subscriber,
        ):
            performer.wait_ready(_PATIENCE_S)
            # The character's own performer is silent: its pose is repeated as a stale one.
            if subscriber.receive(_PATIENCE_S) is None:
                raise BenchError("a subscriber that came late was not served")
        meter.advance()
    deadline = time.monotonic() + _PATIENCE_S
    while server.open_files() > files and time.monotonic() < deadline:
        time.sleep(0.05)
    return Churn(count, files, server.open_files(), resident, server.resident_bytes())
