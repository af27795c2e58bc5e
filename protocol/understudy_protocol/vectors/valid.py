"""Valid vectors: every kind of message, its smallest and fullest forms, and lenient readings."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from understudy_protocol import status
from understudy_protocol.control import (
    Refusal,
    Reply,
    Request,
    encode_refusal,
    encode_reply,
    encode_request,
)
from understudy_protocol.downlink import encode_event, encode_pose
from understudy_protocol.limits import (
    MAX_I64,
    MAX_JOINTS,
    MAX_U32,
    MAX_U64,
    MIN_I64,
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
    PoseMessage,
    SkeletonMessage,
)
from understudy_protocol.plain import Plain, plain
from understudy_protocol.skeletons import encode_skeleton, with_skeleton_id
from understudy_protocol.topics import topic
from understudy_protocol.uplink import encode_frame, encode_goal
from understudy_protocol.vectors.reading import Read
from understudy_protocol.wire import Float32s, pack, unpack

IDENTITY: Final = (0.0, 0.0, 0.0, 1.0)
QUARTER_TURN_X: Final = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))


@dataclass(frozen=True, slots=True, eq=False)
class ValidVector:
    """Bytes of one message, and the content that every reader must find in them."""

    name: str
    kind: Read
    about: str
    data: bytes
    content: Plain


def f32(values: Any) -> Float32s:
    """Numbers as the wire holds them, so that a vector's content is exact."""
    return np.array(values, np.float32)


ONE_JOINT: Final = with_skeleton_id(
    SkeletonMessage(
        id=0,
        joints=("root",),
        parents=np.array([-1]),
        offsets=f32([[0.0, 1.0, 0.0]]),
        rest_xyzw=f32([IDENTITY]),
        kinds=np.array([BALL]),
    )
)

ARM: Final = with_skeleton_id(
    SkeletonMessage(
        id=0,
        joints=("hips", "chest", "leftUpperArm", "leftLowerArm", "左手/prop"),
        parents=np.array([-1, 0, 1, 2, 3]),
        offsets=f32(
            [[0.0, 0.95, 0.0], [0.0, 0.3, 0.0], [0.18, 0.2, 0.0], [0.28, 0.0, 0.0], [0.25, 0, 0]]
        ),
        rest_xyzw=f32([IDENTITY, IDENTITY, QUARTER_TURN_X, IDENTITY, IDENTITY]),
        kinds=np.array([BALL, BALL, BALL, HINGE, FIXED]),
        axes=f32([[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 1, 0], [0, 0, 1]]),
        limits_rad=f32(
            [
                [-math.inf, math.inf],
                [-math.inf, math.inf],
                [-math.inf, math.inf],
                [0.0, 2.5],
                [-math.inf, math.inf],
            ]
        ),
        tips=f32([[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0], [0.1, 0, 0]]),
        markers=(
            Marker("sternum", 1, f32([0.0, 0.1, 0.12])),
            Marker("wrist", 3, f32([0.25, 0.02, 0.0])),
        ),
        contacts=("leftHand",),
        effectors=("leftHand", "chest"),
    )
)

FRAME: Final = FrameMessage(
    run=0xC0FFEE,
    seq=42,
    capture_ns=1_700_000_000_123_456_789,
    skeleton_id=ARM.id,
    root=f32([0.5, 0.95, -1.25]),
    rotations_xyzw=f32([IDENTITY, QUARTER_TURN_X, IDENTITY, (0, 0.6, 0, 0.8), IDENTITY]),
)

POSE: Final = PoseMessage(
    seq=7,
    skeleton_id=ARM.id,
    source_seq=42,
    root=f32([0.5, 0.9, -1.25]),
    rotations_xyzw=f32([IDENTITY, QUARTER_TURN_X, IDENTITY, (0, 0.6, 0, 0.8), IDENTITY]),
    angles_rad=f32([1.287]),
    contacts=b"\x01",
    residual_m=0.0125,
    status=status.LIMITED | status.OUT_OF_REACH,
    capture_ns=1_700_000_000_123_456_789,
    arrival_ns=5_000_000_000,
    publish_ns=5_000_300_000,
    delay_ns=0,
)

GOAL: Final = GoalMessage(
    run=99,
    seq=3,
    capture_ns=12_345,
    effector="leftHand",
    position=f32([0.4, 1.5, 0.25]),
    orientation_xyzw=f32(QUARTER_TURN_X),
    weight=0.75,
    ease_s=0.5,
)


