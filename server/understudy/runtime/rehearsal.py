"""A rehearsal before the doors open: everything a frame will meet has run when it ends."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Final

import numpy as np

from understudy.config import Config, ConfigError, PerformerConfig, SessionConfig
from understudy.errors import UnderstudyError
from understudy.ingest import SourcePose, message_from_skeleton
from understudy.runtime.casting import cast_character
from understudy.runtime.character import Character
from understudy.runtime.intake import Intake
from understudy.runtime.mailbox import Mailbox
from understudy.runtime.performer import Performer
from understudy.runtime.pipeline import (
    Pipeline,
    attached_points,
    build_enhancement,
    build_pipeline,
)
from understudy.runtime.session import Session
from understudy.runtime.timing import now_ns, wall_ns
from understudy.solvers import SOLVERS
from understudy.solvers.base import SolverError
from understudy.transport import PoseOutput
from understudy_protocol.messages import FrameMessage, Marker, SkeletonMessage
from understudy_protocol.skeletons import encode_skeleton, with_skeleton_id
from understudy_protocol.uplink import encode_frame

_FRAMES: Final = 20


def prepare_character(config: Config, index: int) -> Character:
    """Load the character of session number `index` and rehearse it; ConfigError names the key.

    The character stands in for its performer, whose body is not known yet.
    """
    session = config.sessions[index]
    entry = config.character(session.character)
    listed = entry in config.characters
    key = f"characters.{entry.name}.rig" if listed else f"session[{index}].character"
    try:
        body = cast_character(entry.rig, entry.profile)
    except UnderstudyError as error:
        hint = "" if listed else f"; or give it a [characters.{entry.name}] table with a rig"
        raise ConfigError(key, f"{error}{hint}") from None
    character = Character(entry.name, body)
    announced = message_from_skeleton(body.skeleton)
    if session.enhance:
        marker = Marker("rehearsal", 0, np.zeros(3))
        announced = with_skeleton_id(replace(announced, markers=(marker,)))
    try:
        pipeline = _stand_in(character, session, announced)
    except SolverError as error:
        part = "parameters" if session.solver in SOLVERS else "solver"
        raise ConfigError(f"session[{index}].{part}", str(error)) from None
    except UnderstudyError as error:
        raise ConfigError(key, str(error)) from None
    _rehearse(character, session, pipeline, announced)
    return character


def _stand_in(character: Character, session: SessionConfig, announced: SkeletonMessage) -> Pipeline:
    """The way from a performer who is announced as having the character's own body."""
    body, ease_s = character.body, PerformerConfig("").ease_s
    if session.enhance:
        return build_enhancement(
            body.skeleton,
            announced.id,
            body.skeleton,
            attached_points(announced.markers),
            session.solver,
            session.parameters,
            ease_s,
        )
    return build_pipeline(
        body.skeleton,
        announced.id,
        body.skeleton,
        session.solver,
        session.parameters,
        ease_s,
        source_roles=character.roles,
        character_roles=character.roles,
        floor_m=body.floor_m,
    )


def _rehearse(
    character: Character, config: SessionConfig, pipeline: Pipeline, message: SkeletonMessage
) -> None:
    """Take a few frames all the way to a socket that nobody listens to."""
    with closing(PoseOutput("tcp://127.0.0.1:*")) as output:
        session = Session(config, PerformerConfig(config.performer), character, output)
        performer = Performer(PerformerConfig("rehearsal"))
        performer.set_sessions((session,))
        performer.live = (session,)
        intake = Intake(
            lambda name: performer,
            lambda name: session,
            lambda who: session.adopt(pipeline),
            output.send,
        )
        rest = pipeline.source.rest_pose()
        points = np.zeros((len(message.markers), 3)) if message.markers else None
        intake.handle(([b"rehearsal/skeleton", encode_skeleton(message)], now_ns()))
        sizes = len(pipeline.source), len(message.markers)
        performer.mailbox = Mailbox(message.id, *sizes)
        for seq in range(_FRAMES):
            at_ns = now_ns()
            frame = FrameMessage(
                0, seq, wall_ns(at_ns), message.id, rest.root, rest.rotations_xyzw, points
            )
            intake.handle(([b"rehearsal/frame", encode_frame(frame)], at_ns))
            performer.mailbox.sample(wall_ns(at_ns), SourcePose.allocate(*sizes))
            if seq == _FRAMES // 2:
                session.hold_if_silent(at_ns, 0)  # the next frame is eased in
