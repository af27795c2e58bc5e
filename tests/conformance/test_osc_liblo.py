"""Both directions against the tools of liblo, the C library of OSC, over real UDP sockets."""

from __future__ import annotations

import queue
import shlex
import shutil
import socket
import struct
import subprocess

import numpy as np
import pytest

from support import udp, vmc
from understudy_protocol.osc.bones import BONE_INDEX
from understudy_protocol.osc.packet import write_message
from understudy_protocol.osc.plain import PlainEncoder, decode_plain
from understudy_protocol.osc.vmc_events import Bones, PassedOn, SourceTime
from understudy_protocol.osc.vmc_in import decode_vmc
from understudy_protocol.osc.vmc_out import VmcEncoder

needs_dump = pytest.mark.skipif(
    shutil.which("oscdump") is None, reason="oscdump is not installed (Debian: liblo-tools)"
)
needs_send = pytest.mark.skipif(
    shutil.which("oscsend") is None, reason="oscsend is not installed (Debian: liblo-tools)"
)


def dumped(datagrams: list[bytes], count: int) -> list[list[str]]:
    """What oscdump prints of datagrams: address, types and values of `count` messages."""
    port = udp.free_port()
    probe = write_message("/probe", "")
    with (
        udp.running(["oscdump", "-L", str(port)]) as dump,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        for _ in range(600):  # It does not say when it is ready, so it is asked until it answers.
            sender.sendto(probe, ("127.0.0.1", port))
            try:
                dump.line(0.05)
                break
            except queue.Empty:
                continue
        for datagram in datagrams:
            sender.sendto(datagram, ("127.0.0.1", port))
        found: list[list[str]] = []
        while len(found) < count:
            words = shlex.split(dump.line())[1:]  # The first word is the time tag.
            if words[0] != "/probe":
                found.append(words)
    return found


@needs_dump
def test_oscdump_reads_every_message_of_our_vmc_frames() -> None:
    random = np.random.default_rng(6)
    names = vmc.parents_first()
    rotations = random.normal(size=(55, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    offsets = random.normal(size=(55, 3))
    datagrams = VmcEncoder(names, offsets).encode(offsets[0], rotations, time_s=2.5)
    messages = dumped(datagrams, 59)
    assert messages[0] == [
        *("/VMC/Ext/Root/Pos", "sfffffffffffff", "root"),
        *(f"{number:f}" for number in (0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0)),
    ]
    bones = messages[1:56]
    assert [words[:3] for words in bones] == [
        ["/VMC/Ext/Bone/Pos", "sfffffff", name] for name in names
    ]
    np.testing.assert_allclose(
        [[float(word) for word in words[3:]] for words in bones],
        np.hstack([offsets * [-1, 1, 1], rotations * [1, -1, -1, 1]]),
        atol=1e-6,
    )
    assert messages[56:] == [
        ["/VMC/Ext/Blend/Apply"],
        ["/VMC/Ext/OK", "iiii", "1", "3", "0", "1"],
        ["/VMC/Ext/T", "f", "2.500000"],
    ]


@needs_dump
def test_oscdump_reads_our_plain_frames() -> None:
    frame = PlainEncoder("anna", ["hips", "head"]).encode(
        7, [1, 2, 3], [[0, 0, 0, 1], [1, 0, 0, 0]]
    )
    assert dumped(frame, 3) == [
        ["/understudy/anna/frame", "i", "7"],
        ["/understudy/anna/root", "fffffff", *(f"{n:f}" for n in (1, 2, 3, 0, 0, 0, 1))],
        ["/understudy/anna/joint/head", "ffff", *(f"{n:f}" for n in (1, 0, 0, 0))],
    ]


def from_oscsend(*words: str) -> bytes:
    with udp.receiver() as (receiver, port):
        subprocess.run(
            ["oscsend", "127.0.0.1", str(port), *words], check=True, timeout=udp.TIMEOUT_S
        )
        return receiver.recv(65536)


@needs_send
def test_we_read_the_vmc_messages_oscsend_sends() -> None:
    (bones,) = decode_vmc(
        from_oscsend(
            *("/VMC/Ext/Bone/Pos", "sfffffff", "LeftHand"),
            *("-0.25", "1", "2", "0", "0.6", "0", "0.8"),
        )
    ).events
    assert bones == Bones.of(
        {BONE_INDEX["LeftHand"]: struct.pack(">7f", -0.25, 1, 2, 0, 0.6, 0, 0.8)}
    )
    assert decode_vmc(from_oscsend("/VMC/Ext/T", "f", "12.5")).events == [SourceTime(12.5)]
    (blend,) = decode_vmc(from_oscsend("/VMC/Ext/Blend/Val", "sf", "Joy", "0.5")).events
    assert isinstance(blend, PassedOn)
    assert blend.raw == vmc.blend("Joy", 0.5)


@needs_send
def test_we_read_the_plain_joints_oscsend_sends() -> None:
    (frame,) = decode_plain(
        from_oscsend("/understudy/anna/joint/head", "ffff", "0", "0.6", "0", "0.8")
    ).frames
    assert (frame.name, frame.joints) == ("anna", ("head",))
    np.testing.assert_allclose(frame.rotations_xyzw, [[0, 0.6, 0, 0.8]], atol=1e-7)
