"""The control channel of a live server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import pytest

import understudy
from support.live import ControlClient, Subscriber, serving
from support.stage import Stage, staged
from understudy.runtime.server import Server
from understudy_protocol import GoalMessage, PoseMessage, encode_goal

HERO = {"performer": "alice", "character": "short-legs", "solver": "clik"}


@pytest.fixture(scope="module")
def idle() -> Iterator[Server]:
    """A server on which nobody performs; no test of this file changes it."""
    with serving(HERO) as server:
        yield server


@pytest.fixture(scope="module")
def control(idle: Server) -> Iterator[ControlClient]:
    with closing(ControlClient(idle.endpoints.control)) as client:
        yield client


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(HERO) as stage:
        yield stage


def play_until_posed(stage: Stage, character: str = "short-legs") -> None:
    before = stage.control.character(character)["poses"]
    while stage.control.character(character)["poses"] == before:
        stage.performer.send(stage.performer.seq % 100)


def stand(stage: Stage) -> PoseMessage:
    """The pose after a second in which the performer does not move."""
    for _ in range(120):
        pose = stage.show(0)
    return pose


def test_hello_says_who_and_where(idle: Server, control: ControlClient) -> None:
    reply = control.ask("hello", v=1, client="test")
    assert reply["version"] == understudy.__version__
    assert (reply["uplink"], reply["downlink"]) == (idle.endpoints.input, idle.endpoints.output)
    assert set(reply["ops"]) == {
        "hello", "list", "open", "close", "set", "reset", "stats", "time", "calibrate",
        "save",
    }  # fmt: skip


def test_another_version_is_refused(control: ControlClient) -> None:
    reply = control.raw(b"\x83\xa2op\xa5hello\xa2id\x05\xa1v\x02")
    assert reply.id == 5
    assert reply.refusal is not None
    assert reply.refusal.reason == "bad-version"


@pytest.mark.parametrize(
    ("body", "reason"),
    [(b"", "truncated"), (b"\x01", "not-a-map"), (b"\x80", "missing-field")],
)
def test_nonsense_gets_a_refusal(control: ControlClient, body: bytes, reason: str) -> None:
    reply = control.raw(body)
    assert reply.refusal is not None
    assert reply.refusal.reason == reason
    assert control.ask("hello", v=1)["server"] == "understudy"


def test_time_lies_between_request_and_reply(control: ControlClient) -> None:
    reply = control.ask("time", t1=7)
    assert reply["t1"] == 7
    assert reply["t2"] <= reply["t3"]
    assert abs(reply["t3"] - time.time_ns()) < 10**12


def test_list_names_performers_characters_and_sessions(stage: Stage) -> None:
    listing = stage.control.ask("list")
    assert listing["performers"] == [
        {
            "name": "alice",
            "state": "live",
            "skeleton": stage.performer.skeleton_id,
            "joints": len(stage.performer.clip.skeleton),
        }
    ]
    assert [c["name"] for c in listing["characters"]] == ["short-legs"]
    session = listing["sessions"][0]
    assert (session["performer"], session["solver"], session["rate_hz"]) == ("alice", "clik", None)
    assert {"copy", "clik"} <= set(listing["solvers"])


def test_a_performer_of_whom_nothing_came_is_unknown(control: ControlClient) -> None:
    assert control.ask("list")["performers"][0]["state"] == "unknown"


def test_a_session_is_opened_and_closed_while_the_performer_plays(stage: Stage) -> None:
    control = stage.control
    with closing(Subscriber(stage.server.endpoints.output, "extra")) as subscriber:
        opened = control.ask(
            "open", performer="alice", character="extra", rig="giant", solver="copy"
        )
        assert opened["session"]["character"] == "extra"
        play_until_posed(stage, "extra")
        assert len(subscriber.skeleton().joints) == len(stage.performer.clip.skeleton)
        assert subscriber.pose().seq >= 0
        taken = control.refused("open", performer="alice", character="extra", rig="giant")
        assert taken.reason == "taken"
        control.ask("close", character="extra")
        subscriber.event("closed")
    assert [c["name"] for c in control.ask("list")["characters"]] == ["short-legs"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"character": "nobody-knows"}, "nobody-knows"),
        ({"character": "giant", "solver": "magic"}, "magic"),
        ({"character": "giant", "rate_hz": 500}, "500"),
        ({"character": "giant", "solver": "copy", "params": {"speed": 2}}, "speed"),
    ],
)
def test_a_session_that_cannot_be_is_refused_with_the_reason(
    control: ControlClient, fields: dict[str, object], words: str
) -> None:
    refusal = control.refused("open", performer="alice", **fields)
    assert refusal.reason == "bad-value"
    assert words in refusal.text
    assert len(control.ask("list")["sessions"]) == 1


@pytest.mark.parametrize("fields", [{"params": {"corrections": 2}}, {"solver": "ukf"}])
def test_no_solver_is_changed_before_the_performer_is_known(
    control: ControlClient, fields: dict[str, object]
) -> None:
    assert control.refused("set", character="short-legs", **fields).reason == "not-ready"


def test_parameters_are_set_live_or_refused(stage: Stage) -> None:
    assert stage.set(params={"corrections": 2})["params"]["corrections"] == pytest.approx(2)
    wrong = stage.refused(params={"correction": 2})
    assert wrong.reason == "bad-value"
    assert "correction" in wrong.text


def test_reset_starts_afresh_and_says_so(stage: Stage) -> None:
    stage.control.ask("reset", character="short-legs")
    stage.subscriber.event("reset")
    play_until_posed(stage)


@pytest.mark.parametrize("op", ["close", "reset", "stats"])
def test_an_unknown_character_is_named(control: ControlClient, op: str) -> None:
    refusal = control.refused(op, character="ghost")
    assert refusal.reason == "unknown-character"
    assert "ghost" in refusal.text


def test_stats_tell_where_the_time_goes(stage: Stage) -> None:
    stats = stage.control.character("short-legs")
    assert stats["work_us"]["p50"] > 0.0
    assert set(stats["stages_us"]) == {
        "decode", "ingest", "wait", "align", "solve", "condition", "encode", "send",
    }  # fmt: skip
    assert sum(each["p50"] for each in stats["stages_us"].values()) > 0.0


def test_a_client_s_goal_pulls_a_hand(stage: Stage) -> None:
    performer = stage.performer
    hand = stage.skeleton.effectors[0]
    goal = GoalMessage(1, 1, 0, hand, performer.clip.roots[0] + [0.2, 0.2, 0.3], ease_s=0.0)
    free = stand(stage)
    performer.send_raw("goal", encode_goal(goal), about="short-legs")
    pulled = stand(stage)
    assert abs(pulled.rotations_xyzw - free.rotations_xyzw).max() > 0.05
    performer.send_raw("goal", encode_goal(goal))
    play_until_posed(stage)
    assert stage.control.ask("stats")["refused"] == {"unknown-character": 1}
