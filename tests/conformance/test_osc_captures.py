"""Captured VMC streams, malformed ones included, through decoder and assembler."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from support.shared import shared_files, shared_path
from understudy.ingest.vmc_assembly import VmcAssembler, VmcFrame
from understudy.ingest.vmc_skeleton import VmcBody
from understudy_protocol.osc.bones import BONE_INDEX
from understudy_protocol.osc.vmc_events import VmcDatagram
from understudy_protocol.osc.vmc_in import VmcDecoder

CAPTURES = shared_files("streams/*.vmcpackets")


def datagrams(path: Path) -> list[tuple[int, bytes]]:
    """Arrival time (ns) and bytes of each datagram; every one starts with `d <time s> <length>`."""
    found: list[tuple[int, bytes]] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if start := re.fullmatch(r"d ([\d.]+) (\d+)", line):
            found.append((round(float(start[1]) * 1e9), b""))
        elif line.startswith("  "):
            arrival_ns, data = found[-1]
            found[-1] = (arrival_ns, data + bytes.fromhex(line.split("|")[0]))
    return found


def replay(path: Path) -> tuple[list[VmcDatagram], list[VmcFrame]]:
    return assemble(datagrams(path))


def assemble(received: list[tuple[int, bytes]]) -> tuple[list[VmcDatagram], list[VmcFrame]]:
    """Decode and assemble datagrams as they come, polling whenever it is due."""
    decoder, assembler = VmcDecoder(), VmcAssembler()
    decoded: list[VmcDatagram] = []
    frames: list[VmcFrame | None] = []
    for now_ns, data in received:
        deadline_ns = assembler.deadline_ns
        if deadline_ns is not None and deadline_ns <= now_ns:
            frames.append(assembler.poll(deadline_ns))
        decoded.append(decoder.decode(data))
        frames += assembler.feed(decoded[-1], now_ns)
    frames.append(assembler.poll(received[-1][0] + 1_000_000_000))
    return decoded, [frame for frame in frames if frame is not None]


def capture(name: str) -> Path:
    return shared_path(f"streams/{name}.vmcpackets")


@pytest.mark.skipif(not CAPTURES, reason="no captured VMC streams: set UNDERSTUDY_SHARED")
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.stem)
def test_a_capture_is_decoded_or_refused_and_every_frame_is_sane(path: Path) -> None:
    decoded, frames = replay(path)
    assert any(datagram.events or datagram.refused for datagram in decoded)
    for frame in frames:
        assert np.isfinite(frame.positions).all()
        np.testing.assert_allclose(np.linalg.norm(frame.rotations_xyzw, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", ["vmc_arm-raise-30hz", "vmc_neutral-standing-30hz"])
def test_a_clean_capture_gives_a_whole_body_facing_z(name: str) -> None:
    decoded, frames = replay(capture(name))
    assert not [error for datagram in decoded for error in datagram.refused]
    body = VmcBody()
    assert any([body.update(frame) for frame in frames])
    skeleton = body.skeleton
    assert skeleton is not None
    assert {"Hips", "Head", "LeftHand", "RightFoot"} <= set(skeleton.names)
    offset = skeleton.offsets[skeleton.index("LeftUpperLeg")]
    assert offset[0] > 0.05  # Left is +X with us; the capture has it at -X.
    assert frames[-1].root[1] == pytest.approx(0.9, abs=1e-6)


def test_the_malformed_packets_are_refused_one_by_one_for_their_reason() -> None:
    decoded, frames = replay(capture("vmc_malformed-packets"))
    assert [[error.reason for error in datagram.refused] for datagram in decoded] == [
        ["empty"],
        ["truncated"],
        ["no-type-tags"],
        ["bad-length"],
        ["truncated"],
        ["bad-length"],
        ["bad-length"],
        ["not-osc"],
        [],
        ["too-few-arguments"],
    ]
    assert decoded[8].ignored == 1
    assert frames == []


def test_good_bones_beside_malformed_ones_still_make_frames() -> None:
    decoded, frames = replay(capture("vmc_malformed-forms"))
    assert [error for datagram in decoded for error in datagram.refused]
    assert frames
    assert frames[-1].seen[BONE_INDEX["Hips"]]


@pytest.mark.parametrize("bone", ["LeftUpperLeg", "Chest", "RightToes"])
def test_a_stall_in_front_of_a_bone_tears_no_frame_of_a_sender_that_is_not_yet_known(
    bone: str,
) -> None:
    received = datagrams(capture("vmc_arm-raise-30hz"))
    stalled, late_ns = [], 0
    for now_ns, data in received:
        if b"/VMC/Ext/Root/Pos" in data:
            late_ns = 0
        elif b"\0" + bone.encode() + b"\0" in data:
            late_ns = 10_000_000
        stalled.append((now_ns + late_ns, data))
    assert len({new[0] - old[0] for new, old in zip(stalled, received, strict=True)}) == 2
    expected, frames = assemble(received)[1], assemble(stalled)[1]
    assert len(frames) == len(expected) >= 5
    for frame, right in zip(frames, expected, strict=True):
        np.testing.assert_array_equal(frame.rotations_xyzw, right.rotations_xyzw)
        np.testing.assert_array_equal(frame.positions, right.positions)
