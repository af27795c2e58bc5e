"""What is encoded is what is decoded, for every kind of message."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from support.messages import contents, events, frames, goals, poses, skeletons
from understudy_protocol import (
    EventMessage,
    FrameMessage,
    GoalMessage,
    PoseMessage,
    SkeletonMessage,
    decode_event,
    decode_frame,
    decode_goal,
    decode_message,
    decode_pose,
    decode_skeleton,
    encode_event,
    encode_frame,
    encode_goal,
    encode_pose,
    encode_skeleton,
    skeleton_id,
    with_skeleton_id,
)


@given(skeletons())
def test_a_skeleton_survives(message: SkeletonMessage) -> None:
    decoded = decode_skeleton(encode_skeleton(message))
    assert contents(decoded) == contents(message)
    assert decoded.parents.dtype == np.int64
    assert decoded.offsets.dtype == np.float64


@given(frames())
def test_a_frame_survives(message: FrameMessage) -> None:
    assert contents(decode_frame(encode_frame(message))) == contents(message)


@given(goals())
def test_a_goal_survives(message: GoalMessage) -> None:
    assert contents(decode_goal(encode_goal(message))) == contents(message)


@given(poses())
def test_a_pose_survives(message: PoseMessage) -> None:
    assert contents(decode_pose(encode_pose(message))) == contents(message)


@given(events)
def test_an_event_survives(message: EventMessage) -> None:
    assert contents(decode_event(encode_event(message))) == contents(message)


@given(frames())
def test_arrays_of_any_layout_and_precision_give_the_same_bytes(message: FrameMessage) -> None:
    wide = np.zeros((len(message.rotations_xyzw), 8))
    wide[:, ::2] = message.rotations_xyzw
    strided = replace(message, root=message.root.astype(np.float64), rotations_xyzw=wide[:, ::2])
    assert encode_frame(strided) == encode_frame(message)


@given(frames())
def test_a_frame_is_read_from_any_buffer(message: FrameMessage) -> None:
    body = encode_frame(message)
    for buffer in (memoryview(body), bytearray(body)):
        assert contents(decode_frame(buffer)) == contents(message)


@given(frames())
def test_numbers_of_numpy_are_as_good_as_those_of_python(message: FrameMessage) -> None:
    numbers: dict[str, Any] = {"run": np.uint32(message.run), "seq": np.uint64(message.seq)}
    assert encode_frame(replace(message, **numbers)) == encode_frame(message)


@given(poses())
def test_the_kind_in_the_topic_chooses_the_decoder(message: PoseMessage) -> None:
    assert contents(decode_message("pose", encode_pose(message))) == contents(message)


@given(skeletons())
def test_the_id_depends_on_the_skeleton_and_not_on_its_present_id(
    message: SkeletonMessage,
) -> None:
    first = skeleton_id(message)
    assert skeleton_id(replace(message, id=message.id ^ 1)) == first
    assert with_skeleton_id(message).id == first
    decoded = decode_skeleton(encode_skeleton(message))
    assert skeleton_id(decoded) == first
    moved = np.array(message.offsets)
    moved[0, 0] = 1.0 if moved[0, 0] != 1.0 else 2.0
    assert skeleton_id(replace(message, offsets=moved)) != first


def test_threads_may_encode_at_the_same_time() -> None:
    def encode(seq: int) -> bool:
        frame = FrameMessage(1, seq, seq, 1, np.full(3, seq), np.full((30, 4), float(seq)))
        decoded = decode_frame(encode_frame(frame))
        return decoded.seq == seq and bool((decoded.rotations_xyzw == seq).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(encode, range(2000)))


def test_decoded_arrays_of_a_frame_cannot_be_written() -> None:
    frame = decode_frame(encode_frame(FrameMessage(1, 0, 0, 1, np.zeros(3), np.ones((1, 4)))))
    for array in (frame.root, frame.rotations_xyzw):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
