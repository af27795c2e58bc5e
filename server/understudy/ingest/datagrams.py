"""What every source of frames that come as datagrams offers, and the times it gives them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple, Protocol

from understudy.ingest.frame_reader import RawFrame

Sender = tuple[str, int]
"""Host and port a datagram came from."""

# A clock sent as float32 counts in steps of a quarter of a millisecond up to here, and then coarser
# than arrivals jitter.
_FINE_S: Final = 2048.0
# Captured times this far from the arrivals belong to a clock that was set, or stood still.
_ASTRAY_NS: Final = 250_000_000
_LEAST_STEP_NS: Final = 1_000_000


class Reading(NamedTuple):
    """A frame, valid until the next one, and when the last of it arrived."""

    frame: RawFrame
    arrival_ns: int


class DatagramSource(Protocol):
    """A performer's datagrams in, its frames out; the stream they are for knows their skeleton.

    Times are nanoseconds on the server's clock, as are the frames' captured times.
    """

    refused: Counter[str]
    """Why datagrams, or parts of them, were left out."""

    @property
    def deadline_ns(self) -> int | None:
        """When `poll` is due; None while nothing waits."""

    def feed(self, data: bytes, sender: Sender, now_ns: int) -> Iterator[Reading]:
        """Take in a datagram; each frame it completes is valid until the next is asked for."""

    def poll(self, now_ns: int) -> Iterator[Reading]:
        """The frame whose deadline is over, if there is one."""

    def take_passed_on(self) -> list[bytes]:
        """Messages that go out with the characters this performer drives, as they came."""


class SenderClock:
    """Captured times: by the sender's clock while that is one, else by the arrivals."""

    def __init__(self) -> None:
        self._seconds: float | None = None
        self._capture_ns = 0

    def capture_ns(self, seconds: float | None, arrival_ns: int) -> int:
        """When a frame was captured, on the clock of `arrival_ns`; later than the one before.

        `seconds` is what the sender says; it may start anywhere, jump, or be no clock at all.
        """
        capture_ns = arrival_ns
        if seconds is not None and self._seconds is not None and seconds < _FINE_S:
            stepped = self._capture_ns + round((seconds - self._seconds) * 1e9)
            if seconds > self._seconds and abs(stepped - arrival_ns) < _ASTRAY_NS:
                capture_ns = stepped
        self._seconds = seconds
        self._capture_ns = max(capture_ns, self._capture_ns + _LEAST_STEP_NS)
        return self._capture_ns
