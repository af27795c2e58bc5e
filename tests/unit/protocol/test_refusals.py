"""Whatever the bytes are, a decoder answers with a message or with ProtocolError."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.messages import trees
from understudy_protocol import (
    MAX_MESSAGE_BYTES,
    EventMessage,
    ProtocolError,
    decode_frame,
    encode_event,
    encode_frame,
    encode_goal,
    encode_pose,
    encode_skeleton,
    open_envelope,
)
from understudy_protocol.vectors import VALID, Read, read
from understudy_protocol.vectors.reading import READ_KINDS
from understudy_protocol.vectors.valid import ARM, FRAME, GOAL, POSE
from understudy_protocol.wire import pack, unpack

# The bytes of short messages: a change in them is likelier to hit something that matters.
SEEDS = [vector for vector in VALID if len(vector.data) < 2000 and vector.kind != "topic"]


def answer(kind: str, data: bytes) -> None:
    """Read bytes; the only exception that may come out is ProtocolError with a fine text."""
    try:
        read(kind, data)  # type: ignore[arg-type]  # a word from READ_KINDS
    except ProtocolError as refusal:
        reason, text = refusal.reason, str(refusal)
    else:
        return
    assert reason
    assert "\n" not in text


@given(st.sampled_from(READ_KINDS), st.binary(max_size=200))
def test_random_bytes_never_raise_anything_else(kind: str, data: bytes) -> None:
    answer(kind, data)


@settings(max_examples=500)
@given(st.sampled_from(SEEDS), st.data())
def test_changed_bytes_never_raise_anything_else(vector: Any, data: st.DataObject) -> None:
    body = bytearray(vector.data)
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(body) - 1))
        body[position] = data.draw(st.integers(0, 255))
    answer(vector.kind, bytes(body))


@pytest.mark.parametrize("vector", SEEDS, ids=lambda vector: vector.name)
def test_every_shorter_piece_is_refused_as_truncated(vector: Any) -> None:
    for length in range(len(vector.data)):
        with pytest.raises(ProtocolError) as caught:
            read(vector.kind, vector.data[:length])
        assert caught.value.reason == "truncated"


LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
VALUES = trees(LEAVES | st.text(max_size=9) | st.binary(max_size=70))


@settings(max_examples=500)
@given(st.sampled_from(SEEDS), VALUES, st.data())
def test_a_field_of_any_type_never_raises_anything_else(
    vector: Any, value: Any, data: st.DataObject
) -> None:
    content = unpack(vector.kind, vector.data)
    content[data.draw(st.sampled_from(sorted(content, key=str)))] = value
    answer(vector.kind, pack(vector.kind, content))


@given(st.sampled_from(READ_KINDS), st.dictionaries(st.text(max_size=9), VALUES, max_size=5))
def test_a_map_of_anything_never_raises_anything_else(kind: str, content: dict[str, Any]) -> None:
    answer(kind, pack(kind, content))


def test_a_body_above_the_limit_is_refused() -> None:
    body = bytes(MAX_MESSAGE_BYTES + 1)
    with pytest.raises(ProtocolError, match="1048577 bytes") as caught:
        decode_frame(body)
    assert caught.value.reason == "too-large"
    with pytest.raises(ProtocolError) as caught:
        open_envelope([b"anna/frame", body])
    assert caught.value.reason == "too-large"


def test_an_error_names_the_field_the_value_and_what_is_allowed() -> None:
    body = pack("frame", {**unpack("frame", encode_frame(FRAME)), "seq": -5})
    with pytest.raises(ProtocolError) as caught:
        decode_frame(body)
    assert str(caught.value) == (
        "frame: 'seq' is -5; allowed: a whole number from 0 to 18446744073709551615"
    )


@pytest.mark.parametrize("key", ["offsets", "rest", "axes", "limits", "tips"])
def test_a_signalling_nan_in_a_skeleton_is_refused_without_a_warning(key: str) -> None:
    full = next(v for v in SEEDS if v.kind == "skeleton" and key in unpack("skeleton", v.data))
    content = unpack("skeleton", full.data)
    numbers = bytearray(content[key])
    numbers[:4] = b"\x01\x00\x80\x7f"
    with pytest.raises(ProtocolError):
        read("skeleton", pack("skeleton", {**content, key: bytes(numbers)}))


def test_a_long_value_is_cut_in_the_text_of_an_error() -> None:
    body = pack("frame", {**unpack("frame", encode_frame(FRAME)), "seq": "x\n" * 9999})
    with pytest.raises(ProtocolError) as caught:
        decode_frame(body)
    assert len(str(caught.value)) < 150


NAN = np.full(3, np.nan)
UNSENDABLE: list[tuple[str, Any, Read, dict[str, Any]]] = [
    ("bad-length", FRAME, "frame", {"root": np.zeros(4)}),
    ("bad-length", FRAME, "frame", {"root": np.zeros((1, 3))}),
    ("bad-length", FRAME, "frame", {"rotations_xyzw": np.zeros(4)}),
    ("bad-length", FRAME, "frame", {"rotations_xyzw": np.zeros((0, 4))}),
    ("bad-length", FRAME, "frame", {"rotations_xyzw": np.zeros((513, 4))}),
    ("bad-length", FRAME, "frame", {"points": np.zeros((257, 3))}),
    ("not-finite", FRAME, "frame", {"root": NAN}),
    ("not-finite", FRAME, "frame", {"rotations_xyzw": np.full((1, 4), np.inf)}),
    ("not-finite", FRAME, "frame", {"points": np.array([[0.0, np.nan, 0.0]])}),
    ("out-of-range", FRAME, "frame", {"rotations_xyzw": np.full((1, 4), 1e300)}),
    ("out-of-range", FRAME, "frame", {"seq": -1}),
    ("out-of-range", FRAME, "frame", {"run": 1 << 32}),
    ("bad-type", FRAME, "frame", {"seq": 1.5}),
    ("bad-type", FRAME, "frame", {"root": ["a", "b", "c"]}),
    ("missing-field", FRAME, "frame", {"root": None}),
    ("missing-field", GOAL, "goal", {"position": None}),
    ("not-unit", GOAL, "goal", {"orientation_xyzw": np.ones(4)}),
    ("out-of-range", GOAL, "goal", {"weight": 1.01}),
    ("bad-name", GOAL, "goal", {"effector": ""}),
    ("bad-length", POSE, "pose", {"angles_rad": np.zeros((2, 2))}),
    ("bad-length", POSE, "pose", {"contacts": bytes(65)}),
    ("not-finite", POSE, "pose", {"residual_m": np.nan}),
    ("bad-parent", ARM, "skeleton", {"parents": np.array([-1, 0, 1, 2, 4])}),
    ("bad-length", ARM, "skeleton", {"offsets": np.zeros((4, 3))}),
    ("bad-text", ARM, "skeleton", {"joints": (*ARM.joints[:4], "\ud800")}),
    ("duplicate-name", ARM, "skeleton", {"joints": ("hips",) * 5}),
]


@pytest.mark.parametrize(("reason", "message", "kind", "change"), UNSENDABLE)
def test_what_a_reader_would_refuse_is_not_sent(
    reason: str, message: Any, kind: Read, change: dict[str, Any]
) -> None:
    encode: dict[str, Any] = {
        "frame": encode_frame,
        "goal": encode_goal,
        "pose": encode_pose,
        "skeleton": encode_skeleton,
    }
    with pytest.raises(ProtocolError) as caught:
        encode[kind](replace(message, **change))
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    ("reason", "event"),
    [
        ("bad-text", EventMessage("stale", "\ud800", 0)),
        ("bad-length", EventMessage("stale", "é" * 513, 0)),
        ("bad-type", EventMessage("stale", "x", 0, {"a": b"bytes"})),  # type: ignore[dict-item]  # on purpose
        ("out-of-range", EventMessage("stale", "x", 0, {"a": 1 << 64})),
        ("bad-name", EventMessage("sta/le", "x", 0)),
    ],
)
def test_an_event_that_a_reader_would_refuse_is_not_sent(reason: str, event: EventMessage) -> None:
    with pytest.raises(ProtocolError) as caught:
        encode_event(event)
    assert caught.value.reason == reason
