"""Control: requests to the server and its replies, one msgpack map each."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    MAX_ARRAY_ITEMS,
    MAX_COUNTDOWN_S,
    MAX_DEPTH,
    MAX_HOLD_S,
    MAX_I64,
    MAX_MAP_ITEMS,
    MAX_RATE_HZ,
    MAX_TEXT_BYTES,
    MAX_U64,
    MIN_HOLD_S,
    MIN_I64,
    MIN_RATE_HZ,
    PROTOCOL_VERSION,
)
from understudy_protocol.names import check_name, check_text, describe
from understudy_protocol.topics import Buffer
from understudy_protocol.wire import Fields, pack, whole

_RESERVED: Final = ("op", "id", "ok", "error")


@dataclass(frozen=True, slots=True)
class Request:
    """One request: the operation, the number its reply will carry, and the operation's fields."""

    op: str
    id: int
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request was refused: a word for programs and a line for people."""

    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: the request's number (None where it could not be read), then fields or a refusal.

    `fields` is empty where there is a refusal.
    """

    id: int | None
    fields: Mapping[str, Any] = field(default_factory=dict)
    refusal: Refusal | None = None

    @property
    def ok(self) -> bool:
        """Whether the request was carried out."""
        return self.refusal is None


class ClockOffset(NamedTuple):
    """Server clock minus client clock, and the time the exchange spent on the network, in ns."""

    offset_ns: int
    round_trip_ns: int


def clock_offset(sent_ns: int, received_ns: int, replied_ns: int, returned_ns: int) -> ClockOffset:
    """The clock offset from the four times of one `time` exchange.

    `sent_ns` and `returned_ns` are read on the client's clock, `received_ns` and `replied_ns` on
    the server's. The error of the offset is at most half the round trip.
    """
    offset = ((received_ns - sent_ns) + (replied_ns - returned_ns)) // 2
    return ClockOffset(offset, (returned_ns - sent_ns) - (replied_ns - received_ns))


Check = Callable[[Fields, str], object]


def _version(fields: Fields, key: str) -> None:
    version = fields.integer(key, 0, MAX_I64)
    if version != PROTOCOL_VERSION:
        raise ProtocolError(
            "bad-version", f"hello: '{key}' is {version}; allowed: {PROTOCOL_VERSION}"
        )


def _name(fields: Fields, key: str) -> None:
    check_name(f"{fields.kind}: '{key}'", fields.required(key))


def _path(fields: Fields, key: str) -> None:
    check_text(f"{fields.kind}: '{key}'", fields.required(key))


def _rate(fields: Fields, key: str) -> None:
    fields.number(key, MIN_RATE_HZ, MAX_RATE_HZ)


def _countdown(fields: Fields, key: str) -> None:
    fields.number(key, 0.0, MAX_COUNTDOWN_S)


def _hold(fields: Fields, key: str) -> None:
    fields.number(key, MIN_HOLD_S, MAX_HOLD_S)


def _time(fields: Fields, key: str) -> None:
    fields.integer(key, MIN_I64, MAX_I64)


def _flag(fields: Fields, key: str) -> None:
    fields.flag(key)


def _share(fields: Fields, key: str) -> None:
    fields.number(key, 0.0, 1.0)


def _params(fields: Fields, key: str) -> None:
    value = fields.required(key)
    if type(value) is not dict:
        fields.refuse("bad-type", key, value, "a map of parameters")


# What can be changed about a session besides its solver and the solver's parameters.
_SETTINGS: Final[tuple[tuple[str, Check, bool], ...]] = (
    ("stride", _name, False),
    ("lock_feet", _flag, False),
    ("smoothing", _share, False),
)

# The fields of each operation: key, its check, whether it must be there.
OPERATIONS: Final[dict[str, tuple[tuple[str, Check, bool], ...]]] = {
    "hello": (("v", _version, True), ("client", _name, False)),
    "list": (),
    "open": (
        ("performer", _name, True),
        ("character", _name, True),
        ("rig", _path, False),
        ("solver", _name, False),
        ("params", _params, False),
        ("rate_hz", _rate, False),
        *_SETTINGS,
    ),
    "close": (("character", _name, True),),
    "set": (
        ("character", _name, True),
        ("solver", _name, False),
        ("params", _params, False),
        *_SETTINGS,
    ),
    "reset": (("character", _name, True),),
    "stats": (("character", _name, False),),
    "time": (("t1", _time, True),),
    "calibrate": (
        ("performer", _name, True),
        ("countdown_s", _countdown, False),
        ("hold_s", _hold, False),
    ),
    "save": (),
}


