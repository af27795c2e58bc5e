"""Another solver in the middle of a walk, over real sockets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from support.live import ControlClient, LivePerformer, Subscriber, largest_turn_rad, serving
from understudy.runtime.server import Server
from understudy_protocol import PoseMessage

HERO = {"performer": "alice", "character": "short-legs", "solver": "clik"}
EASE_S = 0.3
BETWEEN = 60  # frames at 120 Hz: more than the easing takes


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(HERO, performers={"alice": {"stale_after_s": 20.0, "ease_s": EASE_S}}) as server:
        yield server


@pytest.fixture
def control(server: Server) -> Iterator[ControlClient]:
    client = ControlClient(server.endpoints.control)
    yield client
    client.close()


@pytest.fixture
def performer(server: Server) -> Iterator[LivePerformer]:
    performer = LivePerformer("alice", server.endpoints.input)
    yield performer
    performer.close()


@pytest.fixture
def subscriber(server: Server) -> Iterator[Subscriber]:
    subscriber = Subscriber(server.endpoints.output, "short-legs")
    subscriber.skeleton()
    yield subscriber
    subscriber.close()


def _begin(performer: LivePerformer, control: ControlClient) -> None:
    while control.character("short-legs")["poses"] == 0:
        performer.send(0)


def _walk(performer: LivePerformer, subscriber: Subscriber, frames: range) -> list[PoseMessage]:
    """The poses of these frames of the clip, each awaited before the next is sent."""
    poses = []
    for frame in frames:
        seq = performer.seq
        performer.send(frame)
        poses.append(subscriber.answer(seq))
    return poses


def _largest_step(poses: list[PoseMessage]) -> float:
    return max(largest_turn_rad(a, b) for a, b in pairwise(poses))


def test_the_solver_changes_in_the_middle_of_a_walk_without_a_jump(
    control: ControlClient, performer: LivePerformer, subscriber: Subscriber
) -> None:
    _begin(performer, control)
    calm = _walk(performer, subscriber, range(4 * BETWEEN))
    poses = calm[-BETWEEN:]
    for part, solver in enumerate(("ukf", "egik", "clik"), 4):
        reply = control.ask("set", character="short-legs", solver=solver)
        assert reply["solver"] == solver
        assert subscriber.event("solver-changed").text == f"the solver is {solver!r}"
        assert control.ask("list")["sessions"][0]["solver"] == solver
        poses += _walk(performer, subscriber, range(part * BETWEEN, (part + 1) * BETWEEN))
    assert _largest_step(poses) < 1.1 * _largest_step(calm)
    assert max(pose.residual_m for pose in poses[-5:]) < 1e-3


def test_a_change_to_copying_leads_there_and_not_at_once(
    control: ControlClient, performer: LivePerformer, subscriber: Subscriber
) -> None:
    _begin(performer, control)
    poses = _walk(performer, subscriber, range(BETWEEN))
    assert control.ask("set", character="short-legs", solver="copy")["params"] == {}
    poses += _walk(performer, subscriber, range(BETWEEN, 2 * BETWEEN))
    assert poses[-1].residual_m > 0.01
    assert _largest_step(poses) < np.radians(6.0)


def test_nothing_can_be_changed_before_the_performer_is_known(control: ControlClient) -> None:
    early = control.request("set", character="short-legs", solver="ukf").refusal
    assert early is not None
    assert early.reason == "not-ready"


def test_a_change_that_cannot_be_is_refused_and_changes_nothing(
    control: ControlClient, performer: LivePerformer, subscriber: Subscriber
) -> None:
    _begin(performer, control)
    for fields, word in (
        ({"solver": "magic"}, "magic"),
        ({"solver": "ukf", "params": {"corrections": 2}}, "corrections"),
    ):
        refusal = control.request("set", character="short-legs", **fields).refusal
        assert refusal is not None
        assert refusal.reason == "bad-value"
        assert word in refusal.text
        assert control.ask("list")["sessions"][0]["solver"] == "clik"
    reply = control.ask("set", character="short-legs", solver="ukf", params={"passes": 4})
    assert reply["params"]["passes"] == 4
    again = control.request("set", character="short-legs", solver="egik").refusal
    assert again is not None
    assert again.reason == "not-ready"
    _walk(performer, subscriber, range(BETWEEN))
    control.ask("set", character="short-legs", solver="egik")
