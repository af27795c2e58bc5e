"""Many performers at once, each at its own moment of the period, and who is answered in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import zmq

from understudy_bench.latencies import Latencies, Nanoseconds
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import no_collections, now_ns, sleep_until
from understudy_bench.processes import BenchError, Process
from understudy_client.clock import now_ns as wall_clock_ns
from understudy_protocol.wire import Fields

RATE_HZ: Final = 120.0
_PERIOD_NS: Final = 1e9 / RATE_HZ
_PATIENCE_S: Final = 30.0
_DRAIN_S: Final = 1.0
# Both ways, so that the bench's own sockets never drop what a busy process still answers.
_QUEUE: Final = 100_000


@dataclass(frozen=True, slots=True)
class Trial:
    """One run: `late` is the share of answers after the next frame was due, or never.

    `cpu_us` is the process's time per answer; `sender_late_us` how late the sender itself was
    (p99): when that is near the period, the bench is the bottleneck, not what it measures.
    """

    what: str
    characters: int
    late: float
    p50_us: float
    p99_us: float
    cpu_us: float
    sender_late_us: float


class Crowd:
    """Performers that send the same motion to one process, and the answers to each of them.

    `answers` names, for each performer, the topics on which its answers come; frames are numbered
    from `first_seq`, so that one process can be asked again.
    """

    def __init__(
        self,
        what: str,
        process: Process,
        motions: Sequence[EndlessMotion],
        answers: Sequence[Sequence[bytes]],
        seq_field: str,
        first_seq: int = 0,
    ) -> None:
        self._what = what
        self._process = process
        self._motions = motions
        self._seq_field = seq_field
        self._first_seq = self.next_seq = first_seq
        self._rows = {topic: row for row, topic in enumerate(t for ts in answers for t in ts)}
        self._performer_of = [i for i, topics in enumerate(answers) for _ in topics]
        self._received = np.zeros((0, 0), np.int64)
        self._heard: set[int] = set()

    def run(self, frames: int) -> Trial:
        """Warm up, then send `frames` frames of every performer."""
        context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        up, down = context.socket(zmq.XPUB), context.socket(zmq.SUB)
        for socket in (up, down):
            socket.setsockopt(zmq.LINGER, 0)
        up.setsockopt(zmq.SNDHWM, _QUEUE)
        down.setsockopt(zmq.RCVHWM, _QUEUE)
        down.setsockopt(zmq.RCVTIMEO, 100)
        up.setsockopt(zmq.RCVTIMEO, int(_PATIENCE_S * 1e3))
        down.setsockopt(zmq.SUBSCRIBE, b"")
        down.connect(self._process.endpoints["output"])
        up.connect(self._process.endpoints["input"])
        stop = threading.Event()
        warm = round(RATE_HZ)
        self._received = np.zeros((len(self._rows), 4 * warm + frames), np.int64)
        reader = threading.Thread(target=self._read, args=(down, stop), daemon=True)
        try:
            up.recv()  # the process listens
            reader.start()
            for motion in self._motions:
                up.send_multipart(motion.announcement)
            with no_collections():
                self._warm_up(up, warm)
                measured = self.next_seq - self._first_seq
                cpu_before = self._process.cpu_s()
                due, sent = self._send(up, frames)
                cpu_s = self._process.cpu_s() - cpu_before
                self._drain(slice(measured, measured + frames))
        finally:
            stop.set()
            if reader.is_alive():
                reader.join()
            up.close()
            down.close()
            context.term()
        return self._trial(self._received[:, measured : measured + frames], due, sent, cpu_s)

    def _warm_up(self, up: zmq.Socket[bytes], frames: int) -> None:
        """Send until everyone was answered."""
        deadline = time.monotonic() + _PATIENCE_S
        step = frames // 4
        last = self._first_seq + 4 * frames
        while len(self._heard) < len(self._rows):
            if time.monotonic() > deadline or self.next_seq + step > last:
                missing = len(self._rows) - len(self._heard)
                raise BenchError(f"{missing} of {len(self._rows)} characters were never answered")
            self._send(up, step)

    def _send(self, up: zmq.Socket[bytes], frames: int) -> tuple[Nanoseconds, Nanoseconds]:
        """Send frames at their times, performers spread over the period; due and sent (ns)."""
        count = len(self._motions)
        due = np.zeros((count, frames), np.int64)
        sent = np.zeros((count, frames), np.int64)
        start = now_ns() + 20_000_000
        wall = wall_clock_ns() - now_ns()
        for offset in range(frames):
            frame_ns = start + int(offset * _PERIOD_NS)
            body = self._motions[0].body(self.next_seq, frame_ns + wall)
            self.next_seq += 1
            for i, motion in enumerate(self._motions):
                due_ns = frame_ns + int(i / count * _PERIOD_NS)
                sleep_until(due_ns)
                due[i, offset] = due_ns
                sent[i, offset] = now_ns()
                up.send_multipart((motion.frame_topic, body))
        return due, sent

    def _read(self, down: zmq.Socket[bytes], stop: threading.Event) -> None:
        while not stop.is_set():
            try:
                parts = down.recv_multipart()
            except zmq.Again:
                continue
            at_ns = now_ns()
            row = self._rows.get(parts[0])
            if row is None:
                continue
            seq = Fields.read("answer", parts[1]).integer(self._seq_field, 0, 1 << 62)
            column = seq - self._first_seq
            if not 0 <= column < self._received.shape[1]:
                continue
            if self._received[row, column] == 0:
                self._received[row, column] = at_ns
            self._heard.add(row)

    def _drain(self, columns: slice) -> None:
        deadline = time.monotonic() + _DRAIN_S
        while not self._received[:, columns].all() and time.monotonic() < deadline:
            time.sleep(0.01)

    def _trial(
        self, received: Nanoseconds, due: Nanoseconds, sent: Nanoseconds, cpu_s: float
    ) -> Trial:
        waited = received - due[self._performer_of]
        answered = received != 0
        in_time = answered & (waited <= _PERIOD_NS)
        latencies = Latencies.of(waited[answered])
        return Trial(
            what=self._what,
            characters=len(self._rows),
            late=1.0 - float(np.mean(in_time)),
            p50_us=latencies.p50_us,
            p99_us=latencies.p99_us,
            cpu_us=1e6 * cpu_s / received.size,
            sender_late_us=float(np.percentile(sent - due, 99.0)) * 1e-3,
        )
