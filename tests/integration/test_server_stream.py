"""A live server and what a network and a performer can do to a stream."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from support.live import LivePerformer, Subscriber, largest_turn_rad, root_step_m, serving
from support.stage import Stage, staged
from understudy.characters import Clip
from understudy.characters.library import load_clip
from understudy.kinematics import Joint, Skeleton
from understudy_protocol import PoseMessage, status

HERO = {"performer": "alice", "character": "short-legs", "solver": "copy"}


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(HERO) as stage:
        stage.show(0)
        yield stage


def counts(stage: Stage) -> dict[str, Any]:
    return stage.control.performer("alice")


def test_every_frame_becomes_a_pose_in_order(stage: Stage) -> None:
    first = stage.performer.seq
    poses = [stage.show(i) for i in range(30)]
    assert [pose.source_seq for pose in poses] == list(range(first, first + 30))
    assert all(b.seq == a.seq + 1 for a, b in itertools.pairwise(poses))
    assert all(pose.arrival_ns <= pose.publish_ns for pose in poses)
    assert {pose.status & ~(status.LIMITED | status.OUT_OF_REACH) for pose in poses} == {0}


def test_a_duplicate_is_dropped_and_counted(stage: Stage) -> None:
    stage.show(1)
    stage.performer.send(1, seq=stage.performer.seq - 1)
    pose = stage.show(2)
    assert counts(stage)["duplicate"] == 1
    assert pose.source_seq == stage.performer.seq - 1


def test_a_late_frame_is_dropped_and_counted(stage: Stage) -> None:
    newest = stage.performer.seq + 2
    stage.performer.send(3, seq=newest)
    stage.performer.send(2, seq=newest - 1)
    stage.performer.seq = newest + 1
    stage.show(4)
    counted = counts(stage)
    assert (counted["late"], counted["gaps"], counted["lost"]) == (1, 1, 2)


def test_a_gap_is_counted_and_the_stream_goes_on(stage: Stage) -> None:
    stage.performer.seq += 7
    stage.show(8)
    counted = counts(stage)
    assert (counted["gaps"], counted["lost"]) == (1, 7)


def test_a_restart_is_followed_without_a_jump(stage: Stage) -> None:
    for i in range(20):
        before = stage.show(i)
    stage.performer.run = 2
    stage.performer.seq = 0
    after = stage.show(200)
    assert counts(stage)["restarts"] == 1
    assert after.status & status.RECOVERING
    assert largest_turn_rad(before, after) < 0.1
    assert root_step_m(before, after) < 0.1
    assert stage.subscriber.event("restarted").data["performer"] == "alice"
    stage.performer.send(5, run=1, seq=99)
    stage.performer.run, stage.performer.seq = 2, 1
    stage.show(201)
    assert counts(stage)["late"] == 1


def test_a_teleport_is_eased_over(stage: Stage) -> None:
    before = stage.show(0)
    root = stage.performer.clip.roots[1] + np.array([5.0, 0.0, 0.0])
    after = stage.show(1, root=root)
    assert after.status & status.RECOVERING
    assert root_step_m(before, after) < 0.1
    assert counts(stage)["teleports"] == 1


def test_captured_time_that_runs_backwards_is_counted(stage: Stage) -> None:
    stage.performer.send(1, capture_ns=stage.performer.capture_ns - 10**12)
    stage.show(2)
    assert counts(stage)["clock_jumps"] == 1


def test_bad_frames_are_counted_by_reason_and_the_stream_goes_on(stage: Stage) -> None:
    bent = stage.performer.clip.rotations_xyzw[1] * 1.5
    stage.performer.send(1, rotations_xyzw=bent)
    stage.performer.send(1, rotations_xyzw=stage.performer.clip.rotations_xyzw[1, :3])
    stage.performer.send(1, points=np.zeros((2, 3)))
    stage.performer.send(1, skeleton_id=stage.performer.skeleton_id ^ 1)
    stage.performer.send_raw("frame", b"\x81")
    stage.performer.send_raw("nonsense", b"\x80")
    stage.show(2)
    assert counts(stage)["refused"] == {
        "not-unit": 1,
        "joint-count": 1,
        "marker-count": 1,
        "other-skeleton": 1,
        "truncated": 1,
    }
    assert stage.control.ask("stats")["refused"] == {"unknown-kind": 1}


def test_a_silent_performer_s_character_holds_and_eases_back() -> None:
    with staged(HERO, stale_after_s=0.5) as stage:
        for i in range(30):
            before = stage.show(i)
        held = stage.subscriber.pose(lambda pose: bool(pose.status & status.STALE))
        assert largest_turn_rad(before, held) == 0.0
        assert stage.subscriber.event("stale").data["performer"] == "alice"
        poses = [held]
        for i in range(300, 380):
            poses.append(stage.show(i))
        steps = list(itertools.pairwise(poses))
        assert max(largest_turn_rad(a, b) for a, b in steps) < 0.2
        assert max(root_step_m(a, b) for a, b in steps) < 0.2
        assert poses[1].status & status.RECOVERING
        assert not poses[-1].status & (status.RECOVERING | status.STALE)
        assert stage.subscriber.event("recovered").data["performer"] == "alice"


def taller(skeleton: Skeleton, factor: float) -> Skeleton:
    joints = [
        Joint(j.name, j.parent, np.asarray(j.offset) * factor, j.rest_xyzw, j.kind, tip=j.tip)
        for j in skeleton.joints()
    ]
    return Skeleton.build(joints)


def test_a_skeleton_that_changes_in_mid_stream_is_followed_without_a_jump(stage: Stage) -> None:
    for i in range(20):
        before = stage.show(i)
    performer = stage.performer
    clip = performer.clip
    performer.clip = Clip(
        clip.name, taller(clip.skeleton, 1.2), clip.rate_hz, clip.roots * 1.2, clip.rotations_xyzw
    )
    performer.announce(performer.clip.skeleton)
    dropped = stage.control.character("short-legs")["dropped"]
    performer.send(20)
    stage.subscriber.event("skeleton-changed")
    after = stage.show(21)
    assert counts(stage)["skeleton_changes"] == 1
    assert stage.control.character("short-legs")["dropped"] >= dropped
    assert after.status & status.RECOVERING
    assert largest_turn_rad(before, after) < 0.1
    assert root_step_m(before, after) < 0.1
    for i in range(22, 80):
        last = stage.show(i)
    assert not last.status & status.RECOVERING


def test_a_skeleton_that_cannot_drive_the_character_is_told(stage: Stage) -> None:
    stage.performer.announce(Skeleton.build([Joint("stick", None), Joint("end", "stick")]))
    assert stage.subscriber.event("refused").text
    assert stage.control.character("short-legs")["problem"]


def test_several_performers_and_characters_run_at_once() -> None:
    sessions = (
        HERO,
        {"performer": "alice", "character": "big", "solver": "clik"},
        {"performer": "bob", "character": "giant", "solver": "copy"},
    )
    with serving(*sessions, characters={"big": {"rig": "giant"}}) as server:
        subscriber = Subscriber(server.endpoints.output)
        subscriber.skeleton()
        alice = LivePerformer("alice", server.endpoints.input)
        bob = LivePerformer("bob", server.endpoints.input, load_clip("bat-swing", 60.0))
        seen: set[str] = set()
        index = 0
        while seen != {"short-legs", "big", "giant"}:
            alice.send(index % 100)
            bob.send(index % 50)
            index += 1
            name, message = subscriber.receive()
            if isinstance(message, PoseMessage):
                seen.add(name)
        for socket in (subscriber, alice, bob):
            socket.close()
