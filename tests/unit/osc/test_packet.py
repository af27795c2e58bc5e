from __future__ import annotations

import logging
import math
import struct
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pythonosc.osc_bundle import OscBundle
from pythonosc.osc_bundle_builder import IMMEDIATELY, OscBundleBuilder
from pythonosc.osc_message import OscMessage
from pythonosc.osc_message_builder import OscMessageBuilder

from understudy_protocol.errors import ProtocolError
from understudy_protocol.osc.layouts import KnownLayouts
from understudy_protocol.osc.packet import (
    BUNDLE_START,
    MTU_PAYLOAD_BYTES,
    append_messages,
    read_message,
    split_packet,
    write_bundle,
    write_message,
)

Value = int | float | str | bytes | bool
Content = tuple[str, list[tuple[str, Value]]]

text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
addresses = text.map(lambda tail: "/" + tail)
values: st.SearchStrategy[tuple[str, Value]] = st.one_of(
    st.tuples(st.just("i"), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(st.just("f"), st.floats(width=32)),
    st.tuples(st.just("s"), text),
    st.tuples(st.just("b"), st.binary(min_size=1, max_size=20)),
    st.just(("T", True)),
    st.just(("F", False)),
)
contents: st.SearchStrategy[Content] = st.tuples(addresses, st.lists(values, max_size=6))


def theirs(content: Content) -> OscMessage:
    builder = OscMessageBuilder(content[0])
    for tag, value in content[1]:
        builder.add_arg(value, tag)
    return builder.build()


def ours(content: Content) -> bytes:
    tags = "".join(tag for tag, _ in content[1])
    return write_message(content[0], tags, *(value for tag, value in content[1] if tag not in "TF"))


def their_bundle(parts: list[OscMessage | OscBundle]) -> OscBundle:
    builder = OscBundleBuilder(IMMEDIATELY)
    for part in parts:
        builder.add_content(part)
    return builder.build()


def flattened(packet: OscMessage | OscBundle) -> Iterator[OscMessage]:
    if isinstance(packet, OscMessage):
        yield packet
    else:
        for part in packet:
            yield from flattened(part)


def comparable(address: str, arguments: list[object] | tuple[object, ...]) -> tuple[object, ...]:
    """Arguments with their types, and NaN equal to NaN."""
    return (
        address,
        *(
            (type(value), "nan" if isinstance(value, float) and math.isnan(value) else value)
            for value in arguments
        ),
    )


messages = contents.map(theirs)
bundles = st.recursive(
    messages, lambda inner: st.lists(inner, max_size=4).map(their_bundle), max_leaves=12
)


@given(contents)
def test_a_message_is_encoded_as_python_osc_encodes_it(content: Content) -> None:
    assert ours(content) == theirs(content).dgram


@given(bundles)
def test_any_packet_is_decoded_as_python_osc_decodes_it(packet: OscMessage | OscBundle) -> None:
    raws, refused = split_packet(packet.dgram)
    mine = [read_message(raw) for raw in raws]
    assert not refused
    assert [comparable(m.address, m.arguments) for m in mine] == [
        comparable(m.address, m.params) for m in flattened(packet)
    ]
    assert raws == [m.dgram for m in flattened(packet)]


@given(st.lists(contents, max_size=6))
def test_a_bundle_of_ours_is_decoded_by_python_osc(parts: list[Content]) -> None:
    bundle = OscBundle(write_bundle([ours(part) for part in parts]))
    assert bundle.timestamp == IMMEDIATELY
    assert [part.dgram for part in bundle] == [ours(part) for part in parts]


@given(
    text,
    st.lists(st.one_of(st.integers(-(2**31), 2**31 - 1), st.floats(width=32)), max_size=14),
    st.booleans(),
)
def test_a_known_layout_reads_what_python_osc_reads(
    name: str, numbers: list[int | float], named: bool
) -> None:
    tags = ("s" if named else "") + "".join("i" if type(n) is int else "f" for n in numbers)
    raw = write_message("/some/address", tags, *([name] if named else []), *numbers)
    found = KnownLayouts([("/some/address", tags)]).read(raw)
    assert found is not None
    assert comparable(*found) == comparable("/some/address", OscMessage(raw).params)


@given(st.sampled_from(["sf", "f", ""]), st.binary(max_size=24), st.integers(0, 24))
def test_a_known_layout_never_reads_what_the_careful_way_refuses(
    tags: str, noise: bytes, cut: int
) -> None:
    whole = write_message("/a", tags, *("x" if tag == "s" else 1.0 for tag in tags))
    raw = whole[:cut] + noise
    found = KnownLayouts([("/a", "sf"), ("/a", "f"), ("/a", "")]).read(raw)
    if found is not None:
        message = read_message(raw)
        assert comparable(*found) == comparable(message.address, message.arguments)


class Complaint(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        raise AssertionError(f"remote input was logged: {record.getMessage()}")


chunks = st.one_of(
    st.binary(max_size=24),
    st.sampled_from(
        [
            BUNDLE_START,
            b"#bundle\0",
            b"/a\0\0,",
            b",i\0\0",
            b",q\0\0",
            b",[b]\0\0\0\0",
            b",sb\0",
            b",t\0\0",
            b"\0\0\0\0",
            b"\0\0\0\4",
            b"\xff\xff\xff\xfc",
            b"\x7f\xff\xff\xff",
        ]
    ),
    messages.map(lambda m: struct.pack(">i", len(m.dgram)) + m.dgram),
)


@given(st.lists(chunks, max_size=8).map(b"".join))
def test_any_bytes_are_decoded_or_refused_and_never_logged(datagram: bytes) -> None:
    complaint = Complaint()
    logging.getLogger().addHandler(complaint)
    try:
        raws, refused = split_packet(datagram)
        assert raws or refused or datagram[:8] == b"#bundle\0"
        assert all(error.reason and "\n" not in str(error) for error in refused)
        for raw in raws:
            with suppress(ProtocolError):
                read_message(raw)
    finally:
        logging.getLogger().removeHandler(complaint)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"/a\0\0,f\0\0", "truncated"),
        (b"/a\0\0,s\0\0abcd", "truncated"),
        (b"/a\0\0,f\0\0\0\0", "bad-length"),
        (b"/a\0\0,f\0\0\0\0\0\0\0\0\0\0", "trailing-bytes"),
        (b"/a\0\0,q\0\0\0\0\0\0", "unknown-type"),
        (b"/a\0\0f\0\0\0\0\0\0\0", "no-type-tags"),
        (b"/a\0\0,b\0\0\xff\xff\xff\xff", "truncated"),
        (b"/a\0\0,b\0\0\0\0\0\x08\0\0\0\0", "truncated"),
        (b"/a\0\0,s\0\0\xff\0\0\0", "bad-text"),
        (b"/a\0\0,[\0\0", "bad-argument"),
        (b"/abc", "truncated"),
        (b"a\0\0\0", "not-osc"),
    ],
)
def test_a_broken_message_is_refused_with_its_reason(raw: bytes, reason: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        read_message(raw)
    assert refused.value.reason == reason


def test_a_message_without_type_tags_has_no_arguments() -> None:
    assert read_message(b"/a\0\0").arguments == ()


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b"\0\0\0\x40/b\0\0", "bad-length"),
        (b"\xff\xff\xff\xfc", "bad-length"),
        (b"\0\0\0\3/b\0", "bad-length"),
        (b"\0\0", "bad-length"),
        (b"\0\0\0\4bad!", "not-osc"),
        (b"\0\0\0\0", "empty"),
        (b"\0\0\0\x08#bundle\0", "truncated"),
    ],
)
def test_what_comes_before_a_broken_element_counts(tail: bytes, reason: str) -> None:
    good = write_message("/good", "i", 1)
    raws, refused = split_packet(write_bundle([good]) + tail)
    assert raws == [good]
    assert [error.reason for error in refused] == [reason]


