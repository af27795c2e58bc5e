"""Loopback UDP sockets, and other people's programs at their other end."""

from __future__ import annotations

import queue
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

TIMEOUT_S = 30.0


@contextmanager
def receiver() -> Iterator[tuple[socket.socket, int]]:
    """A bound socket that gives up after a while, and its port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as bound:
        bound.bind(("127.0.0.1", 0))
        bound.settimeout(TIMEOUT_S)
        yield bound, bound.getsockname()[1]


def free_port() -> int:
    """A port that nobody held a moment ago, for a program that must be told one."""
    with receiver() as (_, port):
        return port


class Program:
    """A running program and the lines it prints."""

    def __init__(self, command: Sequence[str]) -> None:
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def line(self, timeout_s: float = TIMEOUT_S) -> str:
        """The next line; `queue.Empty` if none comes in time."""
        line = self._lines.get(timeout=timeout_s)
        if line is None:
            assert self._process.stderr is not None
            raise AssertionError(f"the program ended: {self._process.stderr.read()}")
        return line

    def end(self) -> None:
        """Stop it, if it has not ended by itself."""
        self._process.terminate()
        self._process.wait(TIMEOUT_S)
        self._reader.join(TIMEOUT_S)
        for stream in (self._process.stdout, self._process.stderr):
            assert stream is not None
            stream.close()


@contextmanager
def running(command: Sequence[str]) -> Iterator[Program]:
    """A program, ended afterwards."""
    program = Program(command)
    try:
        yield program
    finally:
        program.end()
