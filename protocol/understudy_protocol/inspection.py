"""What a server shows to whoever watches a running show: performers, and where effectors should be.

These topics begin with `/`, which no name has, so that they can never be taken for a character's.
They are published only while somebody subscribes to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_EFFECTORS, MAX_JOINTS, MAX_U32, MAX_U64
from understudy_protocol.messages import Floats, FrameMessage, Integers, SkeletonMessage
from understudy_protocol.names import check_name
from understudy_protocol.skeletons import decode_skeleton
from understudy_protocol.topics import Buffer, open_envelope
from understudy_protocol.uplink import decode_frame
from understudy_protocol.wire import Fields, pack, rows_bytes, whole

InspectionKind = Literal["skeleton", "frame", "goals"]

INSPECTION_PREFIX: Final = b"/"
INSPECTION_KINDS: Final[tuple[InspectionKind, ...]] = get_args(InspectionKind)


@dataclass(frozen=True, slots=True, eq=False)
class GoalsMessage:
    """Where a character's k effectors should have been in the pose number `seq`.

    `joints` (k,) and `points` (k, 3) m say which body points they are: joint and place in its
    frame; `positions` (k, 3) m are their goals in the world, `strengths` (k,) from 0 (ignored) to
    1. Names are those of the skeleton's `effectors`, in the same order.
    """

    seq: int
    skeleton_id: int
    joints: Integers
    points: Floats
    positions: Floats
    strengths: Floats


class Inspected(NamedTuple):
    """A message of these topics and the performer (goals: the character) it is about."""

    name: str
    message: SkeletonMessage | FrameMessage | GoalsMessage


def inspection_topic(name: str, kind: InspectionKind) -> bytes:
    """The topic under which `kind` of a performer or character is shown."""
    check_name("name", name)
    if kind not in INSPECTION_KINDS:
        raise ProtocolError(
            "unknown-kind", f"kind {kind!r}; allowed: {', '.join(INSPECTION_KINDS)}"
        )
    return f"/{name}/{kind}".encode()


def read_inspection(parts: Sequence[Buffer]) -> Inspected:
    """The message in two received parts whose topic begins with `/`."""
    if len(parts) == 2 and bytes(parts[0][-6:]) == b"/goals":
        try:
            name = bytes(parts[0][1:-6]).decode()
        except UnicodeDecodeError:
            raise ProtocolError("bad-text", "a name in a topic is not UTF-8") from None
        return Inspected(check_name("name", name), decode_goals(parts[1]))
    name, kind, body = open_envelope((parts[0][1:], *parts[1:]))
    if kind == "skeleton":
        return Inspected(name, decode_skeleton(body))
    if kind == "frame":
        return Inspected(name, decode_frame(body))
    raise ProtocolError(
        "unknown-kind", f"kind {kind!r} under '/'; allowed: {', '.join(INSPECTION_KINDS)}"
    )


def encode_goals(goals: GoalsMessage) -> bytes:
    """The body of a `goals` message."""
    k = len(goals.joints)
    strengths = np.asarray(goals.strengths)[..., None]
    fields: dict[str, Any] = {
        "seq": whole("goals", "seq", goals.seq, 0, MAX_U64),
        "skeleton": whole("goals", "skeleton", goals.skeleton_id, 0, MAX_U32),
        "joints": np.asarray(goals.joints).astype("<i2").tobytes(),
        "points": rows_bytes("goals", "points", goals.points, 3, k, k),
        "pos": rows_bytes("goals", "pos", goals.positions, 3, k, k),
        "strengths": rows_bytes("goals", "strengths", strengths, 1, k, k),
    }
    return pack("goals", fields)


def decode_goals(body: Buffer) -> GoalsMessage:
    """The `goals` message in `body`."""
    fields = Fields.read("goals", body)
    joints = np.frombuffer(fields.binary("joints", 2, 0, MAX_EFFECTORS), "<i2").astype(np.int64)
    k = len(joints)
    if k and not (0 <= joints.min() and joints.max() < MAX_JOINTS):
        raise ProtocolError("out-of-range", f"goals: 'joints'; allowed: 0 to {MAX_JOINTS - 1}")
    return GoalsMessage(
        seq=fields.integer("seq", 0, MAX_U64),
        skeleton_id=fields.integer("skeleton", 0, MAX_U32),
        joints=joints,
        points=fields.rows("points", 3, k, k),
        positions=fields.rows("pos", 3, k, k),
        strengths=fields.rows("strengths", 1, k, k).reshape(-1),
    )
