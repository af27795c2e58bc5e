"""Invalid vectors: one broken rule each, with the reason it must be refused for."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from understudy_protocol.downlink import encode_event, encode_pose
from understudy_protocol.messages import EventMessage
from understudy_protocol.skeletons import encode_skeleton
from understudy_protocol.uplink import encode_frame, encode_goal
from understudy_protocol.vectors.reading import Read
from understudy_protocol.vectors.valid import ARM, FRAME, GOAL, ONE_JOINT, POSE
from understudy_protocol.wire import pack, unpack

Change = dict[str, Any]

_FRAME: Final = encode_frame(FRAME)
_MANY: Final = 513
_REMOVED: Final = object()


@dataclass(frozen=True, slots=True, eq=False)
class InvalidVector:
    """Bytes that every reader must refuse, and the word it should give as the reason."""

    name: str
    kind: Read
    reason: str
    about: str
    data: bytes


def _changed(kind: Read, body: bytes, change: Change) -> bytes:
    """A valid body with some keys replaced or removed."""
    content = {**unpack(kind, body), **change}
    return pack(kind, {key: value for key, value in content.items() if value is not _REMOVED})


def _floats(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def _parents(*parents: int) -> bytes:
    return struct.pack(f"<{len(parents)}h", *parents)


def _last_joint(name: object) -> Change:
    return {"joints": [*ARM.joints[:-1], name]}


def _bytes_that_are_no_map() -> Iterator[InvalidVector]:
    for name, reason, about, data in (
        ("empty", "truncated", "no byte at all", b""),
        ("truncated", "truncated", "the last byte is missing", _FRAME[:-1]),
        ("half", "truncated", "only the first half", _FRAME[: len(_FRAME) // 2]),
        ("trailing-byte", "trailing-bytes", "one byte after the map", _FRAME + b"\xc0"),
        ("two-maps", "trailing-bytes", "a second map after the first", _FRAME + _FRAME),
        ("list", "not-a-map", "a list instead of a map", b"\x92\x01\x02"),
        ("nil", "not-a-map", "nil instead of a map", b"\xc0"),
        ("json", "trailing-bytes", "JSON: its first byte alone is an integer", b'{"run": 1}'),
        ("reserved-byte", "not-msgpack", "the byte 0xc1, which is never used", b"\x81\xa3run\xc1"),
        ("integer-key", "bad-key", "a key that is a number", b"\x81\x01\x02"),
        ("not-utf8", "bad-text", "a key that is not UTF-8", b"\x81\xa2\xff\xfe\x01"),
        ("extension", "bad-type", "an extension type", b"\x81\xa3run\xd4\x05\x00"),
        (
            "timestamp",
            "bad-type",
            "the timestamp extension",
            b"\x81\xa3run\xd6\xff\x00\x00\x00\x00",
        ),
        (
            "huge-list",
            "too-many-items",
            "a list that claims 2**32 - 1 items",
            b"\x81\xa3run\xdd" + b"\xff" * 4,
        ),
        (
            "huge-map",
            "too-many-items",
            "a map that claims 2**32 - 1 entries",
            b"\xdf" + b"\xff" * 4,
        ),
        ("deep", "too-deep", "two thousand lists inside each other", b"\x91" * 2000),
    ):
        yield InvalidVector(f"frame-{name}", "frame", reason, about, data)


_CHANGES: Final[tuple[tuple[Read, bytes, tuple[tuple[str, str, str, Change], ...]], ...]] = (
    (
        "frame",
        _FRAME,
        (
            ("no-run", "missing-field", "no run", {"run": _REMOVED}),
            ("nil-seq", "missing-field", "seq is nil, which is as absent", {"seq": None}),
            ("no-rot", "missing-field", "no rotations", {"rot": _REMOVED}),
            ("text-seq", "bad-type", "seq is text", {"seq": "42"}),
            ("float-seq", "bad-type", "seq is a float", {"seq": 42.0}),
            ("bool-seq", "bad-type", "seq is a boolean", {"seq": True}),
            ("negative-seq", "out-of-range", "seq is negative", {"seq": -1}),
            ("wide-run", "out-of-range", "run has 33 bits", {"run": 1 << 32}),
            ("late-time", "out-of-range", "a time above the i64", {"t_capture": 1 << 63}),
            ("list-root", "bad-type", "root is a list of numbers", {"root": [0.0, 1.0, 0.0]}),
            ("text-rot", "bad-type", "rotations are text", {"rot": "0" * 16}),
            ("short-root", "bad-length", "root has two numbers", {"root": _floats(0, 1)}),
            ("ragged-rot", "bad-length", "five numbers are no quaternions", {"rot": bytes(20)}),
            ("empty-rot", "bad-length", "no joint at all", {"rot": b""}),
            ("many-rot", "bad-length", "513 rotations", {"rot": _floats(0, 0, 0, 1) * _MANY}),
            ("nan-root", "not-finite", "a NaN in root", {"root": _floats(0, math.nan, 0)}),
            ("inf-rot", "not-finite", "an infinity in rot", {"rot": _floats(0, 0, math.inf, 1)}),
            (
                "signalling-nan",
                "not-finite",
                "a signalling NaN in rot",
                {"rot": _floats(0, 0, 0) + b"\x01\x00\x80\x7f"},
            ),
            ("far-root", "out-of-range", "a root beyond 1000 km", {"root": _floats(0, 2e6, 0)}),
            ("huge-rot", "out-of-range", "a huge number", {"rot": _floats(0, 0, -3e38, 1)}),
            ("half-nan-point", "not-finite", "a partial NaN", {"points": _floats(0, math.nan, 0)}),
            ("many-points", "bad-length", "257 points", {"points": bytes(12 * 257)}),
        ),
    ),
    (
        "skeleton",
        encode_skeleton(ARM),
        (
            ("no-version", "missing-field", "no version", {"v": _REMOVED}),
            ("version-2", "bad-version", "another major version", {"v": 2}),
            ("no-joints", "missing-field", "no joints", {"joints": _REMOVED}),
            ("map-joints", "bad-type", "joints are a map", {"joints": {"hips": 0}}),
            ("number-name", "bad-type", "a joint's name is a number", _last_joint(5)),
            ("empty-name", "bad-name", "a joint without a name", _last_joint("")),
            ("long-name", "bad-name", "65 bytes of name", _last_joint("x" * 65)),
            ("control-name", "bad-name", "a line feed in a name", _last_joint("a\nb")),
            ("same-name", "duplicate-name", "two joints of one name", _last_joint("hips")),
            ("short-parents", "bad-length", "four parents for five joints", {"parents": bytes(8)}),
            ("two-roots", "bad-parent", "a second root", {"parents": _parents(-1, 0, -1, 2, 3)}),
            ("no-root", "bad-parent", "joint 0 has a parent", {"parents": _parents(0, 0, 1, 2, 3)}),
            (
                "cycle",
                "bad-parent",
                "two joints are each other's parent",
                {"parents": _parents(-1, 2, 1, 2, 3)},
            ),
            (
                "self-parent",
                "bad-parent",
                "a joint is its own parent",
                {"parents": _parents(-1, 0, 2, 2, 3)},
            ),
            (
                "nan-offset",
                "not-finite",
                "a NaN among the offsets",
                {"offsets": _floats(*[math.nan] * 15)},
            ),
            ("zero-rest", "not-unit", "a rest rotation of length 0", {"rest": bytes(80)}),
            (
                "unknown-kind",
                "out-of-range",
                "a joint of kind 3",
                {"kinds": b"\x00\x00\x00\x01\x03"},
            ),
            ("hinge-no-axes", "missing-field", "a hinge and no axes", {"axes": _REMOVED}),
            ("zero-axis", "not-unit", "a hinge whose axis has length 0", {"axes": bytes(60)}),
            (
                "swapped-limits",
                "out-of-range",
                "a lower limit above the upper",
                {"limits": _floats(*[1.0, -1.0] * 5)},
            ),
            (
                "nan-limits",
                "out-of-range",
                "limits that are NaN",
                {"limits": _floats(*[math.nan] * 10)},
            ),
            ("inf-tips", "not-finite", "an infinite tip", {"tips": _floats(*[math.inf] * 15)}),
            ("marker-list", "bad-type", "a marker that is no map", {"markers": [["wrist", 3]]}),
            (
                "marker-joint",
                "out-of-range",
                "a marker on joint 5 of 0..4",
                {"markers": [{"name": "m", "joint": 5, "offset": bytes(12)}]},
            ),
            (
                "many-contacts",
                "too-many-items",
                "65 contact points",
                {"contacts": [f"c{i}" for i in range(65)]},
            ),
            (
                "same-effectors",
                "duplicate-name",
                "one effector twice",
                {"effectors": ["hand", "hand"]},
            ),
        ),
    ),
    (
        "skeleton",
        encode_skeleton(ONE_JOINT),
        (
            (
                "empty",
                "bad-length",
                "no joint in the list",
                {"joints": [], "parents": b"", "offsets": b"", "rest": b"", "kinds": b""},
            ),
            (
                "513-joints",
                "too-many-joints",
                "one joint too many",
                {"joints": [f"j{i}" for i in range(_MANY)]},
            ),
        ),
    ),
    (
        "goal",
        encode_goal(GOAL),
        (
            ("no-position", "missing-field", "no position and no release", {"pos": _REMOVED}),
            ("no-effector", "missing-field", "no effector", {"effector": _REMOVED}),
            ("heavy", "out-of-range", "a weight above 1", {"weight": 1.5}),
            ("nan-weight", "not-finite", "a weight that is NaN", {"weight": math.nan}),
            ("long-ease", "out-of-range", "eleven seconds of easing", {"ease": 11.0}),
            ("number-release", "bad-type", "release is a number", {"release": 1}),
            ("not-unit", "not-unit", "an orientation of length 2", {"rot": _floats(0, 0, 0, 2)}),
        ),
    ),
    (
        "pose",
        encode_pose(POSE),
        (
            ("no-status", "missing-field", "no status", {"status": _REMOVED}),
            ("negative-residual", "out-of-range", "a negative distance", {"residual": -0.1}),
            ("inf-residual", "not-finite", "an infinite distance", {"residual": math.inf}),
            ("negative-delay", "out-of-range", "a pose from the future", {"delay": -1}),
            ("ragged-angles", "bad-length", "six bytes are no float32", {"angles": bytes(6)}),
            ("many-contacts", "bad-length", "65 contacts", {"contacts": bytes(65)}),
            ("list-contacts", "bad-type", "contacts are a list", {"contacts": [0, 1]}),
        ),
    ),
    (
        "event",
        encode_event(EventMessage("stale", "anna fell silent", 5_000_000)),
        (
            ("no-kind", "missing-field", "no kind", {"kind": _REMOVED}),
            ("long-text", "bad-length", "1025 bytes of text", {"text": "x" * 1025}),
            ("list-data", "bad-type", "data is a list", {"data": [1]}),
            ("nested-data", "bad-type", "data has a list inside", {"data": {"a": [1]}}),
            ("nan-data", "not-finite", "data has a NaN", {"data": {"a": math.nan}}),
            (
                "many-data",
                "too-many-items",
                "33 entries",
                {"data": {f"k{i}": i for i in range(33)}},
            ),
        ),
    ),
    (
        "request",
        pack("request", {"op": "hello", "id": 1, "v": 1}),
        (
            ("no-op", "missing-field", "no operation", {"op": _REMOVED}),
            ("unknown-op", "unknown-op", "an operation that is not there", {"op": "dance"}),
            ("no-id", "missing-field", "no id", {"id": _REMOVED}),
            ("text-id", "bad-type", "an id that is text", {"id": "one"}),
            ("version-2", "bad-version", "another major version", {"v": 2}),
            (
                "open-no-performer",
                "missing-field",
                "who drives?",
                {"op": "open", "character": "giant"},
            ),
            (
                "open-slash",
                "bad-name",
                "a slash in a name",
                {"op": "open", "performer": "a/b", "character": "giant"},
            ),
            (
                "open-rate",
                "out-of-range",
                "2000 Hz",
                {"op": "open", "performer": "a", "character": "b", "rate_hz": 2000},
            ),
            (
                "set-list",
                "bad-type",
                "parameters are a list",
                {"op": "set", "character": "b", "params": [1]},
            ),
            (
                "set-nan",
                "not-finite",
                "a parameter is NaN",
                {"op": "set", "character": "b", "params": {"gain": math.nan}},
            ),
            (
                "set-bin",
                "bad-type",
                "a parameter is bin",
                {"op": "set", "character": "b", "params": {"gain": b"1"}},
            ),
            (
                "set-deep",
                "too-deep",
                "ten levels",
                {"op": "set", "character": "b", "params": {"a": [[[[[[[[[1]]]]]]]]]}},
            ),
            ("time-float", "bad-type", "a time that is a float", {"op": "time", "t1": 1.0}),
        ),
    ),
    (
        "reply",
        pack("reply", {"id": 1, "ok": False, "error": {"reason": "busy", "text": "try later"}}),
        (
            ("no-ok", "missing-field", "neither done nor refused", {"ok": _REMOVED}),
            ("number-ok", "bad-type", "ok is a number", {"ok": 1}),
            ("no-error", "missing-field", "refused without a reason", {"error": _REMOVED}),
            ("text-error", "bad-type", "error is text", {"error": "busy"}),
            ("ok-no-id", "missing-field", "done, but what?", {"ok": True, "id": None}),
        ),
    ),
)


def _changed_messages() -> Iterator[InvalidVector]:
    for kind, body, changes in _CHANGES:
        for name, reason, about, change in changes:
            yield InvalidVector(f"{kind}-{name}", kind, reason, about, _changed(kind, body, change))


def _topics() -> Iterator[InvalidVector]:
    for name, reason, about, data in (
        ("no-slash", "bad-topic", "no slash", b"anna"),
        ("long", "bad-topic", "a topic of 200 bytes", b"a" * 194 + b"/frame"),
        ("unknown-kind", "unknown-kind", "a kind that is not there", b"anna/dance"),
        ("two-slashes", "unknown-kind", "the first slash ends the name", b"anna/b/frame"),
        ("empty-name", "bad-name", "nobody", b"/frame"),
        ("long-name", "bad-name", "a name of 65 bytes", b"a" * 65 + b"/pose"),
        ("control", "bad-name", "a zero byte in the name", b"an\x00na/frame"),
        ("not-utf8", "bad-text", "a name that is not UTF-8", b"\xff\xfe/frame"),
    ):
        yield InvalidVector(f"topic-{name}", "topic", reason, about, data)


INVALID: Final[tuple[InvalidVector, ...]] = (
    *_bytes_that_are_no_map(),
    *_changed_messages(),
    *_topics(),
)
