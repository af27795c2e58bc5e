"""Stage times in constant memory."""

from __future__ import annotations

import time

import numpy as np
import pytest

from understudy.runtime.timing import MARKS, STAGES, StageTimes, now_ns, wall_ns


def test_the_newest_frames_are_kept_oldest_first() -> None:
    times = StageTimes(rows=4)
    for i in range(10):
        times.record(*range(i, i + len(MARKS)))
    assert times.count == 10
    np.testing.assert_array_equal(times.rows()[:, 0], [6, 7, 8, 9])


def test_the_summary_names_every_stage_and_their_total() -> None:
    times = StageTimes()
    assert times.summary_us() == {}
    for _ in range(5):
        times.record(*(i * i * 1000 for i in range(len(MARKS))))
    summary = times.summary_us()
    assert set(summary) == {*STAGES, "total"}
    assert summary["total"]["p50"] == pytest.approx((len(MARKS) - 1) ** 2)
    assert summary[STAGES[-1]]["max"] == pytest.approx(2 * len(STAGES) - 1)


def test_frames_that_were_not_timed_count_in_the_total() -> None:
    times = StageTimes(capacity=4)
    times.record(*(1000 * i for i in range(len(MARKS))))
    for total in (3000, 4000, 5000, 90000):
        times.add(total)
    assert times.count == 5
    assert len(times.rows()) == 1
    summary = times.summary_us()
    assert summary["total"]["p50"] == pytest.approx(4.5)
    assert summary["total"]["max"] == pytest.approx(90.0)
    assert summary["decode"]["max"] == pytest.approx(1.0)


def test_the_server_s_clock_is_the_time_of_day_and_never_runs_back() -> None:
    readings = [wall_ns(now_ns()) for _ in range(1000)]
    assert readings == sorted(readings)
    assert abs(readings[-1] - time.time_ns()) < 60 * 10**9