def test_elements_around_a_broken_inner_bundle_count() -> None:
    good = write_message("/good", "i", 1)
    broken = write_bundle([good]) + b"\0\0\0\x40"
    raws, refused = split_packet(write_bundle([broken, good]))
    assert raws == [good, good]
    assert len(refused) == 1


def test_bundles_nested_without_end_are_refused() -> None:
    bundle = write_bundle([write_message("/deep", "")])
    for _ in range(500):
        bundle = write_bundle([bundle])
    raws, refused = split_packet(bundle)
    assert not raws
    assert [error.reason for error in refused] == ["too-deep"]


@given(st.lists(st.integers(0, 400), max_size=30))
def test_appended_messages_keep_their_order_within_the_limit(sizes: list[int]) -> None:
    given_messages = [write_message("/m", "b", bytes(size)) for size in sizes]
    datagrams: list[bytes] = []
    append_messages(datagrams, given_messages)
    assert [raw for datagram in datagrams for raw in split_packet(datagram)[0]] == given_messages
    assert all(len(datagram) <= MTU_PAYLOAD_BYTES for datagram in datagrams)


@pytest.mark.parametrize(
    ("address", "tags", "arguments", "reason"),
    [
        ("a", "", (), "bad-address"),
        ("/a", "i", (), "bad-length"),
        ("/a", "", (1,), "bad-length"),
        ("/a", "i", (1.5,), "bad-type"),
        ("/a", "i", (2**31,), "out-of-range"),
        ("/a", "s", ("a\0b",), "bad-text"),
        ("/a", "d", (1.0,), "bad-type"),
    ],
)
def test_a_message_that_cannot_be_sent_is_refused(
    address: str, tags: str, arguments: tuple[object, ...], reason: str
) -> None:
    with pytest.raises(ProtocolError) as refused:
        write_message(address, tags, *arguments)
    assert refused.value.reason == reason
