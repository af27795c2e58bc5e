"""Both directions against vmcp, a VMC stack of other people, over real UDP sockets."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import udp, vmc
from understudy.ingest.vmc_assembly import VmcAssembler
from understudy_protocol.osc.bones import BONE_INDEX, BONE_NAMES
from understudy_protocol.osc.vmc_in import VmcDecoder
from understudy_protocol.osc.vmc_out import VmcEncoder

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("vmcp") is None or importlib.util.find_spec("osc4py3") is None,
    reason="vmcp is not installed: pip install 'vmcp[osc4py3]'",
)
PEER = [sys.executable, str(Path(vmc.__file__).with_name("vmcp_peer.py"))]


def random_pose() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    rotations = random.normal(size=(55, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    return random.normal(size=3), random.normal(size=(55, 3)), rotations


def test_vmcp_reads_every_bone_we_send() -> None:
    names = vmc.parents_first()
    root, offsets, rotations = random_pose()
    datagrams = VmcEncoder(names, offsets).encode(
        root, rotations, time_s=12.5, passed_on=[vmc.blend("Joy", 0.5)]
    )
    port = udp.free_port()
    events: list[dict[str, Any]] = []
    with (
        udp.running([*PEER, "receive", str(port)]) as peer,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        assert peer.line() == "ready"
        for datagram in datagrams:
            sender.sendto(datagram, ("127.0.0.1", port))
        while not events or events[-1]["kind"] != "RelativeTimeEvent":
            events.append(json.loads(peer.line()))
    bones = events[1:56]
    offsets[0] = root
    assert events[0] == {
        "kind": "RootTransformEvent",
        "joint": "root",
        "pose": [0, 0, 0, 0, 0, 0, 1],
    }
    assert [bone["joint"] for bone in bones] == names
    np.testing.assert_allclose(
        [bone["pose"] for bone in bones],
        np.hstack([offsets * [-1, 1, 1], rotations * [1, -1, -1, 1]]),
        atol=1e-6,
    )
    assert events[56:] == [
        {"kind": "BlendShapeEvent", "key": "Joy", "value": 0.5},
        {"kind": "BlendShapeApplyEvent"},
        {"kind": "StateEvent", "states": [1, 3, 0, 1]},
        {"kind": "RelativeTimeEvent", "seconds": 12.5},
    ]


def test_we_read_every_bone_vmcp_sends() -> None:
    _, offsets, rotations = random_pose()
    bones = [
        [name, offsets[i].tolist(), rotations[i].tolist()] for i, name in enumerate(BONE_NAMES)
    ]
    assembler, decoder = VmcAssembler(), VmcDecoder()
    with udp.receiver() as (receiver, port):
        subprocess.run(
            [*PEER, "send", str(port)],
            input=json.dumps(bones),
            text=True,
            check=True,
            timeout=udp.TIMEOUT_S,
        )
        datagram = decoder.decode(receiver.recv(65536))
    assert not datagram.refused
    (frame,) = assembler.feed(datagram, 0)
    assert frame.seen.all()
    assert frame.source_time_s == 12.5
    assert frame.passed_on == (vmc.blend("Joy", 0.5),)
    assert frame.status is not None
    assert (frame.status.loaded, frame.status.tracking) == (1, 1)
    np.testing.assert_allclose(frame.positions, offsets * [-1, 1, 1], atol=1e-6)
    np.testing.assert_allclose(frame.rotations_xyzw, rotations * [1, -1, -1, 1], atol=1e-6)


def test_vmcp_knows_the_same_bones() -> None:
    listed = subprocess.run(
        [sys.executable, "-c", "import vmcp.typing as t; print(*[b.value for b in t.Bone])"],
        capture_output=True,
        text=True,
        check=True,
        timeout=udp.TIMEOUT_S,
    )
    assert set(listed.stdout.split()) == set(BONE_INDEX)
