"""Latency and rates from what arrives."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.monitor.figures import HISTORY_S, Latencies, Rate


def test_percentiles_are_of_the_last_two_seconds() -> None:
    latencies = Latencies()
    for k in range(100):
        latencies.record(k * 0.01, 50.0)
    for k in range(200):
        latencies.record(10.0 + k * 0.01, float(k % 100))
    now = latencies.now(12.0)
    assert now is not None
    assert now.p50 == pytest.approx(49.5)
    assert now.p99 == pytest.approx(np.percentile(np.arange(100), 99), abs=1.0)


def test_nothing_is_said_about_a_stream_that_ended() -> None:
    latencies = Latencies()
    assert latencies.now(0.0) is None
    latencies.record(1.0, 3.0)
    assert latencies.now(5.0) is None


def test_the_past_is_kept_second_by_second_and_no_longer_than_it_is_shown() -> None:
    latencies = Latencies()
    for k in range(10 * (HISTORY_S + 60)):
        latencies.record(k * 0.1, 1.0 + (k // 10) % 2)
    end = (HISTORY_S + 60) * 1.0
    ages, p50, p99 = latencies.history(end)
    assert len(ages) == len(p50) == len(p99)
    assert HISTORY_S - 5 <= len(ages) <= HISTORY_S
    assert (np.diff(ages) > 0.0).all()
    assert ages[0] >= -HISTORY_S
    assert set(p50.tolist()) <= {1.0, 2.0}


def test_a_rate_is_that_of_the_last_two_seconds() -> None:
    rate = Rate()
    for k in range(300):
        rate.record(k / 60.0)
    assert rate.now(5.0) == pytest.approx(60.0, rel=0.01)
    assert rate.now(20.0) == 0.0
