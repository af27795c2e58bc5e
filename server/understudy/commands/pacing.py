"""Frames in real time: absolute deadlines, so that lateness does not add up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import count


class Metronome:
    """Beats at `rate_hz`; `late` counts the beats that came more than a period too late."""

    def __init__(self, rate_hz: float) -> None:
        self.late = 0
        self._rate_hz = rate_hz

    def beats(self) -> Iterator[int]:
        """0, 1, 2, ... each when it is time for it."""
        start = time.perf_counter()
        for beat in count():
            wait = start + beat / self._rate_hz - time.perf_counter()
            if wait > 0.0:
                time.sleep(wait)
            elif -wait * self._rate_hz > 1.0:
                self.late += 1
            yield beat
