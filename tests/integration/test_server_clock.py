"""Sessions whose output runs on a clock of its own."""

from __future__ import annotations

import itertools
import threading
import time

import pytest

from support.live import LivePerformer, Subscriber, largest_turn_rad, root_step_m, serving
from understudy.runtime.server import Server
from understudy_protocol import PoseMessage, status


def send_in_real_time(server: Server, frames: int) -> None:
    """A performer at 60 Hz that keeps to absolute times."""
    performer = LivePerformer("alice", server.endpoints.input)
    start = time.perf_counter()
    pause = threading.Event()
    for i in range(frames):
        pause.wait(max(0.0, start + i / 60.0 - time.perf_counter()))
        performer.send(2 * i, capture_ns=int(i * 1e9 / 60.0))
    performer.close()


@pytest.mark.parametrize("rate_hz", [30, 90, 120])
def test_poses_come_at_the_clock_s_rate_with_their_delay_stated(rate_hz: int) -> None:
    session = {
        "performer": "alice",
        "character": "short-legs",
        "solver": "copy",
        "rate_hz": rate_hz,
    }
    with serving(session, performers={"alice": {"stale_after_s": 5.0}}) as server:
        subscriber = Subscriber(server.endpoints.output, "short-legs")
        subscriber.skeleton()
        player = threading.Thread(target=send_in_real_time, args=(server, 120))
        player.start()
        first = subscriber.pose()
        poses = [subscriber.pose() for _ in range(rate_hz)]
        player.join()
        subscriber.close()
    elapsed_s = (poses[-1].publish_ns - first.publish_ns) * 1e-9
    # One second's worth: no more than the clock allows; fewer only if the machine is starved.
    assert elapsed_s > 0.97
    assert all(pose.delay_ns > 0 for pose in poses)
    assert all(b.seq == a.seq + 1 for a, b in itertools.pairwise(poses))
    # The clock shows instants between the frames: poses differ although sources repeat.
    assert len({pose.root.tobytes() for pose in poses}) > 0.6 * len(poses)


def test_a_clocked_character_holds_while_its_performer_is_silent_and_eases_back() -> None:
    session = {"performer": "alice", "character": "short-legs", "solver": "copy", "rate_hz": 60}
    with serving(session) as server:
        subscriber = Subscriber(server.endpoints.output, "short-legs")
        subscriber.skeleton()
        performer = LivePerformer("alice", server.endpoints.input)
        poses: list[PoseMessage] = []

        def send_until(index: int, wanted: int, unwanted: int = 0) -> None:
            while True:
                performer.send(index, capture_ns=time.perf_counter_ns())
                pose = subscriber.pose()
                poses.append(pose)
                if (pose.status & wanted or not wanted) and not pose.status & unwanted:
                    return

        send_until(0, wanted=0)
        poses.append(subscriber.pose(lambda pose: bool(pose.status & status.STALE)))
        del poses[:-1]
        send_until(200, wanted=status.RECOVERING)
        send_until(200, wanted=0, unwanted=status.RECOVERING | status.STALE)
        steps = list(itertools.pairwise(poses))
        assert max(largest_turn_rad(a, b) for a, b in steps) < 0.25
        assert max(root_step_m(a, b) for a, b in steps) < 0.25
        assert root_step_m(poses[0], poses[-1]) > 0.1
        performer.close()
        subscriber.close()
