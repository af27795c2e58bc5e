"""Read the bytes of a vector the way its kind wants them read."""

from __future__ import annotations

from typing import Literal, get_args

from understudy_protocol.codec import decode_message
from understudy_protocol.control import check_request, decode_reply, decode_request
from understudy_protocol.plain import Plain, plain
from understudy_protocol.topics import Kind, split_topic

Read = Kind | Literal["request", "reply", "topic"]
READ_KINDS: tuple[str, ...] = (*get_args(Kind), "request", "reply", "topic")


def read(kind: Read, data: bytes) -> Plain:
    """The content of `data` as plain JSON; ProtocolError where it is refused."""
    if kind == "request":
        request = decode_request(data)
        check_request(request)
        return plain(request)
    if kind == "reply":
        return plain(decode_reply(data))
    if kind == "topic":
        name, message_kind = split_topic(data)
        return {"name": name, "kind": message_kind}
    return plain(decode_message(kind, data))
