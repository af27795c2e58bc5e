"""How even an output clock is, from the moments at which poses left."""

from __future__ import annotations

import numpy as np

from understudy_bench.clocked import clock_cell


def test_a_perfect_clock_has_no_jitter() -> None:
    cell = clock_cell(100.0, np.arange(50, dtype=np.int64) * 10_000_000)
    assert (cell.poses, cell.skipped) == (50, 0)
    assert cell.jitter_max_us == 0.0


def test_a_pose_that_leaves_late_strays_twice() -> None:
    left = np.arange(50, dtype=np.int64) * 10_000_000
    left[20] += 300_000
    cell = clock_cell(100.0, left)
    assert cell.skipped == 0
    assert cell.jitter_p50_us == 0.0
    assert cell.jitter_max_us == 300.0


def test_ticks_left_out_are_counted_and_are_no_jitter() -> None:
    left = np.delete(np.arange(50, dtype=np.int64) * 10_000_000, [10, 11, 30])
    cell = clock_cell(100.0, left)
    assert (cell.poses, cell.skipped) == (47, 3)
    assert cell.jitter_max_us == 0.0


def test_too_few_poses_say_nothing() -> None:
    assert clock_cell(60.0, np.zeros(1, np.int64)).jitter_p99_us == 0.0
