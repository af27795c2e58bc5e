"""Control requests, replies and the offset between two clocks."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.messages import trees
from understudy_protocol import (
    OPERATIONS,
    ProtocolError,
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
from understudy_protocol.wire import pack

NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = trees(st.none() | st.booleans() | NUMBERS | st.text(max_size=9))
KEYS = st.text(max_size=8).filter(lambda key: key not in ("op", "id", "ok", "error"))


@given(st.integers(0, 2**64 - 1), st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_reply_survives(id: int, fields: dict[str, Any]) -> None:
    assert decode_reply(encode_reply(id, fields)) == Reply(id, fields)


@given(st.integers(0, 2**64 - 1), st.dictionaries(KEYS, VALUES, max_size=4))
def test_a_request_survives_with_keys_that_the_operation_does_not_know(
    id: int, fields: dict[str, Any]
) -> None:
    assert decode_request(encode_request("list", id, fields)) == Request("list", id, fields)


@pytest.mark.parametrize("id", [3, None])
def test_a_refusal_survives(id: int | None) -> None:
    reply = decode_reply(encode_refusal(id, "busy", "try later"))
    assert reply == Reply(id, refusal=Refusal("busy", "try later"))
    assert not reply.ok


@given(st.text(st.characters(), max_size=400))
def test_a_refusal_goes_out_whatever_its_text_is(text: str) -> None:
    refusal = decode_reply(encode_refusal(1, "bad-value", text)).refusal
    assert refusal is not None
    sent = text.encode("utf-8", "replace")
    assert sent.startswith(refusal.text.encode())
    assert len(refusal.text.encode()) > min(len(sent), 1024) - 4


def test_a_refusal_of_a_long_text_is_cut_between_characters() -> None:
    refusal = decode_reply(encode_refusal(1, "bad-value", "x" + "\N{CAT FACE}" * 300)).refusal
    assert refusal == Refusal("bad-value", "x" + "\N{CAT FACE}" * 255)


def test_a_request_with_an_unknown_operation_keeps_its_id_for_the_refusal() -> None:
    request = decode_request(pack("request", {"op": "dance", "id": 7}))
    assert request.id == 7
    with pytest.raises(ProtocolError, match="'dance'; allowed: hello, list") as caught:
        check_request(request)
    assert caught.value.reason == "unknown-op"


def test_a_client_cannot_send_a_request_the_server_would_refuse() -> None:
    with pytest.raises(ProtocolError, match="'performer' is missing"):
        encode_request("open", 1, {"character": "giant"})
    with pytest.raises(ProtocolError, match="op 'dance'; allowed"):
        encode_request("dance", 1)
    with pytest.raises(ProtocolError, match="'lock_feet' is 1; allowed: true or false"):
        encode_request("set", 1, {"character": "giant", "lock_feet": 1})
    with pytest.raises(ProtocolError, match=r"'smoothing' is 1\.5; allowed"):
        encode_request("set", 1, {"character": "giant", "smoothing": 1.5})
    with pytest.raises(ProtocolError) as caught:
        encode_request("list", -1)
    assert caught.value.reason == "out-of-range"


def test_the_operation_and_the_id_cannot_be_overwritten_by_a_field() -> None:
    body = encode_request("list", 5, {"op": "close", "id": 6})
    assert decode_request(body) == Request("list", 5)


@pytest.mark.parametrize(
    "value",
    [b"bytes", {1: 2}, object(), float("nan"), 1 << 64, "x" * 1025, [0] * 4097],
)
def test_a_reply_takes_plain_values_only(value: object) -> None:
    with pytest.raises(ProtocolError):
        encode_reply(1, {"value": value})


def test_the_operations_are_those_of_the_specification() -> None:
    assert list(OPERATIONS) == [
        "hello",
        "list",
        "open",
        "close",
        "set",
        "reset",
        "stats",
        "time",
        "calibrate",
        "save",
    ]


def test_the_example_of_the_specification_comes_out_as_printed() -> None:
    assert clock_offset(1_000_000, 9_000_400, 9_000_600, 1_001_000) == (8_000_000, 800)


@given(
    offset=st.integers(-(10**18), 10**18),
    there=st.integers(0, 10**9),
    work=st.integers(0, 10**9),
    back=st.integers(0, 10**9),
)
def test_the_offset_is_wrong_by_at_most_half_the_round_trip(
    offset: int, there: int, work: int, back: int
) -> None:
    t1 = 5_000
    t4 = t1 + there + work + back
    found = clock_offset(t1, t1 + there + offset, t1 + there + work + offset, t4)
    assert found.round_trip_ns == there + back
    assert abs(found.offset_ns - offset) <= (there + back + 1) // 2
