"""Frames as fast as they go, and what they leave behind in memory."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

import numpy as np
import psutil
import zmq

from understudy.characters import load_body
from understudy.config import PerformerConfig, SessionConfig
from understudy.runtime.character import Character
from understudy.runtime.intake import Intake
from understudy.runtime.performer import Performer
from understudy.runtime.pipeline import build_pipeline
from understudy.runtime.session import Session
from understudy.transport import PoseOutput
from understudy_bench.motion import EndlessMotion
from understudy_bench.openloop import now_ns
from understudy_bench.processes import BenchError, ServerProcess
from understudy_bench.report import Meter
from understudy_bench.sidebyside import PERFORMER
from understudy_bench.ways import read_pose
from understudy_client.sockets import connect_character, connect_performer

# Frames on their way at any time: enough to keep a server busy, too few to overflow a client's
# queue of 64, in which libzmq may count forty that have left it already.
IN_FLIGHT: Final = 16
_PERIOD_NS: Final = 8_333_333
_STEPS: Final = 20
_PATIENCE_MS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Soaked:
    """What a long run left behind.

    `resident_bytes` and `p50_us` are series over the run; `grown_bytes` counts from the first
    reading, when things had settled; `blocks_per_frame` are memory blocks that survived a frame.
    """

    frames: int
    frames_per_s: float
    resident_bytes: tuple[int, ...]
    p50_us: tuple[float, ...]
    blocks_per_frame: float
    lost: int

    @property
    def grown_bytes(self) -> int:
        """How much more memory is resident at the end than when things had settled."""
        return self.resident_bytes[-1] - self.resident_bytes[0]

    @property
    def drift(self) -> float:
        """How much slower the last quarter was than the first: median / median."""
        return drift(self.p50_us)


def drift(p50_us: Sequence[float]) -> float:
    """The median of the last quarter of readings / that of the first."""
    quarter = max(1, len(p50_us) // 4)
    return float(np.median(p50_us[-quarter:]) / max(np.median(p50_us[:quarter]), 1e-9))


def soak_pipeline(
    solver: str, motion: EndlessMotion, frames: int, settled: int, meter: Meter
) -> Soaked:
    """Take frames from bytes to bytes in this process, to a socket that nobody listens to."""
    own = psutil.Process()
    with closing(PoseOutput("tcp://127.0.0.1:*")) as output:
        intake = _intake(solver, output, motion)
        step = max(1, (frames - settled) // _STEPS)
        # Readings go into arrays made beforehand: a list of them would count as allocated blocks.
        readings = max(0, -(-(frames - settled) // step))
        resident = np.zeros(1 + readings, np.int64)
        p50_us = np.zeros(readings)
        # In use from the first reading on, and so is the room that a median of them needs.
        taken = np.ones(step, np.int64)
        np.median(taken)
        began = time.perf_counter()
        seq = _handle(intake, motion, 0, min(settled, frames), taken, meter)
        gc.collect()
        blocks = sys.getallocatedblocks()
        resident[0] = own.memory_info().rss
        for reading in range(readings):
            sent = min(step, frames - seq)
            seq = _handle(intake, motion, seq, sent, taken, meter)
            p50_us[reading] = np.median(taken[:sent]) * 1e-3
            resident[reading + 1] = own.memory_info().rss
        seconds = time.perf_counter() - began
        gc.collect()
        kept = sys.getallocatedblocks() - blocks
    counted = max(1, frames - settled)
    return Soaked(
        frames,
        frames / seconds,
        tuple(resident.tolist()),
        tuple(p50_us.tolist()) or (0.0,),
        max(0.0, kept / counted),
        0,
    )


def _intake(solver: str, output: PoseOutput, motion: EndlessMotion) -> Intake:
    """The receiving thread's work without its thread: one performer driving one character."""
    body = load_body("short-legs")
    session = Session(
        SessionConfig(PERFORMER, "short-legs", solver),
        PerformerConfig(PERFORMER),
        Character("short-legs", body),
        output,
    )
    performer = Performer(PerformerConfig(PERFORMER))
    performer.set_sessions((session,))

    def adopt(performer: Performer) -> None:
        stream = performer.stream
        assert stream.skeleton is not None
        pipeline = build_pipeline(
            stream.skeleton, stream.skeleton_id, body.skeleton, solver, {}, 0.3
        )
        session.adopt(pipeline)

    intake = Intake(lambda name: performer, lambda name: session, adopt, output.send)
    intake.handle((list(motion.announcement), now_ns()))
    return intake


