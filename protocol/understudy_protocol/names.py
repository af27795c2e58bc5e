"""What performers, characters, joints and other things may be called."""

from __future__ import annotations

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_NAME_BYTES, MAX_TEXT_BYTES


def check_name(what: str, name: object, *, slash: bool = False) -> str:
    """`name` if it is 1 to 64 bytes of UTF-8 without control characters, nor '/' unless `slash`.

    `what` names the thing in the error's text. Performers and characters have no '/', because it
    ends their name in a topic; joints, markers, contacts and effectors may.
    """
    if type(name) is not str:
        raise ProtocolError("bad-type", f"{what} is {describe(name)}; allowed: text")
    length = _utf8_length(what, name)
    if not 1 <= length <= MAX_NAME_BYTES:
        raise ProtocolError(
            "bad-name",
            f"{what} {describe(name)} has {length} bytes; allowed: 1 to {MAX_NAME_BYTES}",
        )
    if not name.isprintable() and any(is_control(character) for character in name):
        raise ProtocolError("bad-name", f"{what} {name!r} has a control character; none is allowed")
    if not slash and "/" in name:
        raise ProtocolError("bad-name", f"{what} {name!r} has a '/'; none is allowed")
    return name


def check_text(what: str, text: object) -> str:
    """`text` if it is at most 1024 bytes of UTF-8."""
    if type(text) is not str:
        raise ProtocolError("bad-type", f"{what} is {describe(text)}; allowed: text")
    length = _utf8_length(what, text)
    if length > MAX_TEXT_BYTES:
        raise ProtocolError("bad-length", f"{what} has {length} bytes; allowed: {MAX_TEXT_BYTES}")
    return text


def _utf8_length(what: str, text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise ProtocolError("bad-text", f"{what} {describe(text)} is not valid Unicode") from None


def is_control(character: str) -> bool:
    """Whether a character is one of Unicode's control characters (U+0000-1F, U+007F-9F)."""
    return character < " " or "\x7f" <= character <= "\x9f"


def describe(value: object) -> str:
    """A value in at most some 60 characters, on one line, for the text of an error."""
    if value is None:
        return "missing"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"{len(value)} bytes"
    if isinstance(value, (list, dict)):
        return f"a {'list' if isinstance(value, list) else 'map'} of {len(value)}"
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."
