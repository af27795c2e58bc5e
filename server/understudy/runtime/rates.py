"""Frames and poses a second, and complaints about bad frames, both looked at once a second."""

from __future__ import annotations

import logging
from collections import Counter

from understudy.runtime.intake import Intake
from understudy.runtime.show import Show

_log = logging.getLogger(__name__)

# Counted, but nothing to complain about.
_HARMLESS = ("accepted", "skeleton-changes", "no-skeleton", "no-body")


class Rates:
    """Compares counters with their last values; `look` is called about once a second."""

    def __init__(self, show: Show, intake: Intake) -> None:
        self._show = show
        self._intake = intake
        self._looked_ns = 0
        self._performers: dict[str, float] = {}
        self._characters: dict[str, float] = {}
        self._last: dict[str, int] = {}
        self._complained: Counter[str] = Counter()

    def performer(self, name: str) -> float:
        """Accepted frames a second."""
        return self._performers.get(name, 0.0)

    def character(self, name: str) -> float:
        """Published poses a second."""
        return self._characters.get(name, 0.0)

    def look(self, at_ns: int) -> None:
        """Bring rates up to date and log, in one line each, what was refused since last time."""
        span_s = (at_ns - self._looked_ns) * 1e-9
        self._looked_ns = at_ns
        last: dict[str, int] = {}
        for performer in self._show.performers.values():
            counts = Counter(dict(performer.stream.counts))
            counts.update(performer.refused)
            key = f"performer {performer.name!r}"
            self._performers[performer.name] = self._rate(key, counts["accepted"], span_s, last)
            self._complain(key, counts)
        for session in self._show.sessions.values():
            name = session.character.name
            self._characters[name] = self._rate(
                f"character {name!r}", session.times.count, span_s, last
            )
        self._last = last
        self._complain("uplink", Counter(dict(self._intake.refused)))

    def _rate(self, key: str, count: int, span_s: float, last: dict[str, int]) -> float:
        last[key] = count
        return max(0.0, (count - self._last.get(key, count)) / span_s)

    def _complain(self, who: str, counts: Counter[str]) -> None:
        news = []
        for reason, count in counts.items():
            key = f"{who} {reason}"
            more = count - self._complained[key]
            if more > 0 and reason not in _HARMLESS:
                news.append(f"{reason} {more}")
            self._complained[key] = count
        if news:
            _log.warning("%s: %s", who, ", ".join(news))
