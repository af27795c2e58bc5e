"""The order of frames."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.ingest.sequence import MAX_DT_S, MIN_DT_S, SequenceGate, Step
from understudy.ingest.source import FrameRejected

SECOND = 1_000_000_000
FRAME = SECOND // 100


def take(gate: SequenceGate, run: int, seq: int, capture_ns: int, arrival_ns: int) -> Step:
    gate.check(run, seq, arrival_ns)
    return gate.commit(run, seq, capture_ns, arrival_ns)


def reason(gate: SequenceGate, run: int, seq: int, arrival_ns: int) -> str:
    with pytest.raises(FrameRejected) as refused:
        gate.check(run, seq, arrival_ns)
    return refused.value.reason


def test_frames_in_order_are_taken_with_the_captured_step() -> None:
    gate = SequenceGate()
    take(gate, 1, 0, 0, 0)
    for i in range(1, 10):
        step = take(gate, 1, i, i * FRAME, i * FRAME)
        assert step.dt == pytest.approx(0.01)
        assert (step.lost, step.restarted, step.clock_jumped) == (0, False, False)


def test_duplicate_and_late_frames_are_told_apart() -> None:
    gate = SequenceGate()
    take(gate, 1, 5, 0, 0)
    assert reason(gate, 1, 5, FRAME) == "duplicate"
    assert reason(gate, 1, 4, FRAME) == "late"


def test_a_gap_says_how_many_are_missing() -> None:
    gate = SequenceGate()
    take(gate, 1, 0, 0, 0)
    assert take(gate, 1, 5, 5 * FRAME, 5 * FRAME).lost == 4


def test_a_new_run_is_a_restart_and_the_old_one_is_late() -> None:
    gate = SequenceGate()
    take(gate, 1, 100, 0, 0)
    step = take(gate, 2, 0, 7 * SECOND, FRAME)
    assert step.restarted
    assert step.lost == 0
    assert reason(gate, 1, 101, 2 * FRAME) == "late"


def test_after_silence_any_frame_is_a_new_beginning() -> None:
    gate = SequenceGate()
    take(gate, 1, 100, 0, 0)
    assert take(gate, 1, 0, 0, 2 * SECOND).restarted


def test_captured_time_that_was_set_anew_is_not_believed() -> None:
    gate = SequenceGate()
    take(gate, 1, 0, 0, 0)
    typical = take(gate, 1, 1, FRAME, FRAME).dt
    back = take(gate, 1, 2, -SECOND, 2 * FRAME)
    assert back.clock_jumped
    ahead = take(gate, 1, 3, 100 * SECOND, 3 * FRAME)
    assert ahead.clock_jumped
    assert ahead.dt == pytest.approx(gate.typical_dt)
    assert not take(gate, 1, 4, 100 * SECOND + FRAME, 4 * FRAME).clock_jumped
    assert typical > 0.0


def test_the_typical_step_follows_the_performer() -> None:
    gate = SequenceGate()
    for i in range(200):
        take(gate, 1, i, i * SECOND // 120, i * SECOND // 120)
    assert gate.typical_dt == pytest.approx(1 / 120, rel=1e-3)


@given(
    st.lists(
        st.tuples(
            st.integers(0, 2),
            st.integers(0, 30),
            st.integers(-(10**12), 10**12),
            st.integers(0, 2 * SECOND),
        ),
        max_size=60,
    )
)
def test_whatever_comes_each_run_only_grows_and_steps_stay_sane(
    frames: list[tuple[int, int, int, int]],
) -> None:
    gate = SequenceGate()
    arrival = 0
    newest: tuple[int, int] | None = None
    for run, seq, capture, pause in frames:
        arrival += pause
        try:
            step = take(gate, run, seq, capture, arrival)
        except FrameRejected:
            continue
        assert MIN_DT_S <= step.dt <= MAX_DT_S
        assert step.lost >= 0
        if newest is not None and not step.restarted:
            assert newest[0] == run
            assert seq == newest[1] + step.lost + 1
        newest = (run, seq)
