"""The clock that capture times are read from."""

from __future__ import annotations

import time
from typing import Final

# The plain wall clock ticks in up to 15 ms on Windows and may be set back in mid-stream.
_EPOCH_NS: Final = time.time_ns() - time.perf_counter_ns()


def now_ns() -> int:
    """Nanoseconds since 1970 at the start of this process, from there on by a steady clock."""
    return time.perf_counter_ns() + _EPOCH_NS
