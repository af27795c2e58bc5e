"""What a stream meter tells about streams whose rate, latency and losses are known."""

from __future__ import annotations

import json

import numpy as np
import pytest

from understudy.commands.meters import StreamMeter
from understudy_protocol import PoseMessage
from understudy_protocol.status import LIMITED, STALE

PERIOD_NS = 10_000_000


def pose(seq: int, status: int = 0, residual_m: float = 0.0) -> PoseMessage:
    return PoseMessage(
        seq=seq,
        skeleton_id=0,
        source_seq=seq,
        root=np.zeros(3),
        rotations_xyzw=np.array([[0.0, 0.0, 0.0, 1.0]]),
        angles_rad=None,
        contacts=b"",
        residual_m=residual_m,
        status=status,
        capture_ns=0,
        arrival_ns=0,
        publish_ns=0,
    )


def test_an_even_stream_is_measured_as_it_is() -> None:
    meter = StreamMeter("giant")
    for seq in range(101):
        meter.record(pose(seq, residual_m=0.002), seq * PERIOD_NS, 1_500_000)
    reading = meter.read(100 * PERIOD_NS)
    assert reading.rate_hz == pytest.approx(100.0)
    assert (reading.poses, reading.lost) == (101, 0)
    assert reading.latency_p50_ms == pytest.approx(1.5)
    assert reading.latency_p99_ms == pytest.approx(1.5)
    assert reading.error_mean_mm == pytest.approx(2.0)
    assert reading.error_max_mm == pytest.approx(2.0)


def test_gaps_are_lost_poses_and_a_fresh_start_is_none() -> None:
    meter = StreamMeter("giant")
    for time, seq in enumerate((0, 1, 5, 6, 0, 1, 3)):
        meter.record(pose(seq), time * PERIOD_NS, 0)
    assert meter.read(0).lost == 3 + 1


def test_held_poses_count_for_the_rate_and_not_for_the_latency() -> None:
    meter = StreamMeter("giant")
    meter.record(pose(0), 0, 1_000_000)
    for seq in range(1, 50):
        meter.record(pose(seq, STALE), seq * PERIOD_NS, seq * PERIOD_NS)
    reading = meter.read(50 * PERIOD_NS)
    assert reading.latency_p99_ms == pytest.approx(1.0)
    assert reading.rate_hz == pytest.approx(100.0)
    assert reading.status == ("stale",)


def test_a_stream_that_has_ended_has_no_rate() -> None:
    meter = StreamMeter("giant")
    for seq in range(10):
        meter.record(pose(seq), seq * PERIOD_NS, 0)
    assert meter.read(10 * PERIOD_NS + 3_000_000_000).rate_hz == 0.0


def test_before_the_first_pose_there_is_nothing_to_tell() -> None:
    reading = StreamMeter("giant").read(0)
    assert (reading.rate_hz, reading.latency_p50_ms, reading.error_max_mm) == (0.0, None, None)


def test_only_the_newest_poses_are_remembered() -> None:
    meter = StreamMeter("giant")
    for seq in range(20_000):
        latency_ns = 50_000_000 if seq < 10_000 else 1_000_000
        meter.record(pose(seq), seq * PERIOD_NS, latency_ns)
    reading = meter.read(20_000 * PERIOD_NS)
    assert reading.poses == 20_000
    assert reading.latency_p99_ms == pytest.approx(1.0)
    assert reading.rate_hz == pytest.approx(100.0)


def test_a_reading_can_be_written_as_json() -> None:
    meter = StreamMeter("giant")
    meter.record(pose(7, LIMITED), 0, 1_234_567)
    written = json.loads(json.dumps(meter.read(0).to_json()))
    assert written["character"] == "giant"
    assert written["latency_p50_ms"] == 1.235
    assert written["status"] == ["limited"]
