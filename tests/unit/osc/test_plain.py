from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pythonosc.osc_bundle import OscBundle

from understudy_protocol.errors import ProtocolError
from understudy_protocol.osc.packet import write_bundle, write_message
from understudy_protocol.osc.plain import PlainEncoder, decode_plain

JOINTS = ["hips", "spine", "mixamorig:Head", "left hand/wrist"]
TURN = [0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)]
ROTATIONS = np.array([TURN, [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]], float)


def test_a_frame_is_one_bundle_with_one_message_per_joint() -> None:
    (datagram,) = PlainEncoder("anna", JOINTS).encode(7, [1, 2, 3], ROTATIONS)
    messages = list(OscBundle(datagram))
    assert [m.address for m in messages] == [
        "/understudy/anna/frame",
        "/understudy/anna/root",
        "/understudy/anna/joint/spine",
        "/understudy/anna/joint/mixamorig:Head",
        "/understudy/anna/joint/left_hand_wrist",
    ]
    assert messages[0].params == [7]
    assert messages[1].params == pytest.approx([1, 2, 3, *TURN])
    np.testing.assert_array_equal([m.params for m in messages[2:]], ROTATIONS[1:])


@given(st.integers(0, 2**32), st.integers(0, 2**40), st.integers(1, 200))
def test_what_is_sent_is_what_is_read(seed: int, number: int, count: int) -> None:
    random = np.random.default_rng(seed)
    rotations = random.normal(size=(count, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    joints = [f"joint {i}" for i in range(count)]
    (datagram,) = PlainEncoder("bo b", joints).encode(number, random.normal(size=3), rotations)
    decoded = decode_plain(datagram)
    (frame,) = decoded.frames
    assert not decoded.refused
    assert not decoded.ignored
    assert (frame.name, frame.number) == ("bo_b", number % 2**31)
    assert frame.joints == tuple(f"joint_{i}" for i in range(1, count))
    assert frame.root is not None
    np.testing.assert_allclose(frame.root[3:], rotations[0], atol=1e-6)
    np.testing.assert_allclose(frame.rotations_xyzw, rotations[1:], atol=1e-6)


def test_a_skeleton_is_sent_and_read() -> None:
    offsets = np.arange(12.0).reshape(4, 3)
    datagrams = PlainEncoder("anna", JOINTS).encode_skeleton([-1, 0, 1, 1], offsets, ROTATIONS)
    joints = [joint for datagram in datagrams for joint in decode_plain(datagram).skeleton]
    assert [(j.name, j.joint, j.parent) for j in joints] == [
        ("anna", "hips", None),
        ("anna", "spine", "hips"),
        ("anna", "mixamorig:Head", "spine"),
        ("anna", "left_hand_wrist", "spine"),
    ]
    np.testing.assert_allclose([j.offset for j in joints], offsets)
    np.testing.assert_allclose([j.rest_xyzw for j in joints], ROTATIONS, atol=1e-7)


def test_a_bare_joint_is_a_frame_of_that_joint_alone() -> None:
    decoded = decode_plain(write_message("/understudy/anna/joint/head", "ffff", 0, 0, 0, 1.02))
    (frame,) = decoded.frames
    assert (frame.number, frame.root, frame.joints) == (None, None, ("head",))
    np.testing.assert_allclose(frame.rotations_xyzw, [[0, 0, 0, 1]])


def test_two_performers_in_one_bundle_are_two_frames() -> None:
    messages = [
        write_message(f"/understudy/{name}/joint/head", "iiii", 0, 0, 0, 1) for name in ("a", "b")
    ]
    assert [frame.name for frame in decode_plain(write_bundle(messages)).frames] == ["a", "b"]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (write_message("/understudy/a/joint/head", "fff", 0, 0, 1), "too-few-arguments"),
        (write_message("/understudy/a/joint/head", "ffff", 0, 0, 0, 0), "bad-pose"),
        (write_message("/understudy/a/joint/head", "ffff", 0, 0, math.nan, 0), "bad-pose"),
        (write_message("/understudy/a/joint/head", "sfff", "x", 0, 0, 1), "too-few-arguments"),
        (write_message("/understudy/a/joint/head", "ffff", 0, 0, 0, 1)[:-4], "truncated"),
        (write_message("/understudy/a/root", "ffff", 0, 0, 0, 1), "too-few-arguments"),
        (write_message("/understudy/a/root", "fffffff", 0, 1e9, 0, 0, 0, 0, 1), "out-of-range"),
        (write_message("/understudy/a/frame", "f", 1.0), "bad-type"),
        (write_message("/understudy/a/skeleton/head", "fffffff", 0, 0, 0, 0, 0, 0, 1), "bad-type"),
        (b"/understudy/\xff/frame\0,\0\0\0", "bad-text"),
    ],
)
def test_a_wrong_message_is_refused_and_its_neighbours_count(raw: bytes, reason: str) -> None:
    good = write_message("/understudy/a/joint/spine", "ffff", 0, 0, 0, 1)
    decoded = decode_plain(write_bundle([good, raw, write_message("/elsewhere", "")]))
    assert [error.reason for error in decoded.refused] == [reason]
    assert [frame.joints for frame in decoded.frames] == [("spine",)]
    assert decoded.ignored == 1


@given(st.binary(max_size=80))
def test_any_bytes_are_decoded_without_an_exception(noise: bytes) -> None:
    for datagram in (
        noise,
        b"/understudy/a/joint/" + noise,
        write_bundle([b"/understudy/" + noise]),
    ):
        decoded = decode_plain(datagram)
        assert (
            decoded.frames
            or decoded.skeleton
            or decoded.refused
            or decoded.ignored
            or (datagram.startswith(b"#bundle\0"))
        )


def test_joints_that_would_share_an_address_are_refused() -> None:
    with pytest.raises(ProtocolError, match="one OSC address"):
        PlainEncoder("anna", ["left hand", "left/hand"])


def test_a_pose_that_is_not_finite_is_never_sent() -> None:
    with pytest.raises(ProtocolError, match="finite"):
        PlainEncoder("anna", ["hips"]).encode(1, [0, math.inf, 0], [[0, 0, 0, 1]])