def _handle(
    intake: Intake,
    motion: EndlessMotion,
    first: int,
    frames: int,
    taken: np.ndarray[tuple[int], np.dtype[np.int64]],
    meter: Meter,
) -> int:
    """Handle frames one after the other; the number of the next one."""
    for offset in range(frames):
        seq = first + offset
        parts = [motion.frame_topic, motion.body(seq, seq * _PERIOD_NS)]
        begin = now_ns()
        intake.handle((parts, begin))
        taken[offset % len(taken)] = now_ns() - begin
    meter.advance(frames)
    return first + frames


def soak_server(
    server: ServerProcess,
    character: str,
    motion: EndlessMotion,
    frames: int,
    settled: int,
    meter: Meter,
) -> Soaked:
    """Send frames to a server as fast as it answers them."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    with context:
        up, down = context.socket(zmq.XPUB), context.socket(zmq.SUB)
        for socket in (up, down):
            socket.setsockopt(zmq.RCVTIMEO, _PATIENCE_MS)
        connect_character(down, server.endpoints["output"], f"{character}/".encode())
        connect_performer(up, server.endpoints["input"])
        up.recv()  # the server listens
        up.send_multipart(motion.announcement)
        flow = _Flow(up, down, motion)
        flow.wait_for_pipeline()
        resident: list[int] = []
        p50_us: list[float] = []
        flow.run(min(settled, frames), meter)
        resident.append(server.resident_bytes())
        began = time.perf_counter()
        done = settled
        step = max(1, (frames - settled) // _STEPS)
        while done < frames:
            p50_us.append(flow.run(min(step, frames - done), meter))
            done += step
            resident.append(server.resident_bytes())
        seconds = time.perf_counter() - began
        for socket in (up, down):
            socket.close(0)
    rate = max(0, frames - settled) / seconds
    return Soaked(frames, rate, tuple(resident), tuple(p50_us or [0.0]), 0.0, flow.lost)


class _Flow:
    """Frames out and poses back on one thread, a few in flight."""

    def __init__(
        self, up: zmq.Socket[bytes], down: zmq.Socket[bytes], motion: EndlessMotion
    ) -> None:
        self.lost = 0
        self._up = up
        self._down = down
        self._motion = motion
        self._seq = 0
        self._sent_ns: dict[int, int] = {}

    def wait_for_pipeline(self) -> None:
        """Send single frames until one is answered: the server has understood the skeleton."""
        deadline = time.monotonic() + _PATIENCE_MS * 1e-3
        while time.monotonic() < deadline:
            self._send()
            if self._down.poll(50) and self._receive() is not None:
                self._sent_ns.clear()
                return
        raise BenchError("no answer to any frame from the server")

    def run(self, frames: int, meter: Meter) -> float:
        """Send that many frames and wait for the last; p50 of the round trips, us."""
        taken: list[int] = []
        for _ in range(frames):
            self._send()
            while len(self._sent_ns) >= IN_FLIGHT:
                self._take(taken)
        while self._sent_ns:
            self._take(taken)
        meter.advance(frames)
        return float(np.median(taken)) * 1e-3 if taken else 0.0

    def _send(self) -> None:
        body = self._motion.body(self._seq, self._seq * _PERIOD_NS)
        self._sent_ns[self._seq] = now_ns()
        self._up.send_multipart((self._motion.frame_topic, body))
        self._seq += 1

    def _take(self, taken: list[int]) -> None:
        """Note the next answer; what was sent before it and is still out has been lost."""
        try:
            seq = self._receive()
        except zmq.Again:
            self.lost += len(self._sent_ns)
            self._sent_ns.clear()
            return
        if seq is None or seq not in self._sent_ns:
            return
        taken.append(now_ns() - self._sent_ns.pop(seq))
        for earlier in [other for other in self._sent_ns if other < seq]:
            del self._sent_ns[earlier]
            self.lost += 1

    def _receive(self) -> int | None:
        topic, body = self._down.recv_multipart()
        receipt = read_pose(topic, body)
        return None if receipt is None else receipt.seq
