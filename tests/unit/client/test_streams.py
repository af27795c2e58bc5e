"""What a performer says and what a character's stream understands, without a socket."""

from __future__ import annotations

import numpy as np
import pytest

from understudy_client import make_skeleton
from understudy_client.streams import CharacterStream, PerformerStream
from understudy_protocol import (
    ANNOUNCE_INTERVAL_NS,
    EventMessage,
    PoseMessage,
    ProtocolError,
    SkeletonMessage,
    decode_frame,
    decode_goal,
    decode_skeleton,
    encode_event,
    encode_pose,
    encode_skeleton,
    skeleton_id,
)

ROOT = np.array([0.0, 1.0, 0.0])
UPRIGHT = np.array([[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]])


def two_joints(length_m: float = 0.5) -> SkeletonMessage:
    return make_skeleton(["hips", "spine"], [-1, 0], [[0.0, 1.0, 0.0], [0.0, length_m, 0.0]])


def pose(skeleton: SkeletonMessage, seq: int = 0) -> PoseMessage:
    return PoseMessage(
        seq=seq,
        skeleton_id=skeleton.id,
        source_seq=seq,
        root=ROOT,
        rotations_xyzw=UPRIGHT,
        angles_rad=None,
        contacts=b"",
        residual_m=0.0,
        status=0,
        capture_ns=1,
        arrival_ns=2,
        publish_ns=3,
    )


def test_a_skeleton_made_of_lists_carries_its_own_id() -> None:
    skeleton = two_joints()
    assert skeleton.id == skeleton_id(skeleton)
    assert skeleton.id != two_joints(0.6).id
    np.testing.assert_array_equal(skeleton.rest_xyzw, UPRIGHT)


def test_a_skeleton_that_is_no_tree_is_refused_by_name() -> None:
    with pytest.raises(ProtocolError, match="'spine'"):
        make_skeleton(["hips", "spine"], [-1, 1], np.zeros((2, 3)))


def test_frames_count_up_within_one_run_and_name_their_skeleton() -> None:
    stream = PerformerStream("anna", two_joints())
    sent = [stream.frame(ROOT, UPRIGHT, None, 100 + i) for i in range(3)]
    frames = [decode_frame(body) for _, body in sent]
    assert [topic for topic, _ in sent] == [b"anna/frame"] * 3
    assert [frame.seq for frame in frames] == [0, 1, 2]
    assert [frame.capture_ns for frame in frames] == [100, 101, 102]
    assert {frame.run for frame in frames} == {frames[0].run}
    assert {frame.skeleton_id for frame in frames} == {stream.skeleton.id}


def test_two_runs_of_a_performer_have_different_numbers() -> None:
    runs = set()
    for _ in range(4):
        _, body = PerformerStream("anna", two_joints()).frame(ROOT, UPRIGHT, None, 0)
        runs.add(decode_frame(body).run)
    assert len(runs) == 4


def test_a_frame_of_another_body_is_refused_and_takes_no_number() -> None:
    stream = PerformerStream("anna", two_joints())
    with pytest.raises(ProtocolError, match=r"shape \(1, 4\); allowed: \(2, 4\)"):
        stream.frame(ROOT, UPRIGHT[:1], None, 0)
    assert stream.frames == 0


def test_a_goal_without_a_position_is_a_release() -> None:
    stream = PerformerStream("anna", two_joints())
    topic, body = stream.goal("giant", "leftHand", [1, 2, 3], None, 0.5, 0.1, 7)
    goal = decode_goal(body)
    assert topic == b"giant/goal"
    assert (goal.seq, goal.weight, goal.release) == (0, 0.5, False)
    assert goal.position is not None
    np.testing.assert_array_equal(goal.position, [1, 2, 3])
    _, body = stream.goal("giant", "leftHand", None, None, 1.0, 0.1, 8)
    released = decode_goal(body)
    assert (released.seq, released.release, released.position) == (1, True, None)


def test_the_skeleton_is_due_at_first_after_the_interval_and_after_a_change() -> None:
    stream = PerformerStream("anna", two_joints())
    assert stream.announcement_due(50)
    stream.announcement(50)
    assert not stream.announcement_due(50 + ANNOUNCE_INTERVAL_NS - 1)
    assert stream.announcement_due(50 + ANNOUNCE_INTERVAL_NS)
    other = two_joints(0.6)
    stream.change_skeleton(other)
    assert stream.announcement_due(51)
    topic, body = stream.announcement(51)
    assert topic == b"anna/skeleton"
    assert decode_skeleton(body).id == other.id


def test_a_pose_is_given_out_only_once_its_skeleton_is_known() -> None:
    skeleton = two_joints()
    stream = CharacterStream("giant", None)
    assert stream.read([b"giant/pose", encode_pose(pose(skeleton))]) is None
    assert stream.skipped == 1
    assert stream.read([b"giant/skeleton", encode_skeleton(skeleton)]) is None
    received = stream.read([b"giant/pose", encode_pose(pose(skeleton, seq=5))])
    assert received is not None
    assert received.seq == 5
    assert stream.skeleton is not None
    assert stream.skeleton.joints == ("hips", "spine")
    assert stream.read([b"giant/pose", encode_pose(pose(two_joints(0.6)))]) is None
    assert stream.skipped == 2


def test_malformed_messages_are_counted_and_the_stream_goes_on() -> None:
    skeleton = two_joints()
    stream = CharacterStream("giant", None)
    for parts in ([b"giant/pose"], [b"giant/pose", b"\xc1"], [b"giant/dance", b"\x80"]):
        assert stream.read(parts) is None
    assert stream.skipped == 3
    stream.read([b"giant/skeleton", encode_skeleton(skeleton)])
    assert stream.read([b"giant/pose", encode_pose(pose(skeleton))]) is not None


def test_events_go_to_the_listener() -> None:
    heard: list[str] = []
    stream = CharacterStream("giant", lambda event: heard.append(event.kind))
    event = EventMessage(kind="stale", text="anna is silent", time_ns=1)
    assert stream.read([b"giant/event", encode_event(event)]) is None
    assert heard == ["stale"]
    assert stream.skipped == 0
