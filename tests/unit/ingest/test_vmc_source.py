"""A VMC performer's datagrams as frames of its stream."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from support.vmc import APPLY, blend, bone, bones, status, time
from understudy.ingest import PerformerStream
from understudy.ingest.datagrams import SenderClock
from understudy.ingest.vmc_source import VMC_HUMANOID, VmcSource
from understudy_protocol.osc.bones import BONE_NAMES
from understudy_protocol.osc.packet import append_messages

ALICE = ("127.0.0.1", 50001)
BOB = ("127.0.0.1", 50002)
MS = 1_000_000
BODY = [name for name in BONE_NAMES if "Thumb" not in name]


def bundle(messages: Iterable[bytes]) -> bytes:
    datagrams: list[bytes] = []
    append_messages(datagrams, messages, limit=60_000)
    assert len(datagrams) == 1
    return datagrams[0]


def frame(seconds: float, *extra: bytes, hips: tuple[float, float, float] = (0, 1, 0)) -> bytes:
    rest = [message for message in bones(BODY) if b"Hips" not in message]
    return bundle([bone("Hips", hips), *rest, *extra, APPLY, status(1, 3, 0, 1), time(seconds)])


class Stage:
    """A source, its stream, and a clock that moves on by what each frame takes."""

    def __init__(self) -> None:
        self.stream = PerformerStream("alice")
        self.source = VmcSource(self.stream)
        self.now_ns = 10**18

    def send(self, data: bytes, sender: tuple[str, int] = ALICE, after_ms: float = 10.0) -> int:
        """How many frames of the stream a datagram makes."""
        self.now_ns += int(after_ms * MS)
        return self.take(self.source.feed(data, sender, self.now_ns))

    def take(self, readings: Iterable[tuple[object, int]]) -> int:
        count = 0
        for reading in readings:
            self.stream.take(reading.frame, reading.arrival_ns)  # type: ignore[attr-defined]
            count += 1
        return count


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_frames_come_once_the_body_has_settled(stage: Stage) -> None:
    made = [stage.send(frame(0.01 * i)) for i in range(5)]
    assert made == [0, 0, 1, 1, 1]
    assert stage.source.refused == {"no-body": 2}
    assert stage.stream.skeleton is not None
    assert set(stage.stream.skeleton.names) == set(BODY)
    assert stage.stream.counts["accepted"] == 3


def test_a_frame_is_in_our_axes(stage: Stage) -> None:
    quarter = (0.0, np.sqrt(0.5), 0.0, np.sqrt(0.5))
    turned = bundle(
        [bone("Hips", (0.5, 1, 2), quarter), *[m for m in bones(BODY) if b"Hips" not in m], time(1)]
    )
    for _ in range(3):
        stage.send(turned)
    pose = stage.stream.pose
    np.testing.assert_allclose(pose.root, [-0.5, 1, 2])
    np.testing.assert_allclose(
        pose.rotations_xyzw[0], [0, -np.sqrt(0.5), 0, np.sqrt(0.5)], atol=1e-7
    )


def test_every_role_of_a_whole_body_is_named() -> None:
    assert VMC_HUMANOID["leftThumbMetacarpal"] == "LeftThumbProximal"
    assert sorted(VMC_HUMANOID.values()) == sorted(BONE_NAMES)


def test_steps_in_time_follow_the_senders_clock(stage: Stage) -> None:
    for i in range(4):
        stage.send(frame(5.0 + i / 64))
    stage.send(frame(5.0 + 4 / 64), after_ms=23.0)  # the network was slow
    assert stage.stream.pose.dt == pytest.approx(1 / 64)


def test_a_frame_that_no_marker_ends_comes_when_its_deadline_is_over(stage: Stage) -> None:
    for i in range(4):
        stage.send(frame(0.01 * i))
    assert stage.send(bundle(bones(BODY))) == 0
    deadline = stage.source.deadline_ns
    assert deadline is not None
    assert stage.take(stage.source.poll(deadline - 1)) == 0
    assert stage.take(stage.source.poll(deadline)) == 1
    assert stage.source.deadline_ns is None


def test_a_second_sender_waits_until_the_first_is_silent(stage: Stage) -> None:
    for i in range(4):
        stage.send(frame(0.01 * i))
    assert stage.send(frame(9.0), BOB) == 0
    assert stage.source.refused["other-sender"] == 1
    assert stage.send(frame(0.05)) == 1
    assert stage.send(frame(9.1), BOB, after_ms=1500.0) == 1
    assert stage.stream.pose.restarted
    assert stage.send(frame(0.06)) == 0


def test_a_face_may_come_from_anyone(stage: Stage) -> None:
    for i in range(3):
        stage.send(frame(0.01 * i))
    smile = blend("Joy", 0.5)
    assert stage.send(bundle([smile, APPLY]), BOB) == 0
    assert stage.source.take_passed_on() == [smile]
    assert stage.source.take_passed_on() == []
    assert stage.send(frame(0.04)) == 1


def test_messages_to_pass_on_are_ready_with_their_frame(stage: Stage) -> None:
    for i in range(3):
        stage.send(frame(0.01 * i))
    blink = blend("Blink", 1.0)
    readings = stage.source.feed(frame(0.04, blink), ALICE, stage.now_ns + 10 * MS)
    next(readings)
    assert stage.source.take_passed_on() == [blink]


def test_lost_tracking_is_counted(stage: Stage) -> None:
    for _ in range(3):
        stage.send(bundle([*bones(BODY), status(1, 3, 0, 0)]))
    assert stage.source.refused["bad-tracking"] == 3


def test_what_is_no_osc_is_counted_and_nothing_else(stage: Stage) -> None:
    assert stage.send(b"hello") == 0
    assert stage.source.refused == {"not-osc": 1}


class TestSenderClock:
    def test_a_clock_that_steps_is_followed(self) -> None:
        clock = SenderClock()
        first = clock.capture_ns(100.0, 5_000 * MS)
        assert clock.capture_ns(100.25, 5_180 * MS) - first == 250 * MS

    def test_a_clock_that_jumps_or_stands_still_is_not_followed(self) -> None:
        clock = SenderClock()
        clock.capture_ns(100.0, 5_000 * MS)
        assert clock.capture_ns(3.0, 5_010 * MS) == 5_010 * MS
        assert clock.capture_ns(3.0, 5_020 * MS) == 5_020 * MS
        assert clock.capture_ns(900.0, 5_030 * MS) == 5_030 * MS

    def test_the_time_of_day_as_float32_is_no_clock(self) -> None:
        clock = SenderClock()
        clock.capture_ns(1794962176.0, 5_000 * MS)
        assert clock.capture_ns(1794962304.0, 5_010 * MS) == 5_010 * MS

    def test_time_never_stands_still(self) -> None:
        clock = SenderClock()
        times = [clock.capture_ns(None, 5_000 * MS) for _ in range(3)]
        assert np.all(np.diff(times) > 0)
