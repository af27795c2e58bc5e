"""The control channel of a live server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

import understudy
from support.live import ControlClient, LivePerformer, Subscriber, serving
from understudy.runtime.server import Server
from understudy_protocol import GoalMessage, PoseMessage, encode_goal

HERO = {"performer": "alice", "character": "short-legs", "solver": "clik"}


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(HERO, performers={"alice": {"stale_after_s": 20.0}}) as server:
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


def play_until_posed(performer: LivePerformer, control: ControlClient, character: str) -> None:
    before = control.character(character)["poses"]
    while control.character(character)["poses"] == before:
        performer.send(performer.seq % 100)


def stand(performer: LivePerformer, subscriber: Subscriber) -> PoseMessage:
    """The pose after a second in which the performer does not move."""
    for _ in range(120):
        seq = performer.seq
        performer.send(0)
        pose = subscriber.answer(seq)
    return pose


def test_hello_says_who_and_where(server: Server, control: ControlClient) -> None:
    reply = control.ask("hello", v=1, client="test")
    assert reply["version"] == understudy.__version__
    assert (reply["uplink"], reply["downlink"]) == (
        server.endpoints.input,
        server.endpoints.output,
    )
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


def test_list_names_performers_characters_and_sessions(
    control: ControlClient, performer: LivePerformer
) -> None:
    assert control.ask("list")["performers"][0]["state"] == "unknown"
    play_until_posed(performer, control, "short-legs")
    listing = control.ask("list")
    assert listing["performers"] == [
        {
            "name": "alice",
            "state": "live",
            "skeleton": performer.skeleton_id,
            "joints": len(performer.clip.skeleton),
        }
    ]
    assert [c["name"] for c in listing["characters"]] == ["short-legs"]
    session = listing["sessions"][0]
    assert (session["performer"], session["solver"], session["rate_hz"]) == ("alice", "clik", None)
    assert {"copy", "clik"} <= set(listing["solvers"])


def test_a_session_is_opened_and_closed_while_the_performer_plays(
    server: Server, control: ControlClient, performer: LivePerformer
) -> None:
    subscriber = Subscriber(server.endpoints.output, "extra")
    play_until_posed(performer, control, "short-legs")
    reply = control.ask("open", performer="alice", character="extra", rig="giant", solver="copy")
    assert reply["session"]["character"] == "extra"
    play_until_posed(performer, control, "extra")
    assert len(subscriber.skeleton().joints) == len(performer.clip.skeleton)
    assert subscriber.pose().seq >= 0
    taken = control.request("open", performer="alice", character="extra", rig="giant").refusal
    assert taken is not None
    assert taken.reason == "taken"
    control.ask("close", character="extra")
    subscriber.event("closed")
    assert [c["name"] for c in control.ask("list")["characters"]] == ["short-legs"]
    subscriber.close()


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
    refusal = control.request("open", performer="alice", **fields).refusal
    assert refusal is not None
    assert refusal.reason == "bad-value"
    assert words in refusal.text
    assert len(control.ask("list")["sessions"]) == 1


def test_parameters_are_set_live_or_refused(
    control: ControlClient, performer: LivePerformer
) -> None:
    early = control.request("set", character="short-legs", params={"corrections": 2}).refusal
    assert early is not None
    assert early.reason == "not-ready"
    play_until_posed(performer, control, "short-legs")
    assert control.ask("set", character="short-legs", params={"corrections": 2})["params"][
        "corrections"
    ] == pytest.approx(2)
    wrong = control.request("set", character="short-legs", params={"correction": 2}).refusal
    assert wrong is not None
    assert wrong.reason == "bad-value"
    assert "correction" in wrong.text


def test_reset_starts_afresh_and_says_so(
    server: Server, control: ControlClient, performer: LivePerformer
) -> None:
    subscriber = Subscriber(server.endpoints.output, "short-legs")
    subscriber.skeleton()
    play_until_posed(performer, control, "short-legs")
    control.ask("reset", character="short-legs")
    subscriber.event("reset")
    play_until_posed(performer, control, "short-legs")
    subscriber.close()


def test_an_unknown_character_is_named(control: ControlClient) -> None:
    for op in ("close", "reset", "stats"):
        refusal = control.request(op, character="ghost").refusal
        assert refusal is not None
        assert refusal.reason == "unknown-character"
        assert "ghost" in refusal.text


def test_stats_tell_where_the_time_goes(control: ControlClient, performer: LivePerformer) -> None:
    play_until_posed(performer, control, "short-legs")
    stats = control.character("short-legs")
    assert stats["work_us"]["p50"] > 0.0
    assert set(stats["stages_us"]) == {
        "decode", "ingest", "wait", "align", "solve", "condition", "encode", "send",
    }  # fmt: skip
    assert sum(stage["p50"] for stage in stats["stages_us"].values()) > 0.0


def test_a_client_s_goal_pulls_a_hand(
    server: Server, control: ControlClient, performer: LivePerformer
) -> None:
    subscriber = Subscriber(server.endpoints.output, "short-legs")
    play_until_posed(performer, control, "short-legs")
    skeleton = subscriber.skeleton()
    hand = skeleton.effectors[0]
    goal = GoalMessage(1, 1, 0, hand, performer.clip.roots[0] + [0.2, 0.2, 0.3], ease_s=0.0)
    free = stand(performer, subscriber)
    performer.send_raw("goal", encode_goal(goal), about="short-legs")
    pulled = stand(performer, subscriber)
    assert abs(pulled.rotations_xyzw - free.rotations_xyzw).max() > 0.05
    performer.send_raw("goal", encode_goal(goal))
    play_until_posed(performer, control, "short-legs")
    assert control.ask("stats")["refused"] == {"unknown-character": 1}
    subscriber.close()
