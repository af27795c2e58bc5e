"""What VMC costs a frame: 55 bones parsed, assembled and taken in; 55 bones built and sent."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.align.bones import HumanoidBones
from understudy.ingest import PerformerStream
from understudy.ingest.vmc_assembly import VmcAssembler
from understudy.ingest.vmc_source import VmcSource
from understudy.kinematics import Joint, Skeleton
from understudy.transport import UdpOutput
from understudy_protocol.osc import BONE_NAMES, BONE_PARENTS, VmcEncoder
from understudy_protocol.osc.vmc_in import VmcDecoder

BUDGET_US: Final = 80.0
_WARM: Final = 200
_HERE: Final = ("127.0.0.1", 1)


@dataclass(frozen=True, slots=True)
class VmcCost:
    """Percentiles of the time for a frame (us)."""

    p50: float
    p99: float

    @classmethod
    def of(cls, nanoseconds: list[int]) -> VmcCost:
        """From single times."""
        p50, p99 = np.percentile(np.array(nanoseconds) * 1e-3, [50, 99])
        return cls(round(float(p50), 1), round(float(p99), 1))


def measure(frames: int = 2000, seed: int = 0) -> dict[str, VmcCost]:
    """Times of a frame, each way.

    `parse`: datagrams to a whole frame; `in`: the same and on to a checked pose of the stream;
    `out`: a pose to datagrams on a loopback socket.
    """
    random = np.random.default_rng(seed)
    body = _body()
    encoder = VmcEncoder(body.names, body.offsets)
    rotations = random.normal(size=(frames + _WARM, len(body), 4))
    rotations /= np.linalg.norm(rotations, axis=2, keepdims=True)
    roots = random.normal(size=(frames + _WARM, 3)) * 0.01 + [0.0, 1.0, 0.0]
    sent = [
        encoder.encode(root, rotation, time_s=i / 120.0)
        for i, (root, rotation) in enumerate(zip(roots, rotations, strict=True))
    ]
    return {
        "parse": _timed(_parsing(sent), frames),
        "in": _timed(_receiving(sent), frames),
        "out": _timed(_sending(body, roots, rotations), frames),
    }


def _parsing(sent: list[list[bytes]]) -> Callable[[int], None]:
    decoder, assembler = VmcDecoder(), VmcAssembler()

    def step(frame: int) -> None:
        for datagram in sent[frame]:
            assembler.feed(decoder.decode(datagram), 10**18 + frame * 8_333_333)

    return step


def _receiving(sent: list[list[bytes]]) -> Callable[[int], None]:
    stream = PerformerStream("alice")
    source = VmcSource(stream)

    def step(frame: int) -> None:
        now_ns = 10**18 + frame * 8_333_333
        for datagram in sent[frame]:
            for reading in source.feed(datagram, _HERE, now_ns):
                stream.take(reading.frame, reading.arrival_ns)

    return step


def _sending(
    body: Skeleton,
    roots: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    rotations: np.ndarray[tuple[int, int, int], np.dtype[np.float64]],
) -> Callable[[int], None]:
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sink.bind(("127.0.0.1", 0))
    output = UdpOutput("127.0.0.1", sink.getsockname()[1])
    turns = np.tile(np.eye(3), (len(body), 1, 1))
    bones = HumanoidBones.normalised(body, range(len(body)), body.parents.tolist(), turns)
    encoder = VmcEncoder(body.names, bones.offsets)

    def step(frame: int) -> None:
        bones.update(roots[frame], rotations[frame])
        output.send(encoder.encode(bones.hips, bones.rotations_xyzw, time_s=frame / 120.0))

    return step


def _timed(step: Callable[[int], None], frames: int) -> VmcCost:
    times: list[int] = []
    for frame in range(_WARM + frames):
        start = time.perf_counter_ns()
        step(frame)
        times.append(time.perf_counter_ns() - start)
    return VmcCost.of(times[_WARM:])


def _body() -> Skeleton:
    """All 55 bones of VMC."""
    return Skeleton.build(
        Joint(name, None if parent < 0 else BONE_NAMES[parent], (0.0, 0.1, 0.0))
        for name, parent in zip(BONE_NAMES, BONE_PARENTS, strict=True)
    )


if __name__ == "__main__":
    for way, cost in measure().items():
        print(f"{way}: p50 {cost.p50} us, p99 {cost.p99} us (budget {BUDGET_US:g} us)")
