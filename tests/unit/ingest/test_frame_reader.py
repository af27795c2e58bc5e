"""The short way of reading a frame gives what the long one does, whatever came before."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from understudy.ingest.frame_reader import FrameReader
from understudy_protocol.errors import ProtocolError
from understudy_protocol.wire import pack

JOINTS = 2
KEYS = ("run", "seq", "t_capture", "skeleton", "root", "rot")

# Numbers on both sides of where msgpack needs a byte more.
_edges = st.sampled_from([0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1])
_numbers = st.one_of(_edges, st.integers(0, 2**63 - 1), st.just(-1), st.just(2**63))
_short = st.one_of(st.sampled_from([0, 127, 128, 2**32 - 1]), st.integers(0, 2**32 - 1))
_frames = st.fixed_dictionaries(
    {
        "run": _short,
        "seq": _numbers,
        "t_capture": _numbers,
        "skeleton": _short,
        "root": st.binary(min_size=12, max_size=12),
        "rot": st.one_of(
            st.binary(min_size=16 * JOINTS, max_size=16 * JOINTS), st.just(b"\xa3seq" * 4 * JOINTS)
        ),
    }
)


def told(reader: FrameReader, body: bytes) -> tuple[Any, ...]:
    """What a reader says about a frame: its numbers, or why there are none."""
    try:
        frame = reader.read(body)
    except ProtocolError as error:
        return (error.reason, str(error))
    numbers = frame.numbers.tobytes() if frame.rotation_count == JOINTS else b""
    counts = (frame.rotation_count, frame.point_count)
    return (frame.run, frame.seq, frame.capture_ns, frame.skeleton_id, *counts, numbers)


def packed(frame: dict[str, Any], order: list[str]) -> bytes:
    return pack("frame", {key: frame[key] for key in order})


@given(st.lists(_frames, min_size=2, max_size=4), st.permutations(KEYS))
def test_a_frame_is_read_alike_whatever_was_read_before(
    frames: list[dict[str, Any]], order: list[str]
) -> None:
    reader = FrameReader(JOINTS)
    for frame in frames:
        body = packed(frame, order)
        assert told(reader, body) == told(FrameReader(JOINTS), body)


@given(_frames, st.permutations(KEYS), st.integers(0), st.integers(0, 255))
def test_one_byte_that_is_wrong_is_seen_as_if_the_frame_were_the_first(
    frame: dict[str, Any], order: list[str], place: int, byte: int
) -> None:
    body = packed(frame, order)
    broken = bytearray(body)
    broken[place % len(body)] = byte
    reader = FrameReader(JOINTS)
    told(reader, body)
    assert told(reader, bytes(broken)) == told(FrameReader(JOINTS), bytes(broken))


@given(_frames, st.integers(0, 200))
def test_a_frame_that_is_cut_off_is_refused_as_if_it_were_the_first(
    frame: dict[str, Any], size: int
) -> None:
    body = packed(frame, list(KEYS))
    reader = FrameReader(JOINTS)
    told(reader, body)
    assert told(reader, body[:size]) == told(FrameReader(JOINTS), body[:size])


def test_frames_of_one_sender_are_unpacked_once() -> None:
    frame = {"run": 7, "seq": 300, "t_capture": 2**60, "skeleton": 2**31}
    shape = {"root": bytes(12), "rot": np.ones(4 * JOINTS, np.float32).tobytes()}
    reader = FrameReader(JOINTS)
    told(reader, packed({**frame, **shape}, list(KEYS)))
    layout = reader._layout
    assert layout is not None
    later = {**frame, **shape, "seq": 301, "t_capture": 2**60 + 8}
    assert layout.read(packed(later, list(KEYS))) == (301, 2**60 + 8, shape["root"], shape["rot"])
    for other in ({"run": 8}, {"skeleton": 2**31 + 1}, {"seq": 3}):
        assert layout.read(packed({**later, **other}, list(KEYS))) is None
