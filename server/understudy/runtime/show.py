"""What runs at the moment: performers, characters and sessions, and how they come and go."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Mapping
from pathlib import Path

from understudy.align.profile import Profile, ProfileError, read_profile
from understudy.config import Config, ConfigError, SessionConfig
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton
from understudy.runtime.casting import cast_performer
from understudy.runtime.character import Character
from understudy.runtime.clock import OutputClock
from understudy.runtime.performer import MAX_PERFORMERS, Performer
from understudy.runtime.pipeline import attached_points, build_enhancement, build_pipeline
from understudy.runtime.session import Session
from understudy.runtime.sinks import open_sinks
from understudy.solvers.base import ParameterValue
from understudy.transport import PoseOutput

_log = logging.getLogger(__name__)


class Show:
    """The registry behind the frame path; tables are replaced, never changed, so reading is free.

    Pipelines are built by a thread of their own, because aligning two bodies takes longer than a
    frame may wait.
    """

    def __init__(self, config: Config, output: PoseOutput) -> None:
        self.performers: dict[str, Performer] = {}
        self.sessions: dict[str, Session] = {}
        self._config = config
        self._output = output
        self._clocks: dict[str, OutputClock] = {}
        self._lock = threading.Lock()
        self._equipping = threading.Lock()  # pipelines and solvers are changed one at a time
        self._orders: queue.SimpleQueue[tuple[Performer, bool] | None] = queue.SimpleQueue()
        self._builder = threading.Thread(target=self._build, name="builder", daemon=True)

    def start(self) -> None:
        """Begin to build pipelines as skeletons arrive."""
        self._builder.start()

    def stop(self) -> None:
        """End every clock and the builder; nothing is published afterwards."""
        self._orders.put(None)
        for clock in self._clocks.values():
            clock.stop()
        for session in self.sessions.values():
            session.close()
        self._builder.join()

    def find_performer(self, name: str) -> Performer | None:
        """The performer called `name`, made known if need be; None if there are too many."""
        performer = self.performers.get(name)
        if performer is not None:
            return performer
        with self._lock:
            if len(self.performers) >= MAX_PERFORMERS:
                return None
            performer = Performer(self._config.performer(name))
            self.performers = {**self.performers, name: performer}
            return performer

    def find_session(self, character: str) -> Session | None:
        """The session that drives `character`."""
        return self.sessions.get(character)

    def order_pipelines(self, performer: Performer, *, renew: bool = False) -> None:
        """Have pipelines built for a performer whose skeleton is new; with `renew` all of them."""
        self._orders.put((performer, renew))

    def open(self, config: SessionConfig, character: Character) -> Session:
        """Let a performer drive a character; ConfigError if that is taken or there are too many."""
        performer = self.find_performer(config.performer)
        if performer is None:
            raise ConfigError(
                "session.performer", f"{config.performer!r}; allowed: {MAX_PERFORMERS} performers"
            )
        with self._lock:
            if character.name in self.sessions:
                raise ConfigError(
                    "session.character", f"{character.name!r} is driven already; close it first"
                )
            profile = _read_profile(config)
            sinks = open_sinks(self._config.character(character.name), character)
            session = Session(config, performer.config, character, self._output, sinks, profile)
            self.sessions = {**self.sessions, character.name: session}
            performer.set_sessions((*performer.sessions, session))
            if config.rate_hz is not None:
                clock = OutputClock(session, performer)
                self._clocks[character.name] = clock
                clock.start()
        character.announce(self._output)
        session.publish_event("opened", f"driven by performer {config.performer!r}")
        if performer.stream.skeleton is not None:
            self.order_pipelines(performer)
        return session

    def close(self, character: str) -> bool:
        """End the session of a character; False if there is none."""
        with self._lock:
            session = self.sessions.get(character)
            if session is None:
                return False
            self.sessions = {n: s for n, s in self.sessions.items() if n != character}
            performer = self.performers[session.config.performer]
            performer.set_sessions(tuple(s for s in performer.sessions if s is not session))
            clock = self._clocks.pop(character, None)
        if clock is not None:
            clock.stop()
        session.close()
        return True

    def change_solver(
        self, session: Session, solver: str, parameters: Mapping[str, ParameterValue]
    ) -> dict[str, ParameterValue]:
        """Let a session go over to another solver, as `Session.change_solver`."""
        with self._equipping:
            return session.change_solver(solver, parameters)

    def greeting(self, prefix: bytes) -> list[tuple[bytes, bytes]]:
        """The skeletons that a new subscriber to `prefix` must have first."""
        skeletons = [
            (session.character.skeleton_topic, session.character.skeleton_body)
            for session in self.sessions.values()
        ]
        if prefix:  # performers are shown only to those who ask for them
            skeletons += [
                (performer.shown_skeleton_topic, performer.stream.announcement)
                for performer in self.performers.values()
                if performer.stream.announcement
            ]
        return [message for message in skeletons if message[0].startswith(prefix)]

    def heed_audience(self) -> None:
        """Have performers and goals shown to whoever asked for them, and to nobody otherwise.

        To be called by the thread that admits subscribers.
        """
        for performer in self.performers.values():
            wanted = self._output.wants(performer.shown_frame_topic)
            if wanted and not performer.watched and performer.stream.announcement:
                self._output.send(performer.shown_skeleton_topic, performer.stream.announcement)
            performer.watched = wanted
        for session in self.sessions.values():
            session.watched = self._output.wants(session.character.goals_topic)

    def _build(self) -> None:
        while (order := self._orders.get()) is not None:
            performer, renew = order
            stream = performer.stream
            source, source_id = stream.skeleton, stream.skeleton_id
            for session in performer.sessions:
                if source is None or (session.fits(source_id) and not renew):
                    continue
                try:
                    with self._equipping:
                        self._equip(session, performer, source, source_id)
                except UnderstudyError as error:
                    session.refuse(str(error))
                    _log.warning("%r cannot drive %r: %s", performer.name, session.name, error)
                except Exception:
                    session.refuse("the bodies could not be aligned; see the server's log")
                    _log.exception("%r cannot drive %r", performer.name, session.name)

    def _equip(
        self, session: Session, performer: Performer, source: Skeleton, source_id: int
    ) -> None:
        config = session.config
        if config.enhance:
            session.adopt(
                build_enhancement(
                    source,
                    source_id,
                    session.character.skeleton,
                    attached_points(performer.stream.markers),
                    config.solver,
                    config.parameters,
                    session.ease_s,
                )
            )
            return
        body, roles = cast_performer(
            source,
            humanoid=performer.humanoid,
            profile=session.profile,
            held=performer.held(source_id),
        )
        session.adopt(
            build_pipeline(
                body,
                source_id,
                session.character.skeleton,
                config.solver,
                config.parameters,
                session.ease_s,
                source_roles=roles,
                character_roles=session.character.roles,
                floor_m=session.character.body.floor_m,
                hand_contacts=config.hand_contacts,
            )
        )


def _read_profile(config: SessionConfig) -> Profile | None:
    if config.profile is None:
        return None
    try:
        return read_profile(Path(config.profile))
    except ProfileError as error:
        raise ConfigError("session.profile", str(error)) from None
