"""Performers and goals on the downlink: shown to those who ask for them, and to nobody else."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import numpy as np
import pytest
import zmq

from support.live import TIMEOUT_S, LivePerformer, Subscriber, sending, serving
from understudy.ingest import skeleton_from_message
from understudy.kinematics import ForwardKinematics
from understudy.runtime.server import Server
from understudy_client import Audience, Seen
from understudy_protocol import FrameMessage, PoseMessage, SkeletonMessage
from understudy_protocol.inspection import GoalsMessage

SESSION = {"performer": "alice", "character": "giant"}


@contextmanager
def show() -> Iterator[tuple[Server, LivePerformer]]:
    with serving(SESSION) as server:
        performer = LivePerformer("alice", server.endpoints.input)
        try:
            yield server, performer
        finally:
            performer.close()


def next_of(kind: type, audience: Audience, performer: LivePerformer) -> Seen:
    """The next message of a kind, while the performer goes on."""
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        seen = audience.receive(0.02)
        if seen is None:
            performer.send(performer.seq % 100)
        elif isinstance(seen.message, kind):
            return seen
    raise AssertionError(f"no {kind.__name__} came")


def wait_until_watched(server: Server, wanted: bool) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        watched = [server.show.performers["alice"].watched, server.show.sessions["giant"].watched]
        if watched == [wanted, wanted]:
            return
        time.sleep(0.01)
    raise AssertionError(f"the performer and the session are watched: {watched}")


def test_an_audience_sees_the_performer_s_skeleton_before_its_frames_as_they_were_sent() -> None:
    with show() as (server, performer), Audience(server.endpoints.output) as audience:
        about_alice: list[Seen] = []
        deadline = time.monotonic() + TIMEOUT_S
        while len(about_alice) < 5 and time.monotonic() < deadline:
            performer.send(performer.seq % 100)
            seen = audience.receive(0.05)
            if seen is not None and seen.of_performer:
                about_alice.append(seen)
        assert {seen.name for seen in about_alice} == {"alice"}
        first = about_alice[0].message
        assert isinstance(first, SkeletonMessage)
        assert first.joints == performer.clip.skeleton.names
        frames = [s.message for s in about_alice if isinstance(s.message, FrameMessage)]
        assert frames
        for frame in frames:
            sent = performer.clip.rotations_xyzw[frame.seq % 100]
            np.testing.assert_array_equal(frame.rotations_xyzw, sent.astype(np.float32))


def test_goals_name_the_body_points_whose_distance_is_the_pose_s_residual() -> None:
    with show() as (server, performer), Audience(server.endpoints.output) as audience:
        poses: dict[int, PoseMessage] = {}
        skeleton: SkeletonMessage | None = None
        goals: GoalsMessage | None = None
        deadline = time.monotonic() + TIMEOUT_S
        while goals is None and time.monotonic() < deadline:
            performer.send(performer.seq % 100)
            seen = audience.receive(0.05)
            if seen is None or seen.of_performer:
                continue
            if isinstance(seen.message, SkeletonMessage):
                skeleton = seen.message
            elif isinstance(seen.message, PoseMessage):
                poses[seen.message.seq] = seen.message
            elif isinstance(seen.message, GoalsMessage) and seen.message.seq in poses:
                goals = seen.message
        assert skeleton is not None
        assert goals is not None
        assert len(goals.joints) == len(skeleton.effectors)
        pose = poses[goals.seq]
        forward = ForwardKinematics(skeleton_from_message(skeleton))
        forward.update(
            np.asarray(pose.root, np.float64), np.asarray(pose.rotations_xyzw, np.float64)
        )
        distances = [
            np.linalg.norm(forward.point(int(joint), np.asarray(point, np.float64)) - goal)
            for joint, point, goal in zip(goals.joints, goals.points, goals.positions, strict=True)
        ]
        # An effector that is held in some coordinates only may be anywhere in the others.
        assert min(distances) <= pose.residual_m + 1e-4


def receive_poses_and_no_frame(server: Server, performer: LivePerformer) -> None:
    """Subscribe to everything; a message that is no skeleton, pose or event cannot be decoded."""
    with (
        closing(Subscriber(server.endpoints.output)) as everything,
        sending(lambda number: performer.send(number % 100)),
    ):
        for _ in range(3):
            everything.pose()


def test_nothing_is_shown_before_somebody_asks_nor_after_they_left() -> None:
    with show() as (server, performer):
        receive_poses_and_no_frame(server, performer)
        with Audience(server.endpoints.output) as audience:
            next_of(FrameMessage, audience, performer)
            wait_until_watched(server, True)
        wait_until_watched(server, False)
        receive_poses_and_no_frame(server, performer)


def test_one_of_two_watchers_may_leave() -> None:
    with show() as (server, performer), Audience(server.endpoints.output) as stays:
        with Audience(server.endpoints.output) as leaves:
            next_of(FrameMessage, stays, performer)
            next_of(FrameMessage, leaves, performer)
        before = performer.seq
        while True:
            frame = next_of(FrameMessage, stays, performer).message
            assert isinstance(frame, FrameMessage)
            if frame.seq > before + 5:
                break


@pytest.mark.parametrize("name", ["alice", "giant"])
def test_a_subscriber_to_a_name_gets_nothing_about_performers(name: str) -> None:
    with show() as (server, performer), Audience(server.endpoints.output) as audience:
        socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        socket.setsockopt(zmq.LINGER, 0)
        socket.setsockopt(zmq.SUBSCRIBE, f"{name}/".encode())
        socket.connect(server.endpoints.output)
        for _ in range(3):
            next_of(FrameMessage, audience, performer)
        topics = set()
        while socket.poll(100):
            topics.add(socket.recv_multipart()[0])
        socket.close()
        assert topics <= {b"giant/skeleton", b"giant/pose", b"giant/event"}
