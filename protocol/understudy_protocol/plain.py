"""Messages as plain JSON: the keys of the wire, arrays as lists of numbers.

Infinities and NaN, which JSON has not, are the texts "inf", "-inf" and "nan".
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from understudy_protocol.control import Reply, Request
from understudy_protocol.limits import PROTOCOL_VERSION
from understudy_protocol.messages import (
    EventMessage,
    FrameMessage,
    GoalMessage,
    Message,
    PoseMessage,
    SkeletonMessage,
)

Plain = dict[str, Any]


def plain(message: Message | Request | Reply) -> Plain:
    """The content of a message for JSON; fields that are absent are left out."""
    match message:
        case SkeletonMessage():
            content = _skeleton(message)
        case FrameMessage():
            content = {
                "run": message.run,
                "seq": message.seq,
                "t_capture": message.capture_ns,
                "skeleton": message.skeleton_id,
                "root": _numbers(message.root),
                "rot": _numbers(message.rotations_xyzw),
                "points": _numbers(message.points),
            }
        case GoalMessage():
            content = {
                "run": message.run,
                "seq": message.seq,
                "t_capture": message.capture_ns,
                "effector": message.effector,
                "pos": _numbers(message.position),
                "rot": _numbers(message.orientation_xyzw),
                "weight": message.weight,
                "ease": message.ease_s,
                "release": message.release,
            }
        case PoseMessage():
            content = {
                "seq": message.seq,
                "skeleton": message.skeleton_id,
                "source_seq": message.source_seq,
                "root": _numbers(message.root),
                "rot": _numbers(message.rotations_xyzw),
                "angles": _numbers(message.angles_rad),
                "contacts": list(message.contacts),
                "residual": message.residual_m,
                "status": message.status,
                "t_capture": message.capture_ns,
                "t_arrival": message.arrival_ns,
                "t_publish": message.publish_ns,
                "delay": message.delay_ns,
            }
        case EventMessage():
            content = {
                "kind": message.kind,
                "text": message.text,
                "t": message.time_ns,
                "data": dict(message.data),
            }
        case Request():
            content = {**message.fields, "op": message.op, "id": message.id}
        case Reply():
            return _reply(message)
    return {key: value for key, value in content.items() if value is not None}


def _skeleton(message: SkeletonMessage) -> Plain:
    return {
        "v": PROTOCOL_VERSION,
        "id": message.id,
        "joints": list(message.joints),
        "parents": np.asarray(message.parents).tolist(),
        "offsets": _numbers(message.offsets),
        "rest": _numbers(message.rest_xyzw),
        "kinds": np.asarray(message.kinds).tolist(),
        "axes": _numbers(message.axes),
        "limits": _numbers(message.limits_rad),
        "tips": _numbers(message.tips),
        "markers": [
            {"name": marker.name, "joint": marker.joint, "offset": _numbers(marker.offset)}
            for marker in message.markers
        ],
        "contacts": list(message.contacts),
        "effectors": list(message.effectors),
    }


def _reply(message: Reply) -> Plain:
    if message.refusal is None:
        return {**message.fields, "id": message.id, "ok": True}
    error = {"reason": message.refusal.reason, "text": message.refusal.text}
    return {"id": message.id, "ok": False, "error": error}


def _numbers(array: Any) -> Any:
    """Nested lists of the numbers of an array, or None."""
    return None if array is None else _finite(np.asarray(array, np.float64).tolist())


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return value if math.isfinite(value) else str(value)
