"""Processes kept on one core, and this one on the others, where the system can."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import psutil

from understudy_bench.processes import Process


def can_pin() -> bool:
    """Whether this system keeps a process on one core."""
    return sys.platform != "darwin" and (psutil.cpu_count() or 1) > 1


def pin(process: Process) -> None:
    """Keep a process on the last core, every thread of it."""
    if can_pin():
        _keep(process.pid, [(psutil.cpu_count() or 1) - 1])


@contextmanager
def out_of_the_way() -> Iterator[None]:
    """Keep this process off the last core while the block lasts."""
    if not can_pin():
        yield
        return
    cores = list(range(psutil.cpu_count() or 1))
    _keep(os.getpid(), cores[:-1])
    try:
        yield
    finally:
        _keep(os.getpid(), cores)


def _keep(pid: int, cores: Sequence[int]) -> None:
    process = psutil.Process(pid)
    if sys.platform == "linux":
        # There an affinity is a thread's own; one that is started later inherits it.
        for thread in process.threads():
            with suppress(ProcessLookupError):  # it has ended since
                os.sched_setaffinity(thread.id, cores)
    else:
        process.cpu_affinity(cores)
