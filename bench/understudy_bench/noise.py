"""Whether the machine is quiet enough for its times to mean anything."""

from __future__ import annotations

import os
import time
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from understudy_bench.latencies import Nanoseconds
from understudy_bench.machine import CpuUse, Load, load_since

# Beyond these, equal runs differ by more than what is measured.
MAX_STEAL: Final = 0.01
MAX_LATE_P99_US: Final = 500.0
MAX_OTHERS: Final = 0.10


@dataclass(frozen=True, slots=True)
class Noise:
    """What disturbed a run.

    `steal` is the fraction of all cores the hypervisor took; `late_*` how late (us) a sleeping
    thread that does nothing else woke up: the sender itself, between the frames; `others` the
    fraction of all cores used by processes that are no part of the run.
    """

    steal: float
    late_p50_us: float
    late_p99_us: float
    late_max_us: float
    others: float

    @classmethod
    def measure(cls, late_ns: Nanoseconds, load: Load, own_share: float) -> Noise:
        """From the lateness of wake-ups and the load, of which the run itself made `own_share`."""
        late = late_ns if len(late_ns) else np.zeros(1, np.int64)
        p50, p99 = np.percentile(late, (50.0, 99.0)) * 1e-3
        others = max(0.0, load.busy - load.steal - own_share)
        return cls(load.steal, float(p50), float(p99), float(late.max()) * 1e-3, others)

    @property
    def reasons(self) -> list[str]:
        """Why the machine is too noisy for absolute times; empty if it is quiet."""
        found = []
        if self.steal > MAX_STEAL:
            found.append(f"{100 * self.steal:.1f} % of its cores were stolen")
        if self.late_p99_us > MAX_LATE_P99_US:
            found.append(f"an idle timer woke up {self.late_p99_us:.0f} us late (p99)")
        if self.others > MAX_OTHERS:
            found.append(f"other processes used {100 * self.others:.0f} % of its cores")
        return found

    @property
    def noisy(self) -> bool:
        """Whether absolute times cannot be judged."""
        return bool(self.reasons)

    def meta(self) -> dict[str, float | bool | dict[str, float]]:
        """For the `meta` of a report."""
        return {"steal": self.steal, "noisy": self.noisy, "noise": asdict(self)}

    def sentence(self) -> str:
        """For people."""
        if not self.noisy:
            return "the machine was quiet"
        return f"the machine was noisy: {'; '.join(self.reasons)}"


class NoiseWatch:
    """What disturbs this process and those it started, from here on."""

    def __init__(self) -> None:
        self._before = CpuUse.now()
        self._began_ns, self._cpu_ns = time.perf_counter_ns(), time.process_time_ns()
        self._children_s = 0.0

    def count(self, child_cpu_s: float) -> None:
        """Processor time that a process of the run has used: it is no disturbance."""
        self._children_s += child_cpu_s

    def noise(self, late_ns: Nanoseconds | None = None) -> Noise:
        """What disturbed it so far; `late_ns` are wake-ups of a thread that did nothing else."""
        own_s = (time.process_time_ns() - self._cpu_ns) * 1e-9 + self._children_s
        whole_s = max(1, time.perf_counter_ns() - self._began_ns) * 1e-9 * (os.cpu_count() or 1)
        late = np.zeros(0, np.int64) if late_ns is None else late_ns
        return Noise.measure(late, load_since(self._before), own_s / whole_s)
