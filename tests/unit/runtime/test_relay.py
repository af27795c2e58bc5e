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
from understudy.solvers._kernels.copying import ROTATIONS
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
        """They are no poses."""

    def set_period(self, period: SetPeriod) -> None:
        """Every pose is remembered."""

    def close(self) -> None:
        """Nothing is open."""


Event = Callable[[Session, SourcePose], object]


def assert_same(relayed: Recorder, staged: Recorder) -> None:
    assert relayed.flags == staged.flags
    np.testing.assert_array_equal(relayed.roots, staged.roots)
    np.testing.assert_array_equal(relayed.rotations, staged.rotations)


def show(source: SourcePose, frame: int) -> None:
    """Let the performer be where the walk has them in a frame."""
    source.root[:] = WALK.roots[frame]
    source.rotations_xyzw[:] = WALK.rotations_xyzw[frame]
    source.seq, source.dt, source.jump = frame, 1 / 120, frame == 0


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

    def play(self, frames: int, events: dict[int, Event], renewed_at: int = -1) -> Recorder:
        for frame in range(frames):
            if frame in (0, renewed_at):
                source = SourcePose.allocate(len(WALK.skeleton))
            show(source, frame)
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
    stage.play(1 + FRAMES, {})  # the first has nothing to go on from
    timed = len(aligned) - 1
    assert timed in (FRAMES // TIMED_EVERY, FRAMES // TIMED_EVERY - 1)
    assert stage.session.times.count == 1 + FRAMES
    assert len(stage.session.times.rows()) == 1 + timed


def _tear(session: Session, source: SourcePose) -> None:
    source.rotations_xyzw[3] = [1.0, 0.0, 0.0, 0.0]


def _jump(session: Session, source: SourcePose) -> None:
    source.jump = True
    source.root[0] += 3.0


def _other_solver(session: Session, source: SourcePose) -> None:
    session.change_solver("ukf" if session.config.solver == "copy" else "copy", {})


def _other_pipeline(session: Session, source: SourcePose) -> None:
    solver = session.config.solver
    session.adopt(
        build_pipeline(WALK.skeleton, SOURCE_ID, HERO, solver, {}, 0.1, hand_contacts=True)
    )


def _parameter(session: Session, source: SourcePose) -> None:
    if session.config.solver != "copy":  # which has none
        session.set_parameters({"max_joint_lead": 0.5})


EVENTS: dict[str, dict[int, Event]] = {
    "nothing": {},
    "a tear": {21: _tear},
    "a jump": {21: _jump},
    "a parameter": {21: _parameter},
    "settings": {
        21: lambda session, _: session.change_settings(Settings(smoothing=0.5)),
        40: lambda session, _: session.change_settings(Settings(stride="performed")),
    },
    "another solver": {21: _other_solver},
    "another pipeline": {21: _other_pipeline},
    "a reset": {21: lambda session, _: session.reset()},
    "a goal": {
        21: lambda session, _: session.take_goal(
            GoalMessage(1, 1, 0, "rightHand", np.array([0.3, 1.2, 0.4])), now_ns()
        )
    },
    "silence": {21: lambda session, _: session.hold_if_silent(now_ns(), 0)},
}


@pytest.mark.parametrize("happening", EVENTS)
@pytest.mark.parametrize("solver", ["copy", "clik", "ukf", "egik"])
def test_a_relayed_pose_is_the_same_to_the_bit(
    output: PoseOutput, monkeypatch: pytest.MonkeyPatch, solver: str, happening: str
) -> None:
    relayed = Stage(output, solver).play(FRAMES, EVENTS[happening])
    monkeypatch.setattr(sessions, "TIMED_EVERY", 1)
    assert_same(relayed, Stage(output, solver).play(FRAMES, EVENTS[happening]))


def test_a_performer_s_new_buffers_are_noticed(
    output: PoseOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    relayed = Stage(output, "clik").play(FRAMES, {}, renewed_at=21)
    monkeypatch.setattr(sessions, "TIMED_EVERY", 1)
    assert_same(relayed, Stage(output, "clik").play(FRAMES, {}))


def test_a_tear_is_bridged_for_all_characters_of_a_performer(
    output: PoseOutput, monkeypatch: pytest.MonkeyPatch
) -> None:
    def play() -> list[Recorder]:
        stages = [Stage(output, solver) for solver in ("clik", "ukf")]
        source = SourcePose.allocate(len(WALK.skeleton))
        for frame in range(FRAMES):
            show(source, frame)
            if frame in (21, 22):
                _tear(stages[0].session, source)
            at = now_ns()
            for stage in stages:
                stage.session.advance(source, SOURCE_ID, at, at, at)
        return [stage.recorder for stage in stages]

    relayed = play()
    monkeypatch.setattr(sessions, "TIMED_EVERY", 1)
    for ours, theirs in zip(relayed, play(), strict=True):
        assert_same(ours, theirs)


class Faulty(Recorder):
    """A sink that fails in one frame."""

    def __init__(self, frame: int) -> None:
        super().__init__()
        self._frame = frame

    def send(self, root: FloatArray, rotations_xyzw: FloatArray, flags: int, at_ns: int) -> None:
        super().send(root, rotations_xyzw, flags, at_ns)
        if len(self.flags) == 1 + self._frame:
            raise OSError("the cable was pulled")


def test_a_frame_that_fails_half_way_does_not_mislead_the_next(output: PoseOutput) -> None:
    stage = Stage(output, "clik")
    recorder = Faulty(21)
    stage.session._sinks = (recorder,)
    source = SourcePose.allocate(len(WALK.skeleton))
    failures = 0
    for frame in range(FRAMES):
        show(source, frame)
        source.root[0] += 3.0 * (frame >= 21)
        source.jump = frame in (0, 21)
        try:
            stage.session.advance(source, SOURCE_ID, 0, 0, 0)
        except OSError:
            failures += 1
    assert failures == 1
    steps = np.linalg.norm(np.diff(recorder.roots, axis=0), axis=1)
    assert steps.max() < 0.3  # three metres are eased over, and not forgotten in between


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
def lose_the_pose(address: int, dt: float) -> int:
    """A solver's step that leaves rotations which are none."""
    matrix(table_at(address), ROTATIONS)[0, 0] = np.nan
    return 0


class Lost(Copy):
    """Copies, but loses the pose wherever it is called by compiled code."""

    @property
    def call(self) -> Call:
        return Call(entry_of(lose_the_pose, "i8(i8, f8)"), self._arrays.address)


def test_an_answer_that_is_not_finite_is_not_published_by_a_relay(output: PoseOutput) -> None:
    stage = Stage(output, "copy")
    stage.pipeline.solver = Lost(HERO, stage.pipeline.solver.effectors)
    stage.session._turn = 0  # the second frame is relayed, the third not
    recorder = stage.play(3, {})
    assert [bool(flags & status.HELD) for flags in recorder.flags] == [False, True, False]
    np.testing.assert_array_equal(recorder.rotations[1], recorder.rotations[0])
    assert stage.session.counts["held"] == 1
