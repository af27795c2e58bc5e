"""Subscribers that come, go and sleep while a server publishes."""

from __future__ import annotations

import itertools
from contextlib import closing

import zmq

from support.live import TIMEOUT_S, Subscriber, playing, serving
from understudy_protocol import PoseMessage, SkeletonMessage

HERO = {"performer": "alice", "character": "short-legs", "solver": "copy"}
GIANT = {"performer": "alice", "character": "giant", "solver": "copy"}


def test_new_subscribers_have_the_skeleton_before_their_first_pose() -> None:
    with serving(HERO, GIANT) as server, playing(server, 1000.0):
        with closing(Subscriber(server.endpoints.output)) as first:
            first.pose()  # poses are flowing
        for i in range(100):
            name = ("short-legs", "giant", None)[i % 3]
            subscriber = Subscriber(server.endpoints.output, name)
            known: dict[str, int] = {}
            for _ in range(6):
                about, message = subscriber.receive()
                if isinstance(message, SkeletonMessage):
                    known[about] = message.id
                elif isinstance(message, PoseMessage):
                    assert known.get(about) == message.skeleton_id
            assert set(known) == ({name} if name else {"short-legs", "giant"})
            subscriber.close()


def test_a_sleeping_subscriber_loses_frames_and_slows_nobody_down() -> None:
    with serving(HERO) as server, playing(server, 2000.0):
        sleeper: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.SUB)
        sleeper.setsockopt(zmq.LINGER, 0)
        sleeper.setsockopt(zmq.RCVHWM, 1)
        sleeper.setsockopt(zmq.RCVBUF, 4096)
        sleeper.setsockopt(zmq.RCVTIMEO, int(TIMEOUT_S * 1e3))
        sleeper.setsockopt(zmq.SUBSCRIBE, b"short-legs/pose")
        sleeper.connect(server.endpoints.output)
        sleeper.recv_multipart()
        awake = Subscriber(server.endpoints.output, "short-legs")
        # Everything published while the other sleeps arrives here, one after the other.
        poses = [awake.pose() for _ in range(1500)]
        assert all(b.seq == a.seq + 1 for a, b in itertools.pairwise(poses))
        waiting = 0
        while sleeper.poll(0):
            sleeper.recv_multipart()
            waiting += 1
        assert waiting < len(poses) // 2
        sleeper.close()
        awake.close()


def test_the_end_of_a_show_is_told_while_frames_pour_in() -> None:
    with serving(HERO) as server, closing(Subscriber(server.endpoints.output)) as subscriber:
        with playing(server, 1000.0):
            subscriber.pose()
            server.stop()
        assert subscriber.event("closed").data["performer"] == "alice"
