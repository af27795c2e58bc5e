"""Sampling a performer's poses between its frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.ingest import SourcePose
from understudy.kinematics import rotations
from understudy.runtime.mailbox import CAPACITY, Mailbox

FRAME = 10_000_000
LATENCY = 3_000_000


def pose(index: int, *, capture_ns: int | None = None, jump: bool = False) -> SourcePose:
    """A body of two joints that turns by 0.1 rad and walks by 1 cm in every frame."""
    capture = index * FRAME if capture_ns is None else capture_ns
    turn = rotations.exp(np.array([[0.0, 0.1 * index, 0.0], [0.05 * index, 0.0, 0.0]]))
    return SourcePose(
        root=np.array([0.01 * index, 1.0, 0.0]),
        rotations_xyzw=turn,
        seq=index,
        capture_ns=capture,
        arrival_ns=capture + LATENCY,
        jump=jump,
    )


def filled(count: int) -> Mailbox:
    mailbox = Mailbox(1, 2)
    for i in range(count):
        mailbox.push(pose(i, jump=i == 0))
    return mailbox


@given(st.floats(3.0, 8.0))
def test_a_sample_lies_on_the_arc_between_its_neighbours(at: float) -> None:
    out = SourcePose.allocate(2)
    sample = filled(10).sample(int(at * FRAME) + LATENCY, out)
    assert sample is not None
    assert sample.shown_ns == pytest.approx(at * FRAME + LATENCY, abs=2)
    np.testing.assert_allclose(out.root, [0.01 * at, 1.0, 0.0], atol=1e-9)
    expected = rotations.exp(np.array([[0.0, 0.1 * at, 0.0], [0.05 * at, 0.0, 0.0]]))
    np.testing.assert_allclose(out.rotations_xyzw, expected, atol=1e-8)
    assert out.seq in (int(np.ceil(at)), int(np.ceil(at)) + 1)


def test_points_are_sampled_between_frames_and_a_gap_stays_one() -> None:
    mailbox = Mailbox(1, 2, 2)
    for i in range(4):
        moving = pose(i, jump=i == 0)
        moving.points = np.array([[0.1 * i, 0.0, 0.0], [np.nan if i == 2 else 1.0] * 3])
        mailbox.push(moving)
    out = SourcePose.allocate(2, 2)
    mailbox.sample(int(0.5 * FRAME) + LATENCY, out)
    np.testing.assert_allclose(out.points, [[0.05, 0.0, 0.0], [1.0, 1.0, 1.0]])
    mailbox.sample(int(1.5 * FRAME) + LATENCY, out)
    np.testing.assert_allclose(out.points, [[0.15, 0.0, 0.0], [np.nan] * 3])


def test_nothing_is_extrapolated() -> None:
    mailbox = filled(2 * CAPACITY)
    out = SourcePose.allocate(2)
    late = mailbox.sample(1000 * FRAME, out)
    assert late is not None
    assert late.shown_ns == (2 * CAPACITY - 1) * FRAME + LATENCY
    np.testing.assert_allclose(out.root[0], 0.01 * (2 * CAPACITY - 1))
    early = mailbox.sample(0, out)
    assert early is not None
    np.testing.assert_allclose(out.root[0], 0.01 * CAPACITY)


def test_an_empty_mailbox_has_nothing_to_show() -> None:
    assert Mailbox(1, 2).sample(0, SourcePose.allocate(2)) is None


def test_nothing_is_interpolated_across_a_break() -> None:
    mailbox = filled(5)
    out = SourcePose.allocate(2)
    before = mailbox.sample(4 * FRAME + LATENCY, out)
    mailbox.push(pose(50, capture_ns=5 * FRAME, jump=True))
    after = mailbox.sample(4 * FRAME + FRAME // 2 + LATENCY, out)
    assert before is not None
    assert after is not None
    assert after.generation != before.generation
    np.testing.assert_allclose(out.root[0], 0.5)


def test_jitter_of_arrival_does_not_shift_the_performer_s_clock() -> None:
    mailbox = Mailbox(1, 2)
    rng = np.random.default_rng(7)
    for i in range(100):
        late = pose(i, jump=i == 0)
        late.arrival_ns += int(rng.integers(0, FRAME)) if i else 0
        mailbox.push(late)
    out = SourcePose.allocate(2)
    sample = mailbox.sample(95 * FRAME + LATENCY, out)
    assert sample is not None
    np.testing.assert_allclose(out.root[0], 0.95, atol=1e-3)


def test_a_pushed_pose_is_copied() -> None:
    mailbox = Mailbox(1, 2)
    source = pose(3, jump=True)
    mailbox.push(source)
    source.root[:] = 99.0
    out = SourcePose.allocate(2)
    mailbox.sample(0, out)
    np.testing.assert_allclose(out.root[0], 0.03)
