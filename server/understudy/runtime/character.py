"""A character as the outside sees it: its body, the topics it leaves by, its announced skeleton."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from understudy.align import RoleMap
from understudy.characters import Body
from understudy.ingest import message_from_skeleton
from understudy.runtime.casting import body_roles
from understudy.runtime.timing import now_ns, wall_ns
from understudy.transport import PoseOutput
from understudy_protocol.downlink import encode_event
from understudy_protocol.inspection import inspection_topic
from understudy_protocol.messages import EventMessage, Scalar
from understudy_protocol.skeletons import encode_skeleton
from understudy_protocol.topics import topic


class Character:
    """A body under a name; its skeleton message also names what the current alignment offers."""

    def __init__(self, name: str, body: Body) -> None:
        self.name = name
        self.body = body
        self.skeleton = body.skeleton
        self.skeleton_topic = topic(name, "skeleton")
        self.pose_topic = topic(name, "pose")
        self.goals_topic = inspection_topic(name, "goals")
        self._event_topic = topic(name, "event")
        self.skeleton_id = 0
        self.skeleton_body = b""
        self.describe((), ())

    @cached_property
    def roles(self) -> RoleMap:
        """Which of its joints plays which part of a human body."""
        return body_roles(self.body)

    def describe(self, contacts: tuple[str, ...], effectors: tuple[str, ...]) -> bool:
        """Name the contact points and effectors; whether that makes it another skeleton message."""
        message = message_from_skeleton(self.skeleton, contacts, effectors)
        changed = message.id != self.skeleton_id
        self.skeleton_body = encode_skeleton(message)
        self.skeleton_id = message.id
        return changed

    def announce(self, output: PoseOutput) -> None:
        """Publish the skeleton to everyone who is subscribed."""
        output.send(self.skeleton_topic, self.skeleton_body)

    def publish_event(
        self, output: PoseOutput, kind: str, text: str, data: Mapping[str, Scalar] | None = None
    ) -> None:
        """Tell subscribers what happened."""
        event = EventMessage(kind, text, wall_ns(now_ns()), data or {})
        output.send(self._event_topic, encode_event(event))
