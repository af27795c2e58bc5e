"""The processes a bench measures: a real server and a bare echo, started and ended cleanly."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import psutil

from understudy.errors import UnderstudyError

ECHO: Final = (sys.executable, "-m", "understudy_bench.echo")
UDP_ECHO: Final = (sys.executable, "-m", "understudy_bench.udp_echo")
SERVE: Final = (sys.executable, "-m", "understudy", "serve")

# A first start compiles every kernel.
_START_S: Final = 180.0
_STOP_S: Final = 10.0


class BenchError(UnderstudyError):
    """A run that could not be made: one line for the user."""


class Process:
    """A child that says in one line of JSON where it is bound; `with` ends it.

    `udp` has HOST:PORT of every performer who speaks VMC, by name.
    """

    def __init__(self, what: str, command: Sequence[str]) -> None:
        self._what = what
        self._command = list(command)
        self._child: subprocess.Popen[str] | None = None
        self._complaints: list[str] = []
        self.endpoints: Mapping[str, str] = {}
        self.udp: Mapping[str, str] = {}

    def __enter__(self) -> Self:
        child = self._child = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        listener = threading.Thread(target=self._listen, args=(child,), daemon=True)
        listener.start()
        patience = threading.Timer(_START_S, child.kill)
        patience.start()
        try:
            assert child.stdout is not None
            ready = self._understand(child.stdout.readline())
        finally:
            patience.cancel()
        if not ready.get("ready"):
            self.__exit__(None, None, None)
            listener.join()
            last = self._complaints[-1].strip() if self._complaints else "it said nothing"
            raise BenchError(f"the {self._what} did not start: {last}")
        self.endpoints = {k: v for k, v in ready.items() if isinstance(v, str)}
        self.udp = ready.get("udp", {})
        self._counters = psutil.Process(child.pid)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        child = self._child
        if child is None:
            return
        assert child.stdin is not None
        child.stdin.close()
        child.terminate()
        try:
            child.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        assert child.stdout is not None
        child.stdout.close()

    @property
    def pid(self) -> int:
        """The system's number for it."""
        assert self._child is not None
        return self._child.pid

    def cpu_s(self) -> float:
        """Seconds of processor time it has used, all threads."""
        times = self._counters.cpu_times()
        return float(times.user + times.system)

    def resident_bytes(self) -> int:
        """Memory it holds in RAM."""
        return int(self._counters.memory_info().rss)

    def open_files(self) -> int:
        """Open file handles: sockets, pipes and files."""
        if sys.platform == "win32":
            return int(self._counters.num_handles())
        return int(self._counters.num_fds())

    def _understand(self, line: str) -> Mapping[str, Any]:
        """What its one line says; nothing if it ended without a word."""
        told: Mapping[str, Any] = json.loads(line or "{}")
        return told

    def _listen(self, child: subprocess.Popen[str]) -> None:
        """Keep the last words on standard error, so that the pipe never fills.

        What a start waits for is passed on: it can take a minute.
        """
        assert child.stderr is not None
        with child.stderr as stream:
            for line in stream:
                if line.startswith("compiling"):
                    print(f"{self._what}: {line.strip()}", file=sys.stderr, flush=True)
                del self._complaints[:-19]
                self._complaints.append(line)


def echo_process() -> Process:
    """A bare echo."""
    return Process("echo", ECHO)


def udp_echo_process(target: str, performers: Sequence[str]) -> Process:
    """A bare echo of every performer's datagrams to `target`, HOST:PORT."""
    return Process("echo", [*UDP_ECHO, target, *performers])


class ServerProcess(Process):
    """`understudy serve` with a show of these sessions, on free ports of this machine.

    `command` is what the show file is appended to.
    """

    def __init__(
        self, sessions: Sequence[Mapping[str, Any]], command: Sequence[str] = SERVE
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="understudy-bench-")
        show = Path(self._folder.name) / "show.toml"
        show.write_text(show_text(sessions), encoding="utf-8")
        super().__init__("server", [*command, str(show), "--json"])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, trace)
        self._folder.cleanup()


def show_text(sessions: Sequence[Mapping[str, Any]]) -> str:
    """A show file; keys and values of a session as in the file, but for two.

    `rig` is the character's body; `vmc_to` is where its poses go over VMC, HOST:PORT, and then its
    performer speaks VMC too, at a free port.
    """
    lines = ["[server]"]
    lines += [f'{key} = "tcp://127.0.0.1:*"' for key in ("input", "output", "control")]
    performers = dict.fromkeys(each["performer"] for each in sessions if "vmc_to" in each)
    for performer in performers:
        lines += ["", f"[performers.{performer}]", 'vmc = "127.0.0.1:*"']
    for session in sessions:
        character = [f'rig = "{session["rig"]}"'] if "rig" in session else []
        if "vmc_to" in session:
            character.append(f'vmc = [{{ to = "{session["vmc_to"]}" }}]')
        if character:
            lines += ["", f"[characters.{session['character']}]", *character]
    for session in sessions:
        keys = {key: value for key, value in session.items() if key not in ("rig", "vmc_to")}
        lines += ["", "[[session]]", *(f"{key} = {json.dumps(keys[key])}" for key in keys)]
    return "\n".join(lines) + "\n"
