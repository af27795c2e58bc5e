"""Environments for the peers, made once and kept in the user's cache, and their processes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import psutil

from understudy_bench.processes import BenchError

# placo is built against another Pinocchio than pink, so they cannot share an environment.
_WITH_MINK: Final = (
    "mink==1.3.0", "daqp==0.10.3", "qpsolvers==4.13.0", "mujoco==4.0.0", "pin-pink==4.4.0",
    "pin==4.1.0", "filterpy==2.0.0", "scipy", "numpy",
)  # fmt: skip
_WITH_PLACO: Final = ("placo==0.10.2", "pin==3.8.0", "numpy")

PEERS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "mink": ("mink", _WITH_MINK),
    "pink": ("mink", _WITH_MINK),
    "placo": ("placo", _WITH_PLACO),
    "pinocchio": ("mink", _WITH_MINK),
    "mujoco": ("mink", _WITH_MINK),
    "filterpy": ("mink", _WITH_MINK),
}
"""Peer -> its environment and what that holds."""

_ONE_THREAD: Final = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def cache_folder() -> Path:
    """Where environments are kept: the user's cache, or UNDERSTUDY_CACHE."""
    named = os.environ.get("UNDERSTUDY_CACHE")
    if named:
        return Path(named)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "understudy"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "understudy"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "understudy"


def python_of(peer: str) -> Path:
    """The interpreter of a peer's environment, which is made if it is not there yet."""
    name, packages = PEERS[peer]
    folder = cache_folder() / f"peers-{name}-{sys.version_info[0]}.{sys.version_info[1]}"
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = folder / "installed.txt"
    wanted = "\n".join(packages)
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return python
    print(f"installing {', '.join(packages)}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    installed = subprocess.run(
        [str(python), "-m", "pip", "install", "--quiet", *packages],
        capture_output=True,
        text=True,
        check=False,
    )
    if installed.returncode:
        last = (installed.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise BenchError(f"peer {peer!r} could not be installed: {last}")
    done.write_text(wanted, encoding="utf-8")
    return python


class PeerProcess:
    """One peer at work on the task in `folder`; orders are answered one by one."""

    def __init__(self, peer: str, folder: Path) -> None:
        self.peer = peer
        self.versions: Mapping[str, str] = {}
        self.limits = False
        worker = Path(__file__).with_name("worker.py")
        self._child = subprocess.Popen(
            [str(python_of(peer)), str(worker), str(folder), peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
            env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
        )

    def __enter__(self) -> Self:
        ready = self._answer()
        self.versions, self.limits = ready["versions"], ready["limits"]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        self._child.stdout.close()
        self._child.terminate()
        self._child.wait()

    def cpu_s(self) -> float:
        """Seconds of processor time it has used."""
        times = psutil.Process(self._child.pid).cpu_times()
        return float(times.user + times.system)

    def order(self, op: str, **fields: int) -> dict[str, float]:
        """Have it do something and wait for the figures."""
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps({"op": op, **fields}) + "\n")
        self._child.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:  # Any: what JSON carries
        assert self._child.stdout is not None
        line = self._child.stdout.readline()
        if not line:
            raise BenchError(f"peer {self.peer!r} ended unexpectedly")
        answer: dict[str, Any] = json.loads(line)
        return answer
