"""What VMC costs a frame: 55 bones parsed, assembled and taken in; 55 bones built and sent.

`python -m understudy_bench.vmc --seconds 60` also drives a server with 55 bones at 120 Hz for a
minute and says of every frame whether it was answered once, twice or never.
"""

from __future__ import annotations

import argparse
import json
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from understudy.align.bones import HumanoidBones
from understudy.characters import Clip, builtin_clip
from understudy.ingest import PerformerStream
from understudy.ingest.vmc_assembly import VmcAssembler
from understudy.ingest.vmc_source import VmcSource
from understudy.kinematics import Joint, Skeleton
from understudy.transport import UdpOutput
from understudy_bench.processes import BenchError, ServerProcess
from understudy_bench.vmc_frames import EndlessVmcMotion, VmcAnswers
from understudy_bench.ways import bound_socket
from understudy_protocol.osc import BONE_NAMES, BONE_PARENTS, VRM1_NAMES, VmcEncoder
from understudy_protocol.osc.vmc_events import Bones, SourceTime, Status
from understudy_protocol.osc.vmc_in import VmcDecoder

BUDGET_US: Final = 80.0
_WARM: Final = 200
_HERE: Final = ("127.0.0.1", 1)
RATE_HZ: Final = 120.0
_QUIET_S: Final = 1.0
_START_S: Final = 60.0
_LEARN_S: Final = 2.0


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


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of numbered frames; `once`, `twice` (or more often) and `lost` add up to `sent`.

    `unasked` are poses said to be new that answer no frame: half a frame was taken for a whole one,
    or a datagram of the answer did not come.
    """

    sent: int
    once: int
    twice: int
    lost: int
    unasked: int

    @classmethod
    def of(cls, sent: Iterable[int], answered: Mapping[int, int], unasked: int) -> Tally:
        """From the numbers sent and how often each was answered; others are passed over."""
        times = [answered.get(number, 0) for number in sent]
        once, lost = times.count(1), times.count(0)
        return cls(len(times), once, len(times) - once - lost, lost, unasked)


@dataclass(frozen=True, slots=True)
class Carried:
    """What became of frames sent to a server, and how many bones went in and came out."""

    frames: Tally
    bones_in: int
    bones_out: int
    late: int
    """Frames sent more than a frame after their time: the machine was busy."""


def carry(seconds: float) -> Carried:
    """Drive a character in a server process over VMC and match what comes back, frame by frame."""
    clip = whole_clip()
    motion = EndlessVmcMotion("alice", clip)
    with tempfile.TemporaryDirectory() as folder, _listening() as (heard, port):
        rig = Path(folder) / "whole.gltf"
        rig.write_text(_rig(clip), encoding="utf-8")
        session = {
            "performer": "alice",
            "character": "hero",
            "rig": rig.as_posix(),
            "vmc_to": f"127.0.0.1:{port}",
        }
        with ServerProcess([session]) as server:
            host, to = server.udp["alice"].rsplit(":", 1)
            output = UdpOutput(host, int(to))

            def send(frame: int) -> None:
                output.send(motion.parts(frame, round(frame / RATE_HZ * 1e9)))

            # The first frames tell of the body, and in the first second the server learns how a
            # sender packs them.
            first = 0
            started = time.perf_counter()
            while not heard.answered or time.perf_counter() - started < _LEARN_S:
                if time.perf_counter() - started > _START_S:
                    raise BenchError(f"no pose came out of the server in {_START_S:g} s")
                send(first)
                first += 1
                time.sleep(1.0 / RATE_HZ)
            unasked = heard.unasked
            sent, late = range(first, first + round(seconds * RATE_HZ)), 0
            start = time.perf_counter()
            for frame in sent:
                wait = start + (frame - first) / RATE_HZ - time.perf_counter()
                late += wait < -1.0 / RATE_HZ
                if wait > 0.0:
                    time.sleep(wait)
                send(frame)
            heard.wait_for_quiet()
            output.close()
    frames = Tally.of(sent, heard.answered, heard.unasked - unasked)
    return Carried(frames, len(clip.skeleton), len(heard.bones), late)


def whole_clip() -> Clip:
    """The built-in wave by an actor who has every bone that VMC knows."""
    wave = builtin_clip("wave", RATE_HZ)
    joints = list(wave.skeleton.joints())
    for bone, parent in zip(BONE_NAMES, BONE_PARENTS, strict=True):
        if VRM1_NAMES[bone] in wave.skeleton:
            continue
        out = 1.0 if bone.startswith("Left") else -1.0
        across = 0.02 * (BONE_NAMES.index(bone) // 3 % 5 - 2) if bone.endswith("Proximal") else 0.0
        offset = (0.03 * out, 0.0, across)
        joints.append(Joint(VRM1_NAMES[bone], VRM1_NAMES[BONE_NAMES[parent]], offset))
    body = Skeleton.build(joints)
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (wave.frame_count, len(body), 1))
    for number, name in enumerate(wave.skeleton.names):
        rotations[:, body.index(name)] = wave.rotations_xyzw[:, number]
    return Clip("whole", body, RATE_HZ, wave.roots, rotations)


def _rig(clip: Clip) -> str:
    """The clip's body as glTF with VRM 1 data: only that says which joints are eyes and jaw."""
    body = clip.skeleton
    offsets = body.offsets.copy()
    offsets[0] = clip.roots[0]
    children: list[list[int]] = [[] for _ in body.names]
    for joint, parent in enumerate(body.parents.tolist()):
        if parent >= 0:
            children[parent].append(joint)
    nodes = [
        {"name": name, "translation": offset, **({"children": below} if below else {})}
        for name, offset, below in zip(body.names, offsets.tolist(), children, strict=True)
    ]
    bones = {name: {"node": number} for number, name in enumerate(body.names)}
    humanoid = {"specVersion": "1.0", "humanoid": {"humanBones": bones}}
    return json.dumps(
        {
            "asset": {"version": "2.0"},
            "nodes": nodes,
            "scenes": [{"nodes": [0]}],
            "extensions": {"VRMC_vrm": humanoid},
        }
    )


