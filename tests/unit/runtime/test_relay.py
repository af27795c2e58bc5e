"""Relayed frames: the same poses as from room to room, to the bit, whatever happens meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

import numpy as np
import pytest

from understudy.align import Aligner
from understudy.characters import Body, load_clip
from understudy.characters.builtin import builtin_character
from understudy.config import PerformerConfig, SessionConfig, Settings
from understudy.ingest import SourcePose
from understudy.kinematics import FloatArray
from understudy.kinematics.compiled import Call, entry_of, kernel
from understudy.kinematics.tables import matrix, table_at
from understudy.runtime import session as sessions
from understudy.runtime.character import Character
from understudy.runtime.pipeline import build_pipeline
from understudy.runtime.session import TIMED_EVERY, Session
from understudy.runtime.timing import now_ns
from understudy.solvers.copy import Copy
from understudy.transport import PoseOutput
from understudy_protocol import status
from understudy_protocol.messages import GoalMessage
from understudy_protocol.osc.vmc_events import SetPeriod

WALK = load_clip("walk", 120.0)
HERO = builtin_character("short-legs")
SOURCE_ID = 5
FRAMES = 4 * TIMED_EVERY


class Recorder:
    """A sink that remembers every pose."""

    def __init__(self) -> None:
        self.roots: list[FloatArray] = []
        self.rotations: list[FloatArray] = []
        self.flags: list[int] = []

    def send(self, root: FloatArray, rotations_xyzw: FloatArray, flags: int, at_ns: int) -> None:
        self.roots.append(root.copy())
        self.rotations.append(rotations_xyzw.copy())
        self.flags.append(flags)

    def pass_on(self, messages: Sequence[bytes]) -> None:
        raise NotImplementedError

    def set_period(self, period: SetPeriod) -> None:
        raise NotImplementedError

    def close(self) -> None:
        pass


Event = Callable[[Session, SourcePose], object]


class Stage:
    """One session, driven by the walk; `events` happen before the frames they are named by."""

    def __init__(self, output: PoseOutput, solver: str) -> None:
        self.recorder = Recorder()
        self.session = Session(
            SessionConfig("alice", "hero", solver),
            PerformerConfig("alice"),
            Character("hero", Body(HERO)),
            output,
            [self.recorder],
        )
        self.pipeline = build_pipeline(WALK.skeleton, SOURCE_ID, HERO, solver, {}, 0.1)
        self.session.adopt(self.pipeline)
        self.source = SourcePose.allocate(len(WALK.skeleton))

    def play(self, frames: int, events: dict[int, Event]) -> Recorder:
        source = self.source
        for frame in range(frames):
            source.root[:] = WALK.roots[frame]
            source.rotations_xyzw[:] = WALK.rotations_xyzw[frame]
            source.seq, source.dt, source.jump = frame, 1 / 120, frame == 0
            if frame in events:
                events[frame](self.session, source)
            at = now_ns()
            assert self.session.advance(source, SOURCE_ID, at, at, at)
        return self.recorder


@pytest.fixture
def output() -> Iterator[PoseOutput]:
    with closing(PoseOutput("tcp://127.0.0.1:*")) as output:
        yield output


@pytest.fixture
def aligned(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The steps of every frame that goes from room to room."""
    steps: list[float] = []
    align = Aligner.align

    def counting(self: Aligner, root: FloatArray, q: FloatArray, dt: float, jump: bool) -> object:
        steps.append(dt)
        return align(self, root, q, dt, jump)

    monkeypatch.setattr(Aligner, "align", counting)
    return steps


@pytest.mark.parametrize("solver", ["copy", "clik", "ukf", "egik"])
def test_all_but_the_timed_frames_are_relayed(
    output: PoseOutput, aligned: list[float], solver: str
) -> None:
    stage = Stage(output, solver)
    aligned.clear()
    stage.play(FRAMES, {})
    assert len(aligned) == FRAMES // TIMED_EVERY
    assert stage.session.times.count == FRAMES
    assert len(stage.session.times.rows()) == FRAMES // TIMED_EVERY


def _tear(session: Session, source: SourcePose) -> None:
    source.rotations_xyzw[3] = [1.0, 0.0, 0.0, 0.0]


def _jump(session: Session, source: SourcePose) -> None:
    source.jump = True
    source.root[0] += 3.0


def _other_solver(session: Session, source: SourcePose) -> None:
    session.change_solver("copy", {})


EVENTS: dict[str, dict[int, Event]] = {
    "nothing": {},
    "a tear": {21: _tear},
    "a jump": {21: _jump},
    "a parameter": {21: lambda session, _: session.set_parameters({"k1": 0.5})},
    "settings": {
        21: lambda session, _: session.change_settings(Settings(smoothing=0.5)),
        40: lambda session, _: session.change_settings(Settings(stride="performed")),
    },
    "another solver": {21: _other_solver},
    "a reset": {21: lambda session, _: session.reset()},
    "a goal": {
        21: lambda session, _: session.take_goal(
            GoalMessage(1, 1, 0, "rightHand", np.array([0.3, 1.2, 0.4])), now_ns()
        )
    },
    "silence": {21: lambda session, _: session.hold_if_silent(now_ns(), 0)},
}


@pytest.mark.parametrize("happening", EVENTS)
@pytest.mark.parametrize("solver", ["clik", "ukf", "egik"])
def test_a_relayed_pose_is_the_same_to_the_bit(
    output: PoseOutput, monkeypatch: pytest.MonkeyPatch, solver: str, happening: str
) -> None:
    relayed = Stage(output, solver).play(FRAMES, EVENTS[happening])
    monkeypatch.setattr(sessions, "TIMED_EVERY", 1)
    staged = Stage(output, solver).play(FRAMES, EVENTS[happening])
    assert relayed.flags == staged.flags
    np.testing.assert_array_equal(relayed.roots, staged.roots)
    np.testing.assert_array_equal(relayed.rotations, staged.rotations)


@pytest.mark.parametrize("happening", [each for each in EVENTS if each != "nothing"])
def test_what_happens_is_seen_in_the_frame_it_happens_in(
    output: PoseOutput, happening: str
) -> None:
    plain = Stage(output, "clik").play(FRAMES, {})
    other = Stage(output, "clik").play(FRAMES, EVENTS[happening])
    extra = len(other.roots) - FRAMES  # a pose held in silence comes beside the others
    assert any(
        not np.array_equal(a, b)
        for a, b in zip(
            plain.rotations[21:24], other.rotations[21 + extra : 24 + extra], strict=True
        )
    )


@kernel("i8(i8, f8)")
def lose_the_pose(address, dt):  # type: ignore[no-untyped-def]
    """A solver's step that leaves rotations which are none."""
    matrix(table_at(address), 7)[0, 0] = np.nan
    return 0


class Lost(Copy):
    """Copies, but loses the pose wherever it is called by compiled code."""

    @property
    def call(self) -> Call:
        return Call(entry_of(lose_the_pose), self._arrays.address)


def test_an_answer_that_is_not_finite_is_not_published_by_a_relay(output: PoseOutput) -> None:
    stage = Stage(output, "copy")
    stage.pipeline.solver = Lost(HERO, stage.pipeline.solver.effectors)
    recorder = stage.play(3, {})
    assert [bool(flags & status.HELD) for flags in recorder.flags] == [False, True, False]
    np.testing.assert_array_equal(recorder.rotations[1], recorder.rotations[0])
    assert stage.session.counts["held"] == 1