def _skeletons() -> Iterator[ValidVector]:
    wide = with_skeleton_id(
        SkeletonMessage(
            id=0,
            joints=tuple(f"joint{i}" for i in range(MAX_JOINTS)),
            parents=np.arange(-1, MAX_JOINTS - 1),
            offsets=f32([[0.0, 0.01, 0.0]] * MAX_JOINTS),
            rest_xyzw=f32([IDENTITY] * MAX_JOINTS),
            kinds=np.zeros(MAX_JOINTS, np.int64),
        )
    )
    for name, about, skeleton in (
        ("skeleton-minimal", "one ball joint and no optional field", ONE_JOINT),
        (
            "skeleton-full",
            "every field: a hinge with limits, a fixed joint, tips, markers, a name with a slash",
            ARM,
        ),
        ("skeleton-512-joints", "a chain of as many joints as there may be", wide),
        ("skeleton-64-byte-name", "the longest name", replace(ONE_JOINT, joints=("é" * 32,))),
        ("skeleton-largest-id", "any u32 is an id", replace(ONE_JOINT, id=MAX_U32)),
    ):
        yield ValidVector(name, "skeleton", about, encode_skeleton(skeleton), plain(skeleton))


def _frames() -> Iterator[ValidVector]:
    minimal = replace(
        FRAME,
        run=1,
        seq=0,
        capture_ns=0,
        skeleton_id=ONE_JOINT.id,
        root=f32([0, 1, 0]),
        rotations_xyzw=f32([IDENTITY]),
    )
    for name, about, frame in (
        ("frame-minimal", "one joint", minimal),
        ("frame", "five joints of the skeleton in skeleton-full", FRAME),
        (
            "frame-points",
            "measured points; the second marker was not seen",
            replace(FRAME, points=f32([[0.5, 1.35, -1.13], [math.nan] * 3])),
        ),
        (
            "frame-no-points",
            "an empty list of points",
            replace(FRAME, points=f32([]).reshape(0, 3)),
        ),
        (
            "frame-extreme-integers",
            "the largest run and seq, the earliest time",
            replace(minimal, run=MAX_U32, seq=MAX_U64, capture_ns=MIN_I64, skeleton_id=MAX_U32),
        ),
        (
            "frame-edge-of-range",
            "coordinates at the limit, a negative zero, the smallest number",
            replace(minimal, root=f32([1e6, -1e6, -0.0]), rotations_xyzw=f32([[1e-45, 0, 0, 1]])),
        ),
        (
            "frame-not-unit",
            "a rotation of length 1.05: a codec passes it on, the server normalises it",
            replace(minimal, rotations_xyzw=f32([[0.0, 0.0, 0.0, 1.05]])),
        ),
    ):
        yield ValidVector(name, "frame", about, encode_frame(frame), plain(frame))
    body = encode_frame(FRAME)
    content = unpack("frame", body)
    yield ValidVector(
        "frame-unknown-keys",
        "frame",
        "keys of a later version, and one that is bin, are ignored",
        pack("frame", {"future": [1, {"a": None}], b"bin": 1, **content}),  # type: ignore[dict-item]  # on purpose
        plain(FRAME),
    )
    yield ValidVector(
        "frame-other-order",
        "frame",
        "the keys of a map have no order",
        pack("frame", dict(reversed(content.items()))),
        plain(FRAME),
    )
    yield ValidVector(
        "frame-nil-points",
        "frame",
        "nil is as good as absent",
        pack("frame", {**content, "points": None}),
        plain(FRAME),
    )
    yield ValidVector(
        "frame-wide-integer",
        "frame",
        "an integer in a longer format than it needs",
        body.replace(b"\xa3seq\x2a", b"\xa3seq\xcf" + (42).to_bytes(8, "big")),
        plain(FRAME),
    )


def _goals() -> Iterator[ValidVector]:
    release = GoalMessage(
        run=99, seq=4, capture_ns=22_345, effector="leftHand", ease_s=1.0, release=True
    )
    for name, about, goal in (
        ("goal", "a position and an orientation", GOAL),
        ("goal-position", "a position only", replace(GOAL, orientation_xyzw=None)),
        ("goal-release", "a release needs no position", release),
    ):
        yield ValidVector(name, "goal", about, encode_goal(goal), plain(goal))
    defaults = replace(GOAL, orientation_xyzw=None, weight=1.0, ease_s=0.2)
    content = unpack("goal", encode_goal(defaults))
    for key in ("weight", "ease", "release"):
        del content[key]
    yield ValidVector(
        "goal-defaults",
        "goal",
        "without weight, ease and release: 1, 0.2 and false",
        pack("goal", content),
        plain(defaults),
    )


