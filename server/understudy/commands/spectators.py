"""Threads that each watch one character, and the table they fill."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, Self

from understudy.commands.meters import Reading, StreamMeter
from understudy.commands.terminal import Cell, Column
from understudy_client import Character, now_ns
from understudy_protocol import PoseMessage

# How long a spectator may take to notice that it should go.
_LOOK_S: Final = 0.2

COLUMNS: Final = (
    Column("character"),
    Column("rate", "Hz"),
    Column("latency p50", "ms"),
    Column("p99", "ms"),
    Column("error mean", "mm"),
    Column("max", "mm"),
    Column("lost", "poses"),
    Column("status"),
)


class Spectators:
    """Watches characters, each in a thread of its own, so that one does not delay another.

    `since_ns` tells from which moment on a pose's latency counts, on this process's clock.
    """

    def __init__(
        self, names: Sequence[str], address: str, since_ns: Callable[[PoseMessage], int]
    ) -> None:
        self._address = address
        self._since_ns = since_ns
        self._meters = {name: StreamMeter(name) for name in names}
        self._lock = threading.Lock()
        self._leaving = threading.Event()
        self._first_pose = threading.Event()
        self._threads = [
            threading.Thread(target=self._watch, args=(name,), name=f"watch {name}", daemon=True)
            for name in names
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving.set()
        for thread in self._threads:
            thread.join()

    def wait_for_pose(self, timeout: float) -> bool:
        """Whether a pose of any of them has come, within `timeout` seconds."""
        return self._first_pose.wait(timeout)

    def readings(self) -> list[Reading]:
        """How each stream is doing now."""
        at_ns = now_ns()
        with self._lock:
            return [meter.read(at_ns) for meter in self._meters.values()]

    def _watch(self, name: str) -> None:
        meter = self._meters[name]
        with Character(name, self._address) as character:
            while not self._leaving.is_set():
                pose = character.receive(_LOOK_S)
                if pose is None:
                    continue
                received_ns = now_ns()
                with self._lock:
                    meter.record(pose, received_ns, received_ns - self._since_ns(pose))
                self._first_pose.set()


def row(reading: Reading) -> list[Cell]:
    """A stream's line in the table of COLUMNS."""
    return [
        reading.character,
        f"{reading.rate_hz:.1f}",
        _number(reading.latency_p50_ms),
        _number(reading.latency_p99_ms),
        _number(reading.error_mean_mm),
        _number(reading.error_max_mm),
        str(reading.lost),
        "silent" if not reading.rate_hz else ", ".join(reading.status) or "ok",
    ]


def json_line(readings: Sequence[Reading]) -> str:
    """All streams in one line of JSON."""
    return json.dumps({"characters": [reading.to_json() for reading in readings]})


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
