"""Topics: `<name>/<kind>`, and the two parts of a published message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, get_args

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_MESSAGE_BYTES, MAX_NAME_BYTES
from understudy_protocol.names import check_name, describe

Kind = Literal["skeleton", "frame", "goal", "pose", "event"]
Buffer = bytes | bytearray | memoryview

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
UPLINK_KINDS: Final[tuple[Kind, ...]] = ("skeleton", "frame", "goal")
DOWNLINK_KINDS: Final[tuple[Kind, ...]] = ("skeleton", "pose", "event")

_BY_BYTES: Final[dict[bytes, Kind]] = {kind.encode(): kind for kind in KINDS}
_MAX_TOPIC_BYTES: Final = MAX_NAME_BYTES + 1 + max(map(len, KINDS))


class Envelope(NamedTuple):
    """A published message before its body is read: whom it is about, what it is, its bytes."""

    name: str
    kind: Kind
    body: Buffer


def topic(name: str, kind: Kind) -> bytes:
    """The first part of a message of `kind` about the performer or character `name`."""
    check_name("name", name)
    if kind not in KINDS:
        raise ProtocolError("unknown-kind", f"kind {kind!r}; allowed: {', '.join(KINDS)}")
    return f"{name}/{kind}".encode()


def subscription(name: str) -> bytes:
    """The one prefix under which everything about `name` arrives."""
    check_name("name", name)
    return f"{name}/".encode()


def split_topic(topic_bytes: bytes) -> tuple[str, Kind]:
    """Name and kind of a received topic."""
    if len(topic_bytes) > _MAX_TOPIC_BYTES:
        raise ProtocolError(
            "bad-topic", f"topic has {len(topic_bytes)} bytes; allowed: {_MAX_TOPIC_BYTES}"
        )
    name_bytes, slash, kind_bytes = topic_bytes.partition(b"/")
    if not slash:
        raise ProtocolError(
            "bad-topic", f"topic {topic_bytes!r} has no '/'; expected <name>/<kind>"
        )
    kind = _BY_BYTES.get(kind_bytes)
    if kind is None:
        word = describe(kind_bytes.decode("utf-8", "replace"))
        raise ProtocolError("unknown-kind", f"kind {word} in a topic; allowed: {', '.join(KINDS)}")
    try:
        name = name_bytes.decode()
    except UnicodeDecodeError:
        raise ProtocolError("bad-text", f"name {name_bytes!r} in a topic is not UTF-8") from None
    return check_name("name", name), kind


def open_envelope(parts: Sequence[Buffer]) -> Envelope:
    """Check the number and size of a received message's parts and read its topic."""
    if len(parts) != 2:
        raise ProtocolError("bad-parts", f"message has {len(parts)} parts; allowed: 2")
    name, kind = split_topic(bytes(parts[0]))
    body = parts[1]
    if len(body) > MAX_MESSAGE_BYTES:
        raise ProtocolError(
            "too-large", f"{kind} has {len(body)} bytes; allowed: {MAX_MESSAGE_BYTES}"
        )
    return Envelope(name, kind, body)
