"""One performer driving one character through one solver: what happens to a frame."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from understudy.align.profile import Profile
from understudy.conditioning import Bridged, Smoother
from understudy.config import PerformerConfig, SessionConfig, Settings
from understudy.ingest import SourcePose
from understudy.runtime.character import Character
from understudy.runtime.pipeline import (
    Pipeline,
    another_solver,
    change_settings,
    reset_pipeline,
)
from understudy.runtime.relay import TORN, Relay
from understudy.runtime.sinks import PoseSink
from understudy.runtime.timing import StageTimes, now_ns, wall_ns
from understudy.solvers.base import ParameterValue
from understudy.solvers.crossfade import Crossfade
from understudy.solvers.filter import Filter
from understudy.solvers.parameters import Parameter
from understudy.transport import PoseOutput
from understudy_protocol import status
from understudy_protocol.inspection import GoalsMessage, encode_goals
from understudy_protocol.messages import GoalMessage, Scalar
from understudy_protocol.osc.vmc_events import SetPeriod
from understudy_protocol.pose_writer import PoseWriter

# Frames whose stages are timed; the others are relayed where they can be.
TIMED_EVERY: Final = 16
_TURNS: Final = itertools.count()

# Looked up once: in every frame an enumeration would be asked anew.
_JUMPED: Final = Bridged.JUMPED
_HELD: Final = Bridged.HELD


class Session:
    """Frames in, published poses out; waits until its performer's skeleton is known.

    Every method takes the session's lock, so that frames, the output clock and control requests
    may come from different threads. Buffers belong to the pipeline and are reused by every frame.
    """

    def __init__(
        self,
        config: SessionConfig,
        performer: PerformerConfig,
        character: Character,
        output: PoseOutput,
        sinks: Sequence[PoseSink] = (),
        profile: Profile | None = None,
    ) -> None:
        self.config = config
        self.character = character
        self.profile = profile
        self.times = StageTimes()
        self.counts: Counter[str] = Counter()
        self.problem: str | None = None
        self.watched = False  # somebody wants to see the effectors' goals
        self.ease_s = performer.ease_s
        self._stale_after_ns = int(performer.stale_after_s * 1e9)
        self._output = output
        self._sinks = tuple(sinks)
        self._lock = threading.Lock()
        self._pipeline: Pipeline | None = None
        self._writer: PoseWriter | None = None  # there as soon as there is a pipeline
        self._relay = Relay()
        # Characters of one performer are not all timed in the same frame.
        self._turn = next(_TURNS) % TIMED_EVERY
        self._seq = 0
        self._stale = False
        self._closed = False
        # Of the last pose that was solved: what it was made from, for poses that repeat it.
        self._source_seq = 0
        self._capture_ns = 0
        self._arrival_ns = 0
        self._delay_ns = 0
        self._residual_m = 0.0
        self._solved = False

    @property
    def name(self) -> str:
        """The name of the character it drives."""
        return self.character.name

    def adopt(self, pipeline: Pipeline) -> None:
        """Take a new way from the performer to the character and ease over from the old one."""
        with self._lock:
            self._relay.rest()
            old = self._pipeline
            if old is not None:
                pipeline.solver.set_parameters(old.solver.parameters())
                if not old.fresh:
                    pipeline.ease.start_elsewhere(old.aligner.targets, old.aligner.effectors)
                    pipeline.solver.reset(old.pose.copy())
                    pipeline.pose.take(old.pose.copy())
            change_settings(pipeline, self.config.settings)
            self._pipeline = pipeline
            self.problem = None
            names = tuple(effector.name for effector in pipeline.aligner.effectors)
            if self.character.describe(tuple(pipeline.aligner.contact_names), names):
                self.character.announce(self._output)
            self._writer = PoseWriter(self.character.skeleton_id, *pipeline.pose.views)
        if old is not None and old.source_id != pipeline.source_id:
            self.publish_event("skeleton-changed", "the performer's skeleton changed")

    def change_solver(
        self, name: str, parameters: Mapping[str, ParameterValue]
    ) -> dict[str, ParameterValue]:
        """Go over to another solver; all of its parameters. SolverError changes nothing.

        LookupError while there is no pipeline to change, or the last change is under way. Not to be
        called at the same moment as `adopt`.
        """
        pipeline = self._pipeline
        if pipeline is None:
            raise LookupError("the performer's skeleton is not known yet")
        old = pipeline.solver
        if isinstance(old, Crossfade):
            if old.active:
                raise LookupError("the last change of solver is still being eased in")
            old = old.new
        new = another_solver(pipeline, self.character.skeleton, name, parameters)
        with self._lock:
            self._relay.rest()
            self.config = replace(self.config, solver=name, parameters=dict(parameters))
            if pipeline.fresh:
                pipeline.solver = new  # nothing was shown yet
            else:
                pipeline.solver = Crossfade(old, new, self.ease_s)
        self.publish_event("solver-changed", f"the solver is {name!r}")
        return new.parameters()

    def refuse(self, problem: str) -> None:
        """Say why the performer cannot drive this character; it holds its pose."""
        self.problem = problem
        self.publish_event("refused", problem[:500])

    def fits(self, source_id: int) -> bool:
        """Whether frames of the source skeleton `source_id` can be solved now."""
        pipeline = self._pipeline
        return pipeline is not None and pipeline.source_id == source_id

    def advance(
        self,
        source: SourcePose,
        source_id: int,
        arrival: int,
        decoded: int,
        ingested: int,
        delay_ns: int = 0,
    ) -> bool:
        """Solve one source pose and publish the character's; False while there is no way to.

        `arrival`, `decoded` and `ingested` are moments on the performance counter (ns).
        """
        with self._lock:
            pipeline, writer = self._pipeline, self._writer
            if (
                pipeline is None
                or writer is None
                or pipeline.source_id != source_id
                or self._closed
            ):
                self.counts["dropped"] += 1
                return False
            if (
                self._relay.source is source
                and not source.jump
                and self.times.count % TIMED_EVERY != self._turn
                and self._advance_at_once(source, pipeline, writer, arrival, delay_ns)
            ):
                return True
            self._relay.rest()  # until this frame has come to its end
            started = now_ns()
            dt = source.dt
            jump = source.jump or self._stale or pipeline.fresh
            if jump:
                pipeline.bridge.reset()
            # Sessions of one performer share the source's arrays; a torn pose is replaced for all.
            bridged = pipeline.bridge.apply(source.root, source.rotations_xyzw, dt)
            jump = jump or bridged is _JUMPED
            ease = pipeline.ease
            if jump and not pipeline.fresh:
                ease.start(pipeline.aligner.targets)
            recovered = self._stale
            self._stale = False
            pipeline.fresh = False
            if pipeline.enhancer is not None:
                pipeline.enhancer.measure(source.points)
            measured: SourcePose | Smoother = source
            if pipeline.smoother.active:
                pipeline.smoother.apply(source.root, source.rotations_xyzw, dt, jump)
                measured = pipeline.smoother
            targets = pipeline.aligner.align(measured.root, measured.rotations_xyzw, dt, jump)
            easing = ease.active
            if easing:
                ease.apply(targets, dt)
            if pipeline.goals.active:
                pipeline.goals.apply(targets, dt, arrival)
            aligned = now_ns()
            solution = pipeline.solver.step(targets, dt)
            solved = now_ns()
            flags = int(solution.status)
            flags |= self._judge(
                pipeline,
                pipeline.pose.accept(
                    solution.root, solution.rotations_xyzw, solution.residuals, targets
                ),
            )
            if easing:
                flags |= status.RECOVERING
            if bridged is _HELD:
                flags |= status.BRIDGED
            self._note(source, delay_ns)
            checked = now_ns()
            body = self._encode(writer, flags, checked)
            encoded = now_ns()
            self._publish(pipeline, body, flags, checked)
            self.times.record(
                arrival, decoded, ingested, started, aligned, solved, checked, encoded, now_ns()
            )
            if measured is source:
                self._relay.make_ready(source, pipeline)
        if recovered:
            self.publish_event("recovered", f"performer {self.config.performer!r} is back")
        return True

    def _advance_at_once(
        self,
        source: SourcePose,
        pipeline: Pipeline,
        writer: PoseWriter,
        arrival: int,
        delay_ns: int,
    ) -> bool:
        """The same in one compiled call; False, and nothing was done, if the frame is torn."""
        flags, residual_m = self._relay.run(source.dt)
        if flags == TORN:
            return False
        flags |= self._judge(pipeline, residual_m)
        self._note(source, delay_ns)
        checked = now_ns()
        self._publish(pipeline, self._encode(writer, flags, checked), flags, checked)
        self.times.add(now_ns() - arrival)
        return True

    def _judge(self, pipeline: Pipeline, residual_m: float) -> int:
        """Begin anew from the last good pose if the answer was not accepted; the pose's status."""
        if residual_m >= 0.0:
            self._residual_m = residual_m
            return 0
        self.counts["held"] += 1
        reset_pipeline(pipeline, pipeline.pose.copy())
        self._relay.rest()
        return status.HELD

    def _publish(self, pipeline: Pipeline, body: bytes, flags: int, at_ns: int) -> None:
        """Send a solved pose to everyone."""
        self._output.send(self.character.pose_topic, body)
        for sink in self._sinks:
            sink.send(pipeline.pose.root, pipeline.pose.rotations_xyzw, flags, at_ns)

    def show_goals(self) -> None:
        """Publish where the effectors of the last pose should have been."""
        with self._lock:
            pipeline = self._pipeline
            if pipeline is None or not self._solved or self._closed:
                return
            targets = pipeline.aligner.targets
            goals = GoalsMessage(
                self._seq - 1,
                self.character.skeleton_id,
                np.array([effector.joint for effector in pipeline.aligner.effectors]),
                targets.points,
                targets.positions,
                targets.strengths,
            )
            self._output.send(self.character.goals_topic, encode_goals(goals))

    def hold_if_silent(self, at_ns: int, heard_ns: int | None) -> bool:
        """Publish the last pose as stale if the performer was last heard too long ago.

        `at_ns` is now, both are on the performance counter.
        """
        if heard_ns is None or at_ns - heard_ns < self._stale_after_ns:
            return False
        with self._lock:
            if self._closed or self._pipeline is None or self._writer is None or not self._solved:
                return True
            began = not self._stale
            self._stale = True
            self._relay.rest()
            pose = self._pipeline.pose
            body = self._encode(self._writer, status.STALE, at_ns)
            self._output.send(self.character.pose_topic, body)
            for sink in self._sinks:
                sink.send(pose.root, pose.rotations_xyzw, status.STALE, at_ns)
        if began:
            self.counts["stale"] += 1
            self.publish_event("stale", f"performer {self.config.performer!r} is silent")
        return True

    def set_parameters(self, values: Mapping[str, ParameterValue]) -> dict[str, ParameterValue]:
        """Change solver parameters; all of them afterwards. SolverError changes nothing."""
        with self._lock:
            if self._pipeline is None:
                raise LookupError("the performer's skeleton is not known yet")
            self._relay.rest()
            self._pipeline.solver.set_parameters(values)
            return self._pipeline.solver.parameters()

    def change_settings(self, settings: Settings) -> None:
        """Take other settings, at once or as soon as the performer is known."""
        with self._lock:
            self.config = replace(self.config, settings=settings)
            if self._pipeline is not None:
                self._relay.rest()
                change_settings(self._pipeline, settings)

    def parameters(self) -> dict[str, ParameterValue]:
        """The solver's parameters; those of the show file before there is a solver."""
        with self._lock:
            if self._pipeline is None:
                return dict(self.config.parameters)
            return self._pipeline.solver.parameters()

    def own_parameters(self) -> tuple[Parameter, ...]:
        """The solver's parameters for this character alone; none before there is a solver."""
        pipeline = self._pipeline
        solver = None if pipeline is None else pipeline.solver
        if isinstance(solver, Crossfade):
            solver = solver.new
        return solver.own_parameters if isinstance(solver, Filter) else ()

    def reset(self) -> None:
        """Forget the past: the next frame starts afresh."""
        with self._lock:
            if self._pipeline is not None:
                self._relay.rest()
                reset_pipeline(self._pipeline)
        self.publish_event("reset", "the session was reset")

    def take_goal(self, goal: GoalMessage, at_ns: int) -> None:
        """Follow a client's goal for an effector of the character; counted if it is not taken."""
        with self._lock:
            if self._pipeline is None:
                self.counts["early-goal"] += 1
                return
            refused = self._pipeline.goals.take(goal, at_ns)
            if refused is not None:
                self.counts[refused] += 1
            if self._pipeline.goals.active:
                self._relay.rest()

    def pass_on(self, messages: Sequence[bytes]) -> None:
        """Send whole messages along with the next pose, wherever they are understood."""
        with self._lock:
            for sink in self._sinks:
                sink.pass_on(messages)

    def set_period(self, period: SetPeriod) -> None:
        """Send some classes of messages every n-th pose only, wherever that is understood."""
        with self._lock:
            for sink in self._sinks:
                sink.set_period(period)

    def close(self) -> None:
        """Publish nothing from here on but the news that it is over."""
        with self._lock:
            if not self._closed:
                for sink in self._sinks:
                    sink.close()
            self._closed = True
        self.publish_event("closed", "the session ended")

    def publish_event(self, kind: str, text: str, data: Mapping[str, Scalar] | None = None) -> None:
        """Tell the character's subscribers what happened."""
        told = {"performer": self.config.performer, **(data or {})}
        self.character.publish_event(self._output, kind, text, told)

    def _note(self, source: SourcePose, delay_ns: int) -> None:
        """Remember what the pose was made from."""
        self._source_seq = source.seq
        self._capture_ns = source.capture_ns
        self._arrival_ns = source.arrival_ns
        self._delay_ns = delay_ns
        self._solved = True

    def _encode(self, writer: PoseWriter, flags: int, at_ns: int) -> bytes:
        """The body of the next pose message."""
        seq = self._seq
        self._seq += 1
        return writer.write(
            seq,
            self._source_seq,
            self._delay_ns,
            flags,
            self._residual_m,
            self._capture_ns,
            self._arrival_ns,
            wall_ns(at_ns),
        )
