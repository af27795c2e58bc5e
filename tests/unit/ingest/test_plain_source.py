"""A performer who patches: plain OSC as frames of a stream."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.characters import builtin_clip
from understudy.ingest import PerformerStream
from understudy.ingest.plain_source import PlainSource
from understudy_protocol.osc import PlainEncoder
from understudy_protocol.osc.packet import write_message

CLIP = builtin_clip("wave", 30.0)
BODY = CLIP.skeleton
HERE = ("127.0.0.1", 50001)
MS = 1_000_000


class Stage:
    """A source and its stream; every datagram comes 10 ms after the last."""

    def __init__(self) -> None:
        self.stream = PerformerStream("bob")
        self.source = PlainSource(self.stream)
        self.now_ns = 10**18

    def send(self, data: bytes) -> int:
        self.now_ns += 10 * MS
        count = 0
        for reading in self.source.feed(data, HERE, self.now_ns):
            self.stream.take(reading.frame, reading.arrival_ns)
            count += 1
        return count


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def encoder() -> PlainEncoder:
    return PlainEncoder("bob", BODY.names)


def describe(stage: Stage, encoder: PlainEncoder) -> None:
    for data in encoder.encode_skeleton(BODY.parents.tolist(), BODY.offsets, BODY.rest_xyzw):
        assert stage.send(data) == 0


def frame(encoder: PlainEncoder, number: int, index: int | None = None) -> bytes:
    at = number if index is None else index
    (data,) = encoder.encode(number, CLIP.roots[at], CLIP.rotations_xyzw[at])
    return data


def test_frames_come_once_the_body_is_described(stage: Stage, encoder: PlainEncoder) -> None:
    assert stage.send(frame(encoder, 0)) == 0
    assert stage.source.refused["no-skeleton"] == 1
    describe(stage, encoder)
    assert stage.send(frame(encoder, 1)) == 1
    assert stage.stream.skeleton is not None
    assert stage.stream.skeleton.names == BODY.names
    np.testing.assert_allclose(stage.stream.pose.root, CLIP.roots[1], atol=1e-6)
    np.testing.assert_allclose(stage.stream.pose.rotations_xyzw, CLIP.rotations_xyzw[1], atol=1e-6)


def test_the_same_description_again_is_no_new_body(stage: Stage, encoder: PlainEncoder) -> None:
    describe(stage, encoder)
    stage.send(frame(encoder, 0))
    describe(stage, encoder)
    stage.send(frame(encoder, 1))
    assert stage.stream.counts["skeleton-changes"] == 0


def test_what_a_datagram_leaves_out_stays_as_it_was(stage: Stage, encoder: PlainEncoder) -> None:
    describe(stage, encoder)
    stage.send(frame(encoder, 5))
    turned = (0.0, 0.6, 0.0, 0.8)
    assert stage.send(write_message("/understudy/bob/joint/head", "ffff", *turned)) == 1
    expected = CLIP.rotations_xyzw[5].copy()
    expected[BODY.index("head")] = turned
    np.testing.assert_allclose(stage.stream.pose.rotations_xyzw, expected, atol=1e-6)


def test_lost_frames_are_counted_and_late_ones_left_out(
    stage: Stage, encoder: PlainEncoder
) -> None:
    describe(stage, encoder)
    made = [stage.send(frame(encoder, number)) for number in (3, 4, 7, 6, 8)]
    assert made == [1, 1, 1, 0, 1]
    assert stage.stream.counts["lost"] == 2
    assert stage.source.refused["late"] == 1


def test_numbers_that_start_over_are_a_new_run_only_when_they_were_set_back(
    stage: Stage, encoder: PlainEncoder
) -> None:
    describe(stage, encoder)
    for number in (2**31 - 1, 0, 1):
        assert stage.send(frame(encoder, number, 0)) == 1
    assert stage.stream.counts["restarts"] == 0
    assert stage.send(frame(encoder, 5000, 0)) == 1
    assert stage.send(frame(encoder, 0)) == 1
    assert stage.stream.counts["restarts"] == 1


def test_one_number_for_ever_is_no_standstill(stage: Stage, encoder: PlainEncoder) -> None:
    describe(stage, encoder)
    assert [stage.send(frame(encoder, 1, index)) for index in (0, 1, 2)] == [1, 1, 1]


def test_messages_about_others_are_left_out(stage: Stage, encoder: PlainEncoder) -> None:
    describe(stage, encoder)
    assert stage.send(frame(PlainEncoder("eve", BODY.names), 0)) == 0
    assert stage.source.refused["other-name"] == 1


def test_a_description_that_is_no_tree_is_refused(stage: Stage) -> None:
    pose = (0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 1.0)
    stage.send(write_message("/understudy/bob/skeleton/arm", "sfffffff", "chest", *pose))
    assert stage.send(write_message("/understudy/bob/joint/arm", "ffff", 0.0, 0.0, 0.0, 1.0)) == 0
    assert stage.source.refused["no-body"] == 1