class Heard:
    """What a server has sent: how often each frame was answered, other new poses, and bones."""

    def __init__(self) -> None:
        self.answered: Counter[int] = Counter()
        self.unasked = 0
        self.bones: set[int] = set()
        self._answers = VmcAnswers()
        self._decoder = VmcDecoder()
        self._fresh = False
        self._heard_s = time.perf_counter()

    def take(self, data: bytes) -> None:
        """Take in a datagram."""
        answer = self._answers.feed(data)
        ended = False
        for event in self._decoder.decode(data).events:
            if isinstance(event, Bones):
                self.bones.update(event.bones)
            elif isinstance(event, Status):
                # The pose of a silent performer is repeated, and said to be old.
                self._fresh = event.tracking == 1
            elif isinstance(event, SourceTime):
                ended = True
        if answer is not None:
            self.answered[answer.seq] += 1
        elif ended and self._fresh:
            self.unasked += 1
        if ended and self._fresh:
            self._heard_s = time.perf_counter()

    def wait_for_quiet(self) -> None:
        """Return once no new pose has come for a while."""
        self._heard_s = time.perf_counter()
        while time.perf_counter() - self._heard_s < _QUIET_S:
            time.sleep(0.05)


@contextmanager
def _listening() -> Iterator[tuple[Heard, int]]:
    """A port, and what a thread hears there."""
    heard, ended = Heard(), threading.Event()
    with bound_socket() as sink:
        sink.settimeout(0.1)

        def read() -> None:
            while not ended.is_set():
                try:
                    heard.take(sink.recv(1 << 16))
                except TimeoutError:
                    continue

        reader = threading.Thread(target=read)
        reader.start()
        try:
            yield heard, sink.getsockname()[1]
        finally:
            ended.set()
            reader.join()


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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="What VMC costs, and whether anything is lost.")
    parser.add_argument("--seconds", type=float, default=0.0, help="drive a server for so long")
    arguments = parser.parse_args()
    for way, cost in measure().items():
        print(f"{way}: p50 {cost.p50} us, p99 {cost.p99} us (budget {BUDGET_US:g} us)")
    if arguments.seconds > 0.0:
        carried = carry(arguments.seconds)
        frames = carried.frames
        print(
            f"{frames.sent} frames of {carried.bones_in} bones sent ({carried.late} late): "
            f"{frames.once} answered once, {frames.twice} twice, {frames.lost} lost; "
            f"{frames.unasked} poses without a frame; {carried.bones_out} bones in a pose"
        )


if __name__ == "__main__":
    main()
