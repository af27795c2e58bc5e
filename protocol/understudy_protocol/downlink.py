"""What the server publishes about a character: poses and events."""

from __future__ import annotations

import math
from typing import Any

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    MAX_CONTACTS,
    MAX_EVENT_FIELDS,
    MAX_I64,
    MAX_JOINTS,
    MAX_MAGNITUDE,
    MAX_U32,
    MAX_U64,
    MIN_I64,
)
from understudy_protocol.messages import EventMessage, PoseMessage, Scalar
from understudy_protocol.names import check_name, check_text, describe
from understudy_protocol.topics import Buffer
from understudy_protocol.wire import (
    Fields,
    float_array,
    pack,
    real,
    rows_bytes,
    vector_bytes,
    whole,
)


def encode_pose(pose: PoseMessage) -> bytes:
    """The body of a `pose` message."""
    contacts = pose.contacts
    if type(contacts) is not bytes or len(contacts) > MAX_CONTACTS:
        raise ProtocolError(
            "bad-length",
            f"pose: 'contacts' is {describe(contacts)}; allowed: up to {MAX_CONTACTS} bytes",
        )
    fields: dict[str, Any] = {
        "seq": whole("pose", "seq", pose.seq, 0, MAX_U64),
        "skeleton": whole("pose", "skeleton", pose.skeleton_id, 0, MAX_U32),
        "source_seq": whole("pose", "source_seq", pose.source_seq, 0, MAX_U64),
        "root": vector_bytes("pose", "root", pose.root, 3),
        "rot": rows_bytes("pose", "rot", pose.rotations_xyzw, 4, 1, MAX_JOINTS),
        "contacts": contacts,
        "residual": real("pose", "residual", pose.residual_m, 0.0, MAX_MAGNITUDE),
        "status": whole("pose", "status", pose.status, 0, MAX_U32),
        "t_capture": whole("pose", "t_capture", pose.capture_ns, MIN_I64, MAX_I64),
        "t_arrival": whole("pose", "t_arrival", pose.arrival_ns, MIN_I64, MAX_I64),
        "t_publish": whole("pose", "t_publish", pose.publish_ns, MIN_I64, MAX_I64),
        "delay": whole("pose", "delay", pose.delay_ns, 0, MAX_I64),
    }
    if pose.angles_rad is not None:
        angles = float_array("pose", "angles", pose.angles_rad)
        fields["angles"] = rows_bytes("pose", "angles", angles[..., None], 1, 0, MAX_JOINTS)
    return pack("pose", fields)


def decode_pose(body: Buffer) -> PoseMessage:
    """The `pose` message in `body`; its arrays are read-only float32 views."""
    fields = Fields.read("pose", body)
    return PoseMessage(
        fields.integer("seq", 0, MAX_U64),
        fields.integer("skeleton", 0, MAX_U32),
        fields.integer("source_seq", 0, MAX_U64),
        fields.vector("root", 3),
        fields.rows("rot", 4, 1, MAX_JOINTS),
        None
        if fields.get("angles") is None
        else fields.rows("angles", 1, 0, MAX_JOINTS).reshape(-1),
        fields.binary("contacts", 1, 0, MAX_CONTACTS),
        fields.number("residual", 0.0, MAX_MAGNITUDE),
        fields.integer("status", 0, MAX_U32),
        fields.integer("t_capture", MIN_I64, MAX_I64),
        fields.integer("t_arrival", MIN_I64, MAX_I64),
        fields.integer("t_publish", MIN_I64, MAX_I64),
        fields.integer("delay", 0, MAX_I64),
    )


def encode_event(event: EventMessage) -> bytes:
    """The body of an `event` message."""
    return pack(
        "event",
        {
            "kind": check_name("event: 'kind'", event.kind),
            "text": check_text("event: 'text'", event.text),
            "t": whole("event", "t", event.time_ns, MIN_I64, MAX_I64),
            "data": _data(dict(event.data)),
        },
    )


def decode_event(body: Buffer) -> EventMessage:
    """The `event` message in `body`."""
    fields = Fields.read("event", body)
    return EventMessage(
        kind=check_name("event: 'kind'", fields.required("kind")),
        text=check_text("event: 'text'", fields.required("text")),
        time_ns=fields.integer("t", MIN_I64, MAX_I64),
        data=_data({} if fields.get("data") is None else fields.get("data")),
    )


def _data(value: object) -> dict[str, Scalar]:
    if type(value) is not dict:
        raise ProtocolError("bad-type", f"event: 'data' is {describe(value)}; allowed: a map")
    if len(value) > MAX_EVENT_FIELDS:
        raise ProtocolError(
            "too-many-items", f"event: 'data' has {len(value)} keys; allowed: {MAX_EVENT_FIELDS}"
        )
    for key, item in value.items():
        check_name("event: key of 'data'", key)
        if item is not None and type(item) not in (bool, int, float, str):
            raise ProtocolError(
                "bad-type",
                f"event: data '{key}' is {describe(item)}; allowed: nil, a boolean, a number, text",
            )
        if type(item) is str:
            check_text(f"event: data '{key}'", item)
        if type(item) is int and not MIN_I64 <= item <= MAX_U64:
            raise ProtocolError("out-of-range", f"event: data '{key}' is {item}; allowed: 64 bits")
        if type(item) is float and not math.isfinite(item):
            raise ProtocolError("not-finite", f"event: data '{key}' is {item}; allowed: finite")
    return value
