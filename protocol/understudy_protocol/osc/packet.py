"""OSC 1.0 packets: bundles and messages, bytes in and bytes out.

Bundles are walked here and not by python-osc, whose bundle parser never ends on a negative element
size and logs what it does not know. A single message's arguments are decoded by python-osc once
its structure has been checked, so that nothing a stranger sends can reach a logger or be read past
its end.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypeAlias

from pythonosc.osc_message import OscMessage, ParseError

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_DEPTH
from understudy_protocol.names import describe

BUNDLE_HEAD: Final = b"#bundle\0"
IMMEDIATELY: Final = b"\0\0\0\0\0\0\0\1"
"""The time tag that means now. Any other makes some receivers wait."""

BUNDLE_START: Final = BUNDLE_HEAD + IMMEDIATELY

MAX_DATAGRAM_BYTES: Final = 65_507
"""What fits into one UDP datagram over IPv4."""

MTU_PAYLOAD_BYTES: Final = 1472
"""What fits into one Ethernet frame: 1500 bytes less the IP and UDP headers."""

_SIZE: Final = struct.Struct(">i")
_FLOAT: Final = struct.Struct(">f")

Argument: TypeAlias = object
"""int, float, str, bytes, bool, None, or for the rare types what python-osc makes of them."""

# Bytes that an argument of each type takes; strings and blobs say so themselves.
_ARGUMENT_BYTES: Final = {
    **dict.fromkeys("ifrm", 4),
    **dict.fromkeys("hdt", 8),
    **dict.fromkeys("TFN[]", 0),
}


@dataclass(frozen=True, slots=True)
class OscMessageView:
    """One decoded message, and the very bytes it came in."""

    address: str
    arguments: tuple[Argument, ...]
    raw: bytes


def split_packet(datagram: bytes) -> tuple[list[bytes], list[ProtocolError]]:
    """The messages of a datagram in order, out of all bundles, and what had to be refused.

    Time tags are ignored: live motion is always for now. Never raises: after a broken element
    size the rest of that bundle is refused, everything before it and around it counts.
    """
    messages: list[bytes] = []
    refused: list[ProtocolError] = []
    if len(datagram) > MAX_DATAGRAM_BYTES:
        refused.append(
            ProtocolError(
                "too-long", f"a datagram of {len(datagram)} bytes; allowed: {MAX_DATAGRAM_BYTES}"
            )
        )
    else:
        _split_element(datagram, 1, messages, refused)
    return messages, refused


def _split_element(
    data: bytes, depth: int, messages: list[bytes], refused: list[ProtocolError]
) -> None:
    if data[:1] == b"/":
        messages.append(data)
    elif data[:8] == BUNDLE_HEAD:
        _split_bundle(data, depth, messages, refused)
    elif data:
        refused.append(
            ProtocolError("not-osc", f"{len(data)} bytes that start as neither message nor bundle")
        )
    else:
        refused.append(ProtocolError("empty", "an OSC packet of 0 bytes"))


def _split_bundle(
    data: bytes, depth: int, messages: list[bytes], refused: list[ProtocolError]
) -> None:
    length = len(data)
    if length < 16:
        refused.append(ProtocolError("truncated", f"a bundle of {length} bytes has no time tag"))
        return
    if depth > MAX_DEPTH:
        refused.append(ProtocolError("too-deep", f"bundles nested more than {MAX_DEPTH} deep"))
        return
    at = 16
    read_size = _SIZE.unpack_from
    while at + 4 <= length:
        (size,) = read_size(data, at)
        at += 4
        end = at + size
        if size < 0 or size & 3 or end > length:
            refused.append(
                ProtocolError(
                    "bad-length",
                    f"a bundle element of {size} bytes with {length - at} left; allowed: a "
                    "multiple of 4 that is there",
                )
            )
            return
        element = data[at:end]
        if element[:1] == b"/":
            messages.append(element)
        else:
            _split_element(element, depth + 1, messages, refused)
        at = end
    if at != length:
        refused.append(ProtocolError("bad-length", f"{length - at} stray bytes end a bundle"))


def read_message(raw: bytes) -> OscMessageView:
    """Decode one message; ProtocolError says what is wrong with it."""
    if len(raw) & 3:
        raise ProtocolError(
            "bad-length", f"an OSC message of {len(raw)} bytes; allowed: multiples of 4"
        )
    if raw[:1] != b"/":
        raise ProtocolError("not-osc", "an OSC message must start with '/'")
    at = string_end(raw, 0)
    if at < len(raw):  # Old senders leave the type tags out where there are no arguments.
        tags_end = string_end(raw, at)
        _check_arguments(raw, raw[at:tags_end].rstrip(b"\0"), tags_end)
    try:
        parsed = OscMessage(raw)
    except UnicodeDecodeError:
        raise ProtocolError(
            "bad-text", f"text in an OSC message of {describe(raw)} is not valid UTF-8"
        ) from None
    except (ParseError, ValueError, OverflowError) as error:
        raise ProtocolError("bad-argument", f"an OSC argument: {describe(str(error))}") from None
    return OscMessageView(parsed.address, tuple(parsed.params), raw)


def read_address(raw: bytes) -> str:
    """The address of a message, the rest of which need not be in order."""
    try:
        return raw[: string_end(raw, 0)].rstrip(b"\0").decode()
    except UnicodeDecodeError:
        raise ProtocolError("bad-text", "an OSC address is not valid UTF-8") from None


def string_end(raw: bytes, start: int) -> int:
    """Where the OSC string that begins at `start` ends, padding included."""
    nul = raw.find(0, start)
    end = start + ((nul - start) // 4 + 1) * 4
    if nul < 0 or end > len(raw):
        raise ProtocolError("truncated", "an OSC string without its closing zero")
    return end


def _check_arguments(raw: bytes, tags: bytes, start: int) -> None:
    """Refuse unknown types, and arguments that do not fill the message exactly."""
    if tags[:1] != b",":
        raise ProtocolError(
            "no-type-tags", f"type tags {describe(tags.decode('latin-1'))}; they begin with ','"
        )
    at = start
    for tag in tags[1:].decode("latin-1"):
        if tag == "s":
            at = string_end(raw, at)
        elif tag == "b":
            size = _SIZE.unpack_from(raw, at)[0] if at + 4 <= len(raw) else -1
            if size < 0:
                raise ProtocolError("truncated", "an OSC blob without a size")
            at += 4 + (size + 3) // 4 * 4
        elif tag in _ARGUMENT_BYTES:
            at += _ARGUMENT_BYTES[tag]
        else:
            raise ProtocolError(
                "unknown-type", f"OSC type tag {describe(tag)}; allowed: i f s b T F N h d t r m []"
            )
        if at > len(raw):
            raise ProtocolError("truncated", f"an OSC argument of type {tag!r} is cut off")
    if at != len(raw):
        raise ProtocolError("trailing-bytes", f"{len(raw) - at} bytes after the last OSC argument")


def write_string(text: str) -> bytes:
    """An OSC string: UTF-8, closed by zeros up to a multiple of 4 bytes."""
    encoded = text.encode()
    if b"\0" in encoded:
        raise ProtocolError("bad-text", f"OSC text {describe(text)} has a zero in it")
    return encoded + b"\0" * (4 - len(encoded) % 4)


def write_message(address: str, tags: str, *arguments: object) -> bytes:
    """One message; `tags` without the comma, of i f s b T F, the types every receiver knows.

    The type-tag string is always there, even with no arguments: receivers insist on it.
    """
    if not address.startswith("/"):
        raise ProtocolError("bad-address", f"OSC address {describe(address)} must start with '/'")
    parts = [write_string(address), write_string("," + tags)]
    given = iter(arguments)
    try:
        for tag in tags:
            if tag not in "TF":
                parts.append(_write_argument(tag, next(given)))
    except StopIteration:
        raise ProtocolError(
            "bad-length", f"{address}: type tags {tags!r} for {len(arguments)} arguments"
        ) from None
    if next(given, None) is not None:
        raise ProtocolError(
            "bad-length", f"{address}: type tags {tags!r} for {len(arguments)} arguments"
        )
    return b"".join(parts)


def _write_argument(tag: str, value: object) -> bytes:
    try:
        if tag == "i" and isinstance(value, int):
            return _SIZE.pack(value)
        if tag == "f" and isinstance(value, int | float):
            return _FLOAT.pack(value)
    except (struct.error, OverflowError):
        raise ProtocolError(
            "out-of-range", f"{describe(value)} does not fit OSC type {tag!r}"
        ) from None
    if tag == "s" and isinstance(value, str):
        return write_string(value)
    if tag == "b" and isinstance(value, bytes):
        return _SIZE.pack(len(value)) + value + b"\0" * (-len(value) % 4)
    raise ProtocolError(
        "bad-type",
        f"{describe(value)} as OSC type {tag!r}; allowed: int i, float f, str s, bytes b",
    )


def sized(message: bytes) -> bytes:
    """A message as an element of a bundle: its size, then itself."""
    return _SIZE.pack(len(message)) + message


def write_bundle(elements: Iterable[bytes]) -> bytes:
    """One bundle of messages, or of bundles, for now."""
    return BUNDLE_START + b"".join(map(sized, elements))


def append_messages(
    datagrams: list[bytes], messages: Iterable[bytes], limit: int = MTU_PAYLOAD_BYTES
) -> None:
    """Put messages behind the last bundle of a list, in new bundles where `limit` bytes are full.

    A message too long for any bundle of that size gets a bundle of its own.
    """
    open_bundle = [datagrams.pop()] if datagrams else [BUNDLE_START]
    length = len(open_bundle[0])
    for message in messages:
        added = 4 + len(message)
        if length + added > limit and length > len(BUNDLE_START):
            datagrams.append(b"".join(open_bundle))
            open_bundle = [BUNDLE_START]
            length = len(BUNDLE_START)
        open_bundle.append(sized(message))
        length += added
    if length > len(BUNDLE_START):
        datagrams.append(b"".join(open_bundle))