def _poses() -> Iterator[ValidVector]:
    live = replace(POSE, angles_rad=None, contacts=b"", residual_m=0.0, status=status.OK)
    for name, about, pose in (
        ("pose", "hinge angles, a contact, two status bits", POSE),
        ("pose-live", "nothing to remark: no hinge, no contact point", live),
        ("pose-stale", "held while the performer is silent", replace(live, status=status.STALE)),
        ("pose-clocked", "on an output clock", replace(live, delay_ns=16_666_667)),
        ("pose-unknown-status", "bits of a later version", replace(live, status=MAX_U32)),
        ("pose-64-contacts", "all contact points", replace(live, contacts=b"\x00\x01" * 32)),
        (
            "pose-extreme-times",
            "the latest times there are",
            replace(live, capture_ns=MAX_I64, arrival_ns=MAX_I64, publish_ns=MAX_I64),
        ),
    ):
        yield ValidVector(name, "pose", about, encode_pose(pose), plain(pose))
    single = replace(live, residual_m=0.5)
    double = b"\xcb" + struct.pack(">d", 0.5)
    yield ValidVector(
        "pose-float32-residual",
        "pose",
        "a number may be a float 32",
        encode_pose(single).replace(double, b"\xca" + struct.pack(">f", 0.5)),
        plain(single),
    )
    yield ValidVector(
        "pose-integer-residual",
        "pose",
        "a number may be an integer",
        encode_pose(single).replace(double, b"\x00"),
        plain(replace(single, residual_m=0.0)),
    )


def _events() -> Iterator[ValidVector]:
    for name, about, event in (
        ("event", "an event without data", EventMessage("stale", "anna fell silent", 5_000_000)),
        (
            "event-data",
            "a value of every type",
            EventMessage(
                "restarted",
                "anna started over — run 7",
                -1,
                {"run": 7, "after_s": 1.5, "known": True, "note": None, "performer": "anna"},
            ),
        ),
    ):
        yield ValidVector(name, "event", about, encode_event(event), plain(event))


def _control() -> Iterator[ValidVector]:
    requests: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("hello", "the first request", {"v": PROTOCOL_VERSION, "client": "viewer"}),
        ("list", "no fields", {}),
        (
            "open",
            "every field",
            {
                "performer": "anna",
                "character": "giant",
                "rig": "rigs/giant.vrm",
                "solver": "clik",
                "params": {"gain": 0.5, "mirror": False},
                "rate_hz": 60,
            },
        ),
        ("close", "ends the session of a character", {"character": "giant"}),
        (
            "set",
            "changes parameters and settings",
            {
                "character": "giant",
                "params": {"gain": 1.0},
                "stride": "performed",
                "lock_feet": False,
                "smoothing": 0.25,
            },
        ),
        ("reset", "forgets the past", {"character": "giant"}),
        ("stats", "of everything", {}),
        ("time", "the first of four times", {"t1": 1_000_000}),
        (
            "calibrate",
            "three seconds to take up the pose, one to hold it",
            {"performer": "anna", "countdown_s": 3.0, "hold_s": 1.0},
        ),
        ("save", "writes the settings into the show file", {}),
    )
    for number, (op, about, fields) in enumerate(requests, 1):
        yield ValidVector(
            f"request-{op}",
            "request",
            about,
            encode_request(op, number, fields),
            plain(Request(op, number, fields)),
        )
    replies: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("empty", "done, nothing to tell", {}),
        (
            "time",
            "the times on the server's clock",
            {"t1": 1_000_000, "t2": 9_000_400, "t3": 9_000_600},
        ),
        (
            "list",
            "nested lists and maps",
            {
                "performers": [
                    {"name": "anna", "state": "unknown", "skeleton": None, "joints": None}
                ],
                "characters": [{"name": "giant", "skeleton": ARM.id, "joints": 5}],
                "sessions": [],
                "solvers": ["clik", "copy"],
            },
        ),
    )
    for name, about, fields in replies:
        yield ValidVector(
            f"reply-{name}", "reply", about, encode_reply(8, fields), plain(Reply(8, fields))
        )
    refusal = Refusal("unknown-op", "op 'dance'; allowed: hello, list")
    for name, about, id in (
        ("refused", "the request was refused", 9),
        ("refused-no-id", "the request's id could not be read", None),
    ):
        data = encode_refusal(id, refusal.reason, refusal.text)
        yield ValidVector(f"reply-{name}", "reply", about, data, plain(Reply(id, refusal=refusal)))


def _topics() -> Iterator[ValidVector]:
    for name, performer in (("topic", "anna"), ("topic-unicode", "アンナ 2")):
        yield ValidVector(
            name,
            "topic",
            "name and kind around a slash",
            topic(performer, "frame"),
            {"name": performer, "kind": "frame"},
        )


VALID: Final[tuple[ValidVector, ...]] = (
    *_skeletons(),
    *_frames(),
    *_goals(),
    *_poses(),
    *_events(),
    *_control(),
    *_topics(),
)
