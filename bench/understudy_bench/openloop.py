"""Frames at fixed times, whatever comes back: latency counts from when a frame was due.

A sender that waits for an answer, or starts late and counts from then, leaves out just the frames
that fared worst. Here the schedule is fixed beforehand and nothing shifts it.
"""

from __future__ import annotations

import gc
import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Final, Self

import numpy as np

from understudy_bench.latencies import Nanoseconds
from understudy_bench.motion import Motion
from understudy_bench.processes import BenchError
from understudy_bench.ways import Way
from understudy_client.clock import now_ns as wall_clock_ns

_DRAIN_S: Final = 1.0
# Before a block begins; shorter than the silence after which a performer is taken for gone.
_LEAD_NS: Final = 50_000_000

now_ns = time.perf_counter_ns


class Link:
    """The way to one process and back: frames go up, a thread notes when each is answered.

    Moments (ns, performance counter) are kept per frame number in arrays of `capacity`, 0 where
    there is none: `due_ns`, `sent_ns`, `received_ns`; `arrival_ns` and `publish_ns` as the server
    tells them.
    """

    def __init__(self, name: str, way: Way, capacity: int) -> None:
        self.name = name
        self.due_ns, self.sent_ns, self.received_ns, self.arrival_ns, self.publish_ns = (
            np.zeros(capacity, np.int64) for _ in range(5)
        )
        self.answered = threading.Event()
        self._way = way
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._receive, name=f"from {name}", daemon=True)

    def __enter__(self) -> Self:
        self._way.open()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        self._way.close()

    def send(self, seq: int, due_ns: int, parts: Sequence[bytes]) -> None:
        """Send frame `seq` now."""
        self.due_ns[seq] = due_ns
        self.sent_ns[seq] = now_ns()
        self._way.send(parts)

    def lost(self, seqs: slice) -> int:
        """How many of these frames were never answered."""
        return int(np.sum(self.received_ns[seqs] == 0))

    def latencies_ns(self, seqs: slice) -> Nanoseconds:
        """From when each frame was due to its answer; unanswered frames have none."""
        return self._until_received(self.due_ns, seqs)

    def from_send_ns(self, seqs: slice) -> Nanoseconds:
        """From when each frame was handed to the socket to its answer."""
        return self._until_received(self.sent_ns, seqs)

    def _until_received(self, since_ns: Nanoseconds, seqs: slice) -> Nanoseconds:
        answered = self.received_ns[seqs] != 0
        spans: Nanoseconds = (self.received_ns[seqs] - since_ns[seqs])[answered]
        return spans

    def _receive(self) -> None:
        while not self._stopping.is_set():
            parts = self._way.receive()
            if parts is None:
                continue
            at_ns = now_ns()
            receipt = self._way.read(parts)
            if receipt is None or receipt.seq >= len(self.received_ns):
                continue
            # A performer's last pose is repeated while it is silent: the first answer counts.
            if self.received_ns[receipt.seq] == 0:
                self.received_ns[receipt.seq] = at_ns
                self.arrival_ns[receipt.seq] = receipt.arrival_ns
                self.publish_ns[receipt.seq] = receipt.publish_ns
            self.answered.set()


class OpenLoop:
    """Sends the same frames to every link in turn, each a fraction of a period after the other.

    Which link comes first is drawn anew for every block, so that none profits from what the other
    leaves in the caches.
    """

    def __init__(
        self,
        links: Sequence[Link],
        motion: Motion,
        rate_hz: float,
        *,
        seed: int = 1,
        first_seq: int = 0,
    ) -> None:
        self._links = list(links)
        self._motion = motion
        self._period_ns = 1e9 / rate_hz
        self._random = random.Random(seed)
        self._wall_minus_counter_ns = wall_clock_ns() - now_ns()
        self.next_seq = first_seq

    def warm_up(self, frames: int, patience_s: float = 30.0) -> None:
        """Send blocks until every link answers, then one more."""
        deadline = time.monotonic() + patience_s
        while not all(link.answered.is_set() for link in self._links):
            if time.monotonic() > deadline:
                silent = ", ".join(x.name for x in self._links if not x.answered.is_set())
                raise BenchError(f"no answer to any frame from: {silent}")
            self.block(max(1, frames // 8))
        self.block(frames)

    def block(self, frames: int) -> slice:
        """Send `frames` frames at their times; their numbers."""
        links = self._random.sample(self._links, len(self._links))
        phases = [place / len(links) * self._period_ns for place in range(len(links))]
        first = self.next_seq
        start = now_ns() + _LEAD_NS
        for offset in range(frames):
            seq = first + offset
            frame_ns = start + int(offset * self._period_ns)
            parts = self._motion.parts(seq, frame_ns + self._wall_minus_counter_ns)
            for link, phase in zip(links, phases, strict=True):
                due_ns = frame_ns + int(phase)
                sleep_until(due_ns)
                link.send(seq, due_ns, parts)
        self.next_seq = first + frames
        return slice(first, self.next_seq)

    def drain(self, seqs: slice) -> None:
        """Wait for late answers, a second at most."""
        deadline = time.monotonic() + _DRAIN_S
        while any(link.lost(seqs) for link in self._links) and time.monotonic() < deadline:
            time.sleep(0.01)


def sleep_until(due_ns: int) -> None:
    """Sleep to an absolute moment of the performance counter; at once if it has passed."""
    left_ns = due_ns - now_ns()
    if left_ns > 0:
        time.sleep(left_ns * 1e-9)


@contextmanager
def no_collections() -> Iterator[None]:
    """Keep the garbage collector of this process out of what is measured."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
