"""What a figure was measured on: commit, versions, processor, and how busy the machine was."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import psutil
import zmq

_PACKAGES: Final = ("understudy", "numpy", "numba", "llvmlite", "pyzmq", "msgpack", "scipy")


def describe_machine() -> dict[str, Any]:  # Any: what JSON carries
    """The fixed part of a report's `meta`."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "versions": {
            "python": platform.python_version(),
            "libzmq": zmq.zmq_version(),
            **{name: found for name in _PACKAGES if (found := _version(name)) is not None},
        },
        "platform": platform.platform(),
        "cpu": _cpu_name(),
        "cores": os.cpu_count(),
        "python": sys.version.split("\n")[0],
    }


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Core-seconds since the system started, over all cores."""

    total_s: float
    idle_s: float
    stolen_s: float

    @classmethod
    def now(cls) -> CpuUse:
        """Read the counters."""
        times = psutil.cpu_times()
        stolen = float(getattr(times, "steal", 0.0))  # only Linux tells
        idle = float(times.idle) + float(getattr(times, "iowait", 0.0))
        named = (times.user, times.system, *(getattr(times, n, 0.0) for n in ("nice", "irq")))
        return cls(float(sum(named)) + idle + stolen, idle, stolen)


@dataclass(frozen=True, slots=True)
class Load:
    """How a span of time was shared out: fractions of all cores."""

    busy: float
    steal: float


def load_since(before: CpuUse) -> Load:
    """What the cores did since `before`."""
    now = CpuUse.now()
    total = max(now.total_s - before.total_s, 1e-9)
    idle = (now.idle_s - before.idle_s) / total
    return Load(
        busy=min(1.0, max(0.0, 1.0 - idle)),
        steal=max(0.0, (now.stolen_s - before.stolen_s) / total),
    )


def _commit() -> str | None:
    """The commit of the source tree, with a + where it was changed; None outside of one."""
    folder = Path(__file__).resolve().parent
    try:
        git = ["git", "-C", str(folder)]
        name = subprocess.run(
            [*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip()
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--untracked-files=no"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return name + ("+" if changed else "")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