def encode_request(op: str, id: int, fields: Mapping[str, Any] | None = None) -> bytes:
    """The body of a request; the fields are checked as the server will check them."""
    request = Request(op, whole("request", "id", id, 0, MAX_U64), dict(fields or {}))
    check_request(request)
    _check_tree(op, request.fields)
    return pack(op, {**request.fields, "op": op, "id": request.id})


def decode_request(body: Buffer) -> Request:
    """The request in `body`, its operation and fields not yet checked (see `check_request`)."""
    fields = Fields.read("request", body)
    op = check_name("request: 'op'", fields.required("op"))
    id = fields.integer("id", 0, MAX_U64)
    rest = {key: value for key, value in fields.map.items() if key not in _RESERVED}
    _check_tree(op, rest)
    return Request(op, id, rest)


def check_request(request: Request) -> None:
    """Refuse an unknown operation, and known fields that are missing or wrong."""
    checks = OPERATIONS.get(request.op)
    if checks is None:
        raise ProtocolError(
            "unknown-op", f"op {describe(request.op)}; allowed: {', '.join(OPERATIONS)}"
        )
    fields = Fields(request.op, dict(request.fields))
    for key, check, needed in checks:
        if needed or fields.get(key) is not None:
            check(fields, key)


def encode_reply(id: int, fields: Mapping[str, Any] | None = None) -> bytes:
    """The body of the reply to a request that was carried out."""
    content = dict(fields or {})
    _check_tree("reply", content)
    return pack("reply", {**content, "id": whole("reply", "id", id, 0, MAX_U64), "ok": True})


def encode_refusal(id: int | None, reason: str, text: str) -> bytes:
    """The body of the reply to a refused request; `id` is None where it could not be read.

    A text that is too long is cut, and one that is no Unicode mended: a refusal always goes out.
    """
    sendable = text.encode("utf-8", "replace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
    error = {"reason": check_name("reply: 'reason'", reason), "text": sendable}
    return pack("reply", {"id": id, "ok": False, "error": error})


def decode_reply(body: Buffer) -> Reply:
    """The reply in `body`."""
    fields = Fields.read("reply", body)
    ok = fields.required("ok")
    if type(ok) is not bool:
        fields.refuse("bad-type", "ok", ok, "true or false")
    if ok:
        rest = {key: value for key, value in fields.map.items() if key not in _RESERVED}
        _check_tree("reply", rest)
        return Reply(fields.integer("id", 0, MAX_U64), rest)
    id = None if fields.get("id") is None else fields.integer("id", 0, MAX_U64)
    error = fields.required("error")
    if type(error) is not dict:
        fields.refuse("bad-type", "error", error, "a map")
    parts = Fields("reply error", error)
    return Reply(
        id,
        refusal=Refusal(
            reason=check_name("reply: 'reason'", parts.required("reason")),
            text=check_text("reply: 'text'", parts.required("text")),
        ),
    )


def _check_tree(kind: str, value: object, depth: int = 0) -> None:
    """Refuse what is neither nil, boolean, finite number, text, list nor map with text keys."""
    if depth > MAX_DEPTH:
        raise ProtocolError("too-deep", f"{kind}: values nest deeper than {MAX_DEPTH} levels")
    if value is None or type(value) is bool:
        return
    if type(value) is int:
        if not MIN_I64 <= value <= MAX_U64:
            raise ProtocolError("out-of-range", f"{kind}: {value} has more than 64 bits")
    elif type(value) is float:
        if not math.isfinite(value):
            raise ProtocolError("not-finite", f"{kind}: {value}; allowed: finite numbers")
    elif type(value) is str:
        check_text(kind, value)
    elif isinstance(value, Mapping):
        if len(value) > MAX_MAP_ITEMS:
            raise ProtocolError("too-many-items", f"{kind}: a map of {len(value)}")
        for key, item in value.items():
            check_text(f"{kind}: key", key)
            _check_tree(kind, item, depth + 1)
    elif isinstance(value, (list, tuple)):
        if len(value) > MAX_ARRAY_ITEMS:
            raise ProtocolError("too-many-items", f"{kind}: a list of {len(value)}")
        for item in value:
            _check_tree(kind, item, depth + 1)
    else:
        raise ProtocolError(
            "bad-type",
            f"{kind}: {describe(value)}; allowed: nil, booleans, numbers, text, lists and maps",
        )
