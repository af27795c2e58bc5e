"""One session without a server: what becomes of a frame, a broken solver, and memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
import zmq

from support.audience import open_output, subscribed
from understudy.characters import Body
from understudy.characters.builtin import builtin_character
from understudy.config import PerformerConfig, SessionConfig
from understudy.ingest import SourcePose
from understudy.kinematics import Pose, Skeleton
from understudy.kinematics.tasks import Effector, Targets
from understudy.runtime.character import Character
from understudy.runtime.pipeline import build_pipeline
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns
from understudy.solvers.base import ParameterValue, Solution
from understudy.transport import PoseOutput
from understudy_protocol import PoseMessage, decode_pose, status

ACTOR = builtin_character("actor")
SOURCE_ID = 77


class FragileSolver:
    """Copies the targets; answers with NaN whenever `broken` is set."""

    call = None

    def __init__(self, skeleton: Skeleton, effectors: tuple[Effector, ...]) -> None:
        self.skeleton = skeleton
        self.effectors = effectors
        self.broken = False
        self.starts: list[Pose | None] = []

    def reset(self, pose: Pose | None = None) -> None:
        self.starts.append(pose)

    def step(self, targets: Targets, dt: float) -> Solution:
        root = targets.root * (np.nan if self.broken else 1.0)
        return Solution(root, targets.rotations_xyzw.copy(), np.zeros(len(self.effectors)))

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> None:
        pass

    def parameters(self) -> dict[str, ParameterValue]:
        return {}


class Bench:
    """A session and a subscriber of its output."""

    def __init__(
        self, output: PoseOutput, subscriber: zmq.Socket[bytes], solver: str = "clik"
    ) -> None:
        self.output, self.subscriber = output, subscriber
        character = Character("hero", Body(builtin_character("short-legs")))
        config = SessionConfig("alice", "hero")
        self.session = Session(config, PerformerConfig("alice"), character, self.output)
        self.pipeline = build_pipeline(ACTOR, SOURCE_ID, character.skeleton, solver, {}, 0.3)
        self.source = SourcePose.allocate(len(ACTOR))
        rest = ACTOR.rest_pose()
        self.source.root[:] = rest.root
        self.source.rotations_xyzw[:] = rest.rotations_xyzw
        self.source.dt = 1 / 60

    def advance(self) -> bool:
        now = now_ns()
        self.source.jump = False
        return self.session.advance(self.source, SOURCE_ID, now, now, now)

    def pose(self) -> PoseMessage:
        return decode_pose(self.subscriber.recv_multipart()[1])


@pytest.fixture
def bench() -> Iterator[Bench]:
    with (
        open_output() as (output, changes),
        subscribed(output.endpoint, b"hero/pose") as subscriber,
    ):
        changes.wait_for_one()
        yield Bench(output, subscriber)


def test_frames_wait_until_the_performer_is_known(bench: Bench) -> None:
    assert not bench.advance()
    bench.session.adopt(bench.pipeline)
    assert bench.advance()
    assert bench.session.counts["dropped"] == 1
    assert bench.pose().seq == 0


def test_frames_of_another_skeleton_are_dropped(bench: Bench) -> None:
    bench.session.adopt(bench.pipeline)
    now = now_ns()
    assert not bench.session.advance(bench.source, SOURCE_ID + 1, now, now, now)


def test_a_result_that_is_not_finite_is_never_published(bench: Bench) -> None:
    solver = FragileSolver(bench.pipeline.solver.skeleton, bench.pipeline.solver.effectors)
    bench.pipeline.solver = solver
    bench.session.adopt(bench.pipeline)
    bench.advance()
    good = bench.pose()
    solver.broken = True
    bench.source.root[:] += 0.01
    bench.advance()
    held = bench.pose()
    assert held.status & status.HELD
    np.testing.assert_array_equal(held.root, good.root)
    np.testing.assert_array_equal(held.rotations_xyzw, good.rotations_xyzw)
    assert bench.session.counts["held"] == 1
    start = solver.starts[-1]
    assert start is not None
    np.testing.assert_allclose(start.root, good.root, atol=1e-6)
    solver.broken = False
    bench.advance()
    assert not bench.pose().status & status.HELD


def test_a_closed_session_publishes_nothing(bench: Bench) -> None:
    bench.session.adopt(bench.pipeline)
    bench.advance()
    bench.pose()
    bench.session.close()
    assert not bench.advance()
    assert bench.session.hold_if_silent(now_ns(), 0)
    bench.subscriber.setsockopt(zmq.RCVTIMEO, 0)
    with pytest.raises(zmq.Again):
        bench.pose()


def test_memory_stays_the_same_however_many_frames_come(bench: Bench) -> None:
    bench.session.adopt(bench.pipeline)

    def run(frames: int) -> None:
        for _ in range(frames):
            bench.advance()
            bench.subscriber.recv_multipart()

    run(200)
    tracemalloc.start()
    run(50)
    before = tracemalloc.get_traced_memory()[0]
    run(1000)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 4096
