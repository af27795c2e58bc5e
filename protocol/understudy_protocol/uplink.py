"""What performers and clients send up to the server: frames and goals."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    MAX_EASE_S,
    MAX_I64,
    MAX_JOINTS,
    MAX_MARKERS,
    MAX_U32,
    MAX_U64,
    MIN_I64,
    UNIT_TOLERANCE,
)
from understudy_protocol.messages import Floats, FrameMessage, GoalMessage
from understudy_protocol.names import check_name
from understudy_protocol.topics import Buffer
from understudy_protocol.wire import (
    F32,
    Fields,
    Float32s,
    check_numbers,
    float_array,
    pack,
    real,
    rows_bytes,
    vector_bytes,
    whole,
)


def encode_frame(frame: FrameMessage) -> bytes:
    """The body of a `frame` message."""
    fields: dict[str, Any] = {
        "run": whole("frame", "run", frame.run, 0, MAX_U32),
        "seq": whole("frame", "seq", frame.seq, 0, MAX_U64),
        "t_capture": whole("frame", "t_capture", frame.capture_ns, MIN_I64, MAX_I64),
        "skeleton": whole("frame", "skeleton", frame.skeleton_id, 0, MAX_U32),
        "root": vector_bytes("frame", "root", frame.root, 3),
        "rot": rows_bytes("frame", "rot", frame.rotations_xyzw, 4, 1, MAX_JOINTS),
    }
    if frame.points is not None:
        fields["points"] = _points_bytes(frame.points)
    return pack("frame", fields)


def decode_frame(body: Buffer) -> FrameMessage:
    """The `frame` message in `body`; its arrays are read-only float32 views."""
    fields = Fields.read("frame", body)
    return FrameMessage(
        fields.integer("run", 0, MAX_U32),
        fields.integer("seq", 0, MAX_U64),
        fields.integer("t_capture", MIN_I64, MAX_I64),
        fields.integer("skeleton", 0, MAX_U32),
        fields.vector("root", 3),
        fields.rows("rot", 4, 1, MAX_JOINTS),
        None if fields.get("points") is None else _points(fields),
    )


def _points(fields: Fields) -> Float32s:
    raw = fields.binary("points", 12, 0, MAX_MARKERS)
    points = np.frombuffer(raw, F32).reshape(-1, 3)
    _check_points(points)
    return points


def _points_bytes(value: Floats) -> bytes:
    points = float_array("frame", "points", value)
    if points.ndim != 2 or points.shape[1] != 3 or points.shape[0] > MAX_MARKERS:
        raise ProtocolError(
            "bad-length",
            f"frame: 'points' has shape {points.shape}; allowed: (k, 3), k up to {MAX_MARKERS}",
        )
    _check_points(points)
    return points.astype(F32).tobytes()


def _check_points(points: Floats) -> None:
    """A row is a point, or three NaN for a marker that was not seen."""
    check_numbers("frame", "points", points[~np.isnan(points).all(axis=1)])


def encode_goal(goal: GoalMessage) -> bytes:
    """The body of a `goal` message."""
    fields: dict[str, Any] = {
        "run": whole("goal", "run", goal.run, 0, MAX_U32),
        "seq": whole("goal", "seq", goal.seq, 0, MAX_U64),
        "t_capture": whole("goal", "t_capture", goal.capture_ns, MIN_I64, MAX_I64),
        "effector": check_name("goal: 'effector'", goal.effector, slash=True),
        "weight": real("goal", "weight", goal.weight, 0.0, 1.0),
        "ease": real("goal", "ease", goal.ease_s, 0.0, MAX_EASE_S),
        "release": bool(goal.release),
    }
    if goal.position is not None:
        fields["pos"] = vector_bytes("goal", "pos", goal.position, 3)
    elif not goal.release:
        raise ProtocolError("missing-field", "goal: 'pos' is missing; only a release has none")
    if goal.orientation_xyzw is not None:
        fields["rot"] = vector_bytes("goal", "rot", goal.orientation_xyzw, 4)
        _check_unit(float_array("goal", "rot", goal.orientation_xyzw))
    return pack("goal", fields)


def decode_goal(body: Buffer) -> GoalMessage:
    """The `goal` message in `body`; its arrays are read-only float32 views."""
    fields = Fields.read("goal", body)
    release = fields.flag("release")
    position = orientation = None
    if fields.get("pos") is not None or not release:
        position = fields.vector("pos", 3)
    if fields.get("rot") is not None:
        orientation = fields.vector("rot", 4)
        _check_unit(orientation)
    return GoalMessage(
        run=fields.integer("run", 0, MAX_U32),
        seq=fields.integer("seq", 0, MAX_U64),
        capture_ns=fields.integer("t_capture", MIN_I64, MAX_I64),
        effector=check_name("goal: 'effector'", fields.required("effector"), slash=True),
        position=position,
        orientation_xyzw=orientation,
        weight=fields.number("weight", 0.0, 1.0, default=1.0),
        ease_s=fields.number("ease", 0.0, MAX_EASE_S, default=0.2),
        release=release,
    )


def _check_unit(orientation_xyzw: Floats) -> None:
    length = float(np.linalg.norm(orientation_xyzw))
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise ProtocolError(
            "not-unit", f"goal: 'rot' has length {length:g}; allowed: 1 within {UNIT_TOLERANCE:g}"
        )
