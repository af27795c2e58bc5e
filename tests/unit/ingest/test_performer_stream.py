"""Frames as source poses."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.messages import skeletons
from understudy.characters.builtin import builtin_character
from understudy.ingest import (
    FrameRejected,
    PerformerStream,
    message_from_skeleton,
    skeleton_from_message,
)
from understudy.ingest.frame_reader import FrameReader
from understudy.kinematics import Joint, Skeleton
from understudy_protocol import (
    FrameMessage,
    Marker,
    ProtocolError,
    SkeletonMessage,
    decode_skeleton,
    encode_frame,
    encode_skeleton,
    with_skeleton_id,
)

ACTOR = builtin_character("actor")
BODY = message_from_skeleton(ACTOR)
N = len(ACTOR)


def frame(seq: int = 0, **changes: object) -> FrameMessage:
    message = FrameMessage(
        run=1,
        seq=seq,
        capture_ns=seq * 10_000_000,
        skeleton_id=BODY.id,
        root=np.array([0.0, 0.9, 0.0]),
        rotations_xyzw=ACTOR.rest_xyzw,
    )
    return replace(message, **changes)  # type: ignore[arg-type]  # fields by name, as a test wants


def announced() -> PerformerStream:
    stream = PerformerStream("alice")
    assert stream.announce(encode_skeleton(BODY))
    return stream


def reason(stream: PerformerStream, message: FrameMessage) -> str:
    with pytest.raises(FrameRejected) as refused:
        stream.take(stream.read(encode_frame(message)), message.capture_ns)
    assert stream.counts[refused.value.reason] >= 1
    return refused.value.reason


def test_rotations_are_brought_to_unit_length() -> None:
    stream = announced()
    pose = stream.take(stream.read(encode_frame(frame(rotations_xyzw=ACTOR.rest_xyzw * 1.05))), 0)
    np.testing.assert_allclose(np.linalg.norm(pose.rotations_xyzw, axis=1), 1.0, rtol=1e-15)
    np.testing.assert_allclose(pose.rotations_xyzw, ACTOR.rest_xyzw, atol=1e-7)
    np.testing.assert_allclose(pose.root, [0.0, 0.9, 0.0], atol=1e-7)


def test_what_does_not_fit_is_rejected_by_reason() -> None:
    assert reason(PerformerStream("bob"), frame()) == "no-skeleton"
    stream = announced()
    assert reason(stream, frame(skeleton_id=BODY.id ^ 1)) == "other-skeleton"
    assert reason(stream, frame(rotations_xyzw=ACTOR.rest_xyzw[:-1])) == "joint-count"
    assert reason(stream, frame(points=np.zeros((1, 3)))) == "marker-count"
    assert reason(stream, frame(rotations_xyzw=ACTOR.rest_xyzw * 1.2)) == "not-unit"
    stream.take(stream.read(encode_frame(frame(0))), 0)
    assert reason(stream, frame(0)) == "duplicate"
    assert stream.counts["accepted"] == 1


def test_measured_points_are_kept_and_a_frame_without_them_has_seen_none() -> None:
    markers = tuple(Marker(name, 0, np.zeros(3)) for name in ("wrist", "toe"))
    body = with_skeleton_id(replace(BODY, markers=markers))
    stream = PerformerStream("alice")
    assert stream.announce(encode_skeleton(body))
    assert [marker.name for marker in stream.markers] == ["wrist", "toe"]
    points = np.array([[0.5, 1.0, 0.25], [np.nan] * 3])
    seen = frame(0, skeleton_id=body.id, points=points)
    np.testing.assert_array_equal(stream.take(stream.read(encode_frame(seen)), 0).points, points)
    blind = frame(1, skeleton_id=body.id)
    assert np.isnan(stream.take(stream.read(encode_frame(blind)), 0).points).all()


def test_a_rejected_frame_does_not_move_the_sequence() -> None:
    stream = announced()
    stream.take(stream.read(encode_frame(frame(0))), 0)
    assert reason(stream, frame(1, rotations_xyzw=ACTOR.rest_xyzw * 0.0 + 5.0)) == "not-unit"
    pose = stream.take(stream.read(encode_frame(frame(1))), 10_000_000)
    assert pose.dt == pytest.approx(0.01)
    assert not pose.jump


def test_numbers_that_are_not_finite_are_refused() -> None:
    stream = announced()
    body = bytearray(encode_frame(frame()))
    at = body.index(np.array([0.0, 0.9, 0.0], "<f4").tobytes())
    body[at : at + 4] = np.array([np.nan], "<f4").tobytes()
    with pytest.raises((FrameRejected, ProtocolError)) as refused:
        stream.take(stream.read(bytes(body)), 0)
    assert getattr(refused.value, "reason", None) == "not-finite"


def test_the_first_frame_a_restart_and_a_teleport_are_jumps() -> None:
    stream = announced()

    def jump(message: FrameMessage) -> bool:
        return stream.take(stream.read(encode_frame(message)), message.capture_ns).jump

    assert jump(frame(0))
    assert not jump(frame(1))
    assert jump(frame(2, root=np.array([3.0, 0.9, 0.0])))
    assert not jump(frame(3, root=np.array([3.05, 0.9, 0.0])))
    assert jump(frame(4, run=2, root=np.array([3.05, 0.9, 0.0])))
    assert stream.counts["teleports"] == 1
    assert stream.counts["restarts"] == 1


def test_the_same_skeleton_again_changes_nothing_and_another_one_does() -> None:
    stream = announced()
    assert not stream.announce(encode_skeleton(BODY))
    other = message_from_skeleton(builtin_character("giant"))
    assert stream.announce(encode_skeleton(other))
    assert stream.skeleton_id == other.id
    assert stream.counts["skeleton-changes"] == 1


@given(skeletons())
def test_an_announced_body_is_the_one_that_was_meant(message: SkeletonMessage) -> None:
    body = skeleton_from_message(decode_skeleton(encode_skeleton(message)))
    assert body.names == message.joints
    np.testing.assert_array_equal(body.parents, message.parents)
    np.testing.assert_allclose(body.offsets, message.offsets, rtol=1e-6)
    again = message_from_skeleton(body)
    assert message_from_skeleton(skeleton_from_message(again)).id == again.id


def test_hinges_and_tips_survive_the_wire() -> None:
    door = Skeleton.build(
        [
            Joint("frame", None, tip=(0.0, 2.0, 0.0)),
            Joint("door", "frame", (0.5, 0.0, 0.0), kind="hinge", axis=(0, 1, 0),
                  limits_rad=(-1.0, 2.0)),
        ]
    )  # fmt: skip
    back = skeleton_from_message(decode_skeleton(encode_skeleton(message_from_skeleton(door))))
    np.testing.assert_array_equal(back.kinds, door.kinds)
    np.testing.assert_allclose(back.axes, door.axes)
    np.testing.assert_allclose(back.limits_rad, door.limits_rad)
    np.testing.assert_allclose(back.tips, door.tips)
    np.testing.assert_array_equal(back.has_tip, door.has_tip)


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1))
def test_the_short_way_reads_what_the_codec_reads(run: int, seq: int, capture_ns: int) -> None:
    message = frame(run=run, capture_ns=capture_ns)
    message = replace(message, seq=seq)
    quick = FrameReader(N).read(encode_frame(message))
    slow = FrameReader(N).copy(message)
    for field in ("run", "seq", "capture_ns", "skeleton_id", "rotation_count", "point_count"):
        assert getattr(quick, field) == getattr(slow, field)
    np.testing.assert_array_equal(quick.numbers, slow.numbers)


@given(st.binary(max_size=80))
def test_nothing_but_a_refusal_comes_of_noise(noise: bytes) -> None:
    good = encode_frame(frame())
    for body in (noise, good[: len(noise)] + noise, noise + good):
        with suppress(ProtocolError):
            FrameReader(N).read(body)
