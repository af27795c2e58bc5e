"""What is said on the wire, byte by byte."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.transport.zmtp import PUBLISHER, SUBSCRIBER, Conversation, ZmtpError, encode

SIGNATURE = b"\xff" + bytes(8) + b"\x7f"
GREETING = SIGNATURE + b"\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)


def ready(kind: bytes) -> bytes:
    body = b"\x05READY\x08Identity" + bytes(4) + b"\x0bSocket-Type"
    body += len(kind).to_bytes(4, "big") + kind
    return bytes((4, len(body))) + body


def message(parts: list[bytes]) -> bytes:
    last = len(parts) - 1
    return b"".join(encode(part, more=i < last) for i, part in enumerate(parts))


def opened(kind: bytes = b"PUB") -> Conversation:
    conversation = Conversation(SUBSCRIBER, 1 << 20)
    assert conversation.hear(GREETING + ready(kind)) == []
    assert conversation.open
    conversation.unsent.clear()
    return conversation


MESSAGES = st.lists(
    st.lists(st.binary(max_size=20) | st.binary(min_size=250, max_size=260), min_size=1, max_size=4)
)


@given(MESSAGES, st.lists(st.integers(0, 3000)))
def test_however_the_bytes_are_cut_the_messages_are_the_same(
    messages: list[list[bytes]], cuts: list[int]
) -> None:
    data = GREETING + ready(b"XPUB") + b"".join(message(parts) for parts in messages)
    bounds = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    conversation = Conversation(SUBSCRIBER, 1 << 20)
    heard = []
    for begin, end in itertools.pairwise(bounds):
        heard += conversation.hear(data[begin:end])
    assert heard == messages


def test_we_greet_as_version_three_and_say_what_we_are() -> None:
    conversation = Conversation(PUBLISHER, 1024)
    assert conversation.unsent == SIGNATURE + b"\x03"
    conversation.hear(GREETING)
    said = bytes(conversation.unsent)
    assert len(said) > 64
    assert said[10:12] == b"\x03\x00"
    assert said[12:32] == b"NULL".ljust(20, b"\0")
    assert said[32:64] == bytes(32)
    assert said[64:] == b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB"
    assert not conversation.open


def test_a_peer_of_version_two_is_answered_in_version_two() -> None:
    conversation = Conversation(SUBSCRIBER, 1024)
    assert conversation.hear(SIGNATURE + b"\x01") == []
    assert bytes(conversation.unsent) == SIGNATURE + b"\x03" + b"\x02" + b"\x00\x00"
    assert conversation.hear(b"\x01\x00\x02me" + message([b"a", b"b"])) == [[b"a", b"b"]]


def test_a_ping_is_answered_with_its_context() -> None:
    conversation = opened()
    ping = b"\x04PING\x00\x0acontext"
    assert conversation.hear(bytes((4, len(ping))) + ping) == []
    assert bytes(conversation.unsent) == b"\x04\x0c\x04PONGcontext"


def test_a_command_nobody_knows_is_passed_over() -> None:
    conversation = opened()
    assert conversation.hear(b"\x04\x05\x04WHAT" + message([b"a"])) == [[b"a"]]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "not ZMTP"),
        (b"\xff" + bytes(9) + b"\x03", "not ZMTP"),
        (GREETING.replace(b"NULL", b"CURV") + ready(b"PUB"), "mechanism"),
        (GREETING + ready(b"REQ"), "REQ"),
        (GREETING + message([b"too soon"]), "without READY"),
        (GREETING + b"\x04\x08\x05READY\x40a", "cut short"),
        (GREETING + b"\x06" + (1 << 40).to_bytes(8, "big") + bytes(5000), "before READY"),
        (SIGNATURE + b"\x01" + b"\x03\x00\x00", "kind 3"),
        (GREETING + ready(b"PUB") + b"\x02" + (1 << 21).to_bytes(8, "big"), "2097152 bytes"),
        (GREETING + ready(b"PUB") + b"\x01\x00" * 16, "parts"),
    ],
)
def test_what_is_wrong_is_named(data: bytes, why: str) -> None:
    with pytest.raises(ZmtpError, match=why):
        Conversation(SUBSCRIBER, 1 << 20).hear(data)


@given(st.binary(max_size=200))
def test_rubbish_is_refused_or_waited_for_and_nothing_else(rubbish: bytes) -> None:
    for data in (rubbish, GREETING + rubbish, GREETING + ready(b"PUB") + rubbish):
        try:
            Conversation(SUBSCRIBER, 1 << 10).hear(data)
        except ZmtpError:
            pass
