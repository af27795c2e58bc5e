"""All 55 bones in and out at 120 Hz, for a while: nothing is lost on the way."""

from __future__ import annotations

import socket
import threading
import time
from pathlib import Path

import numpy as np

from support.live import serving
from support.udp import receiver
from support.vmc_live import VmcStage
from understudy.characters import Clip, builtin_clip, write_bvh
from understudy.kinematics import Joint, Skeleton
from understudy_protocol.osc import BONE_NAMES, BONE_PARENTS, VRM1_NAMES, decode_vmc
from understudy_protocol.osc.vmc_events import Bones, SourceTime

RATE_HZ = 120.0
FRAMES = 360


def whole_body() -> Skeleton:
    """The built-in actor with every bone that VMC knows."""
    actor = builtin_clip("wave", 30.0).skeleton
    joints = list(actor.joints())
    for bone, parent in zip(BONE_NAMES, BONE_PARENTS, strict=True):
        name = VRM1_NAMES[bone]
        if name in actor:
            continue
        side = 1.0 if bone.startswith("Left") else -1.0
        finger = "Eye" not in bone and bone != "Jaw"
        spread = 0.02 * (sum(map(ord, bone[:8])) % 5 - 2) if bone.endswith("Proximal") else 0.0
        offset = (0.03 * side, 0.0, spread) if finger else (0.03 * side, 0.05, 0.08)
        joints.append(Joint(name, VRM1_NAMES[BONE_NAMES[parent]], offset))
    return Skeleton.build(joints)


def whole_clip() -> Clip:
    wave = builtin_clip("wave", RATE_HZ)
    body = whole_body()
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (wave.frame_count, len(body), 1))
    for number, name in enumerate(wave.skeleton.names):
        rotations[:, body.index(name)] = wave.rotations_xyzw[:, number]
    return Clip("whole", body, RATE_HZ, wave.roots, rotations)


class Counting:
    """Reads a socket in a thread and counts whole frames and their bones."""

    def __init__(self, sink: socket.socket) -> None:
        self._sink = sink
        self._ended = threading.Event()
        self.frames = 0
        self.bones: set[int] = set()
        self._thread = threading.Thread(target=self._read)
        sink.settimeout(0.1)
        self._thread.start()

    def _read(self) -> None:
        while not self._ended.is_set():
            try:
                datagram = decode_vmc(self._sink.recv(65536))
            except TimeoutError:
                continue
            for event in datagram.events:
                if isinstance(event, Bones):
                    self.bones.update(event.wire)
                self.frames += isinstance(event, SourceTime)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


def test_fifty_five_bones_in_and_out_at_120_hz_lose_nothing(tmp_path: Path) -> None:
    clip = whole_clip()
    rig = tmp_path / "whole.bvh"
    write_bvh(rig, clip)
    session = {"performer": "alice", "character": "hero", "solver": "copy"}
    with receiver() as (sink, port):
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        tables = {
            "performers": {"alice": {"vmc": "127.0.0.1:*", "stale_after_s": 20.0}},
            "characters": {"hero": {"rig": str(rig), "vmc": [{"to": f"127.0.0.1:{port}"}]}},
        }
        with serving(session, **tables) as server:
            stage = VmcStage(server, clip)
            counting = Counting(sink)
            try:
                stage.start()
                dropped = stage.control.character("hero")["dropped"]  # while bodies were aligned
                start = time.perf_counter()
                for frame in range(FRAMES):
                    wait = start + frame / RATE_HZ - time.perf_counter()
                    if wait > 0:
                        time.sleep(wait)  # the rate is what is tested
                    stage.performer.send(frame % clip.frame_count)
                stage.catch_up()
                taken = stage.control.performer("alice")
                assert taken["lost"] == 0
                assert stage.control.character("hero")["dropped"] == dropped
                poses = taken["frames"] - dropped
                deadline = time.monotonic() + 10.0
                while counting.frames < poses and time.monotonic() < deadline:
                    stage.control.ask("time", t1=0)
            finally:
                counting.end()
                stage.close()
    assert counting.frames == poses
    assert len(counting.bones) == 52  # eyes and jaw are not posed by a body
