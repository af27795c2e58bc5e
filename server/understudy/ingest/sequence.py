"""The gate that puts a performer's frames into one order, whatever the network did to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from understudy.ingest.source import FrameRejected

# After this silence any frame is a new beginning: of a performer that counts from the start again
# without drawing a new run, or of the older of two that used one name.
TAKEOVER_NS: Final = 1_000_000_000
# A frame's step in time: below, two captures are one instant; above, the gap is bridged.
MIN_DT_S: Final = 1e-3
MAX_DT_S: Final = 0.1
# Captured time that runs backwards, or ahead of the arrivals by more than this, was set anew.
CLOCK_TOLERANCE_S: Final = 1.0
FIRST_DT_S: Final = 1.0 / 60.0


@dataclass(slots=True)
class Step:
    """How an accepted frame follows the one before it; `dt` is in seconds."""

    dt: float = FIRST_DT_S
    lost: int = 0
    restarted: bool = False
    clock_jumped: bool = False


class SequenceGate:
    """Decides frame by frame: `check` raises FrameRejected, `commit` makes the frame the newest.

    `typical_dt` is the performer's usual step in seconds.
    """

    def __init__(self) -> None:
        self.typical_dt = FIRST_DT_S
        self._started = False
        self._run = 0
        self._replaced_run = -1
        self._seq = 0
        self._capture_ns = 0
        self._arrival_ns = 0
        self._step = Step()

    def check(self, run: int, seq: int, arrival_ns: int) -> None:
        """Refuse a frame that came before, came late, or is of the run that was replaced last."""
        if run == self._run and seq > self._seq:
            return  # as nearly every frame
        if not self._started or arrival_ns - self._arrival_ns > TAKEOVER_NS:
            return
        if run == self._replaced_run:
            raise FrameRejected("late", f"run {run} was replaced by run {self._run}")
        if run == self._run:
            if seq == self._seq:
                raise FrameRejected("duplicate", f"frame {seq} came before")
            raise FrameRejected("late", f"frame {seq} came after frame {self._seq}")

    def commit(self, run: int, seq: int, capture_ns: int, arrival_ns: int) -> Step:
        """Take a frame that `check` let pass; how it follows the last (valid until the next)."""
        step = self._step
        step.lost = 0
        step.clock_jumped = False
        step.restarted = self._started and (run != self._run or seq <= self._seq)
        if not self._started or step.restarted:
            step.dt = self.typical_dt
            if run != self._run and self._started:
                self._replaced_run = self._run
        else:
            step.lost = seq - self._seq - 1
            self._step_time(capture_ns, arrival_ns)
        self._started = True
        self._run = run
        self._seq = seq
        self._capture_ns = capture_ns
        self._arrival_ns = arrival_ns
        return step

    def _step_time(self, capture_ns: int, arrival_ns: int) -> None:
        step = self._step
        captured = (capture_ns - self._capture_ns) * 1e-9
        arrived = (arrival_ns - self._arrival_ns) * 1e-9
        step.clock_jumped = captured < 0.0 or captured - arrived > CLOCK_TOLERANCE_S
        if step.clock_jumped:
            step.dt = self.typical_dt
            return
        step.dt = min(max(captured, MIN_DT_S), MAX_DT_S)
        if step.lost == 0 and captured <= MAX_DT_S:
            self.typical_dt += 0.05 * (step.dt - self.typical_dt)
