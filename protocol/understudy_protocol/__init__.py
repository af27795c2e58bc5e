"""understudy's wire protocol, version 1: messages, their bytes, topics and limits.

`protocol/spec/README.md` in the source tree is the specification; this package implements it and
depends on numpy and msgpack alone.
"""

from __future__ import annotations

from understudy_protocol import status
from understudy_protocol.codec import decode_message
from understudy_protocol.control import (
    OPERATIONS,
    ClockOffset,
    Refusal,
    Reply,
    Request,
    check_request,
    clock_offset,
    decode_reply,
    decode_request,
    encode_refusal,
    encode_reply,
    encode_request,
)
from understudy_protocol.downlink import decode_event, decode_pose, encode_event, encode_pose
from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    ANNOUNCE_INTERVAL_NS,
    DEFAULT_CONTROL,
    DEFAULT_DOWNLINK,
    DEFAULT_UPLINK,
    FRAME_UNIT_TOLERANCE,
    GOAL_SILENCE_NS,
    MAX_CONTACTS,
    MAX_EFFECTORS,
    MAX_JOINTS,
    MAX_MAGNITUDE,
    MAX_MARKERS,
    MAX_MESSAGE_BYTES,
    MAX_NAME_BYTES,
    MAX_TEXT_BYTES,
    PROTOCOL_VERSION,
)
from understudy_protocol.messages import (
    BALL,
    FIXED,
    HINGE,
    EventMessage,
    FrameMessage,
    GoalMessage,
    Marker,
    Message,
    PoseMessage,
    SkeletonMessage,
)
from understudy_protocol.names import check_name
from understudy_protocol.skeletons import (
    decode_skeleton,
    encode_skeleton,
    skeleton_id,
    with_skeleton_id,
)
from understudy_protocol.status import status_names
from understudy_protocol.topics import (
    DOWNLINK_KINDS,
    KINDS,
    UPLINK_KINDS,
    Envelope,
    Kind,
    open_envelope,
    split_topic,
    subscription,
    topic,
)
from understudy_protocol.uplink import decode_frame, decode_goal, encode_frame, encode_goal

__all__ = [
    "ANNOUNCE_INTERVAL_NS",
    "BALL",
    "DEFAULT_CONTROL",
    "DEFAULT_DOWNLINK",
    "DEFAULT_UPLINK",
    "DOWNLINK_KINDS",
    "FIXED",
    "FRAME_UNIT_TOLERANCE",
    "GOAL_SILENCE_NS",
    "HINGE",
    "KINDS",
    "MAX_CONTACTS",
    "MAX_EFFECTORS",
    "MAX_JOINTS",
    "MAX_MAGNITUDE",
    "MAX_MARKERS",
    "MAX_MESSAGE_BYTES",
    "MAX_NAME_BYTES",
    "MAX_TEXT_BYTES",
    "OPERATIONS",
    "PROTOCOL_VERSION",
    "UPLINK_KINDS",
    "ClockOffset",
    "Envelope",
    "EventMessage",
    "FrameMessage",
    "GoalMessage",
    "Kind",
    "Marker",
    "Message",
    "PoseMessage",
    "ProtocolError",
    "Refusal",
    "Reply",
    "Request",
    "SkeletonMessage",
    "check_name",
    "check_request",
    "clock_offset",
    "decode_event",
    "decode_frame",
    "decode_goal",
    "decode_message",
    "decode_pose",
    "decode_reply",
    "decode_request",
    "decode_skeleton",
    "encode_event",
    "encode_frame",
    "encode_goal",
    "encode_pose",
    "encode_refusal",
    "encode_reply",
    "encode_request",
    "encode_skeleton",
    "open_envelope",
    "skeleton_id",
    "split_topic",
    "status",
    "status_names",
    "subscription",
    "topic",
    "with_skeleton_id",
]
