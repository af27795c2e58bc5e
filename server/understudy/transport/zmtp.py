"""ZMTP, what ZeroMQ sockets say to each other: bytes in, messages and bytes to answer with out.

Versions 3.x (https://rfc.zeromq.org/spec/23) and 2.0 (https://rfc.zeromq.org/spec/15), without
encryption, for the end that is bound; nothing here knows a socket. Spoken by hand because a frame
then stays in the thread that received it: libzmq hands every message over to a thread of its own
and back, which costs more than solving it.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

_MORE: Final = 1
_LONG: Final = 2
_COMMAND: Final = 4
_MAX_PARTS: Final = 16
_SHORT_HEAD: Final = struct.Struct(">BB")
_LONG_HEAD: Final = struct.Struct(">BQ")

_SIGNATURE: Final = b"\xff" + bytes(8) + b"\x7f"
_MAJOR: Final = b"\x03"
_MINOR: Final = b"\x00"
_MECHANISM: Final = b"NULL".ljust(20, b"\0")
_GREETING_BYTES: Final = 64
_VERSION_AT: Final = 10
_MECHANISM_AT: Final = 12
# What a peer may say before it is known: its READY with a few properties.
_HANDSHAKE_BYTES: Final = 1 << 12


class ZmtpError(Exception):
    """What a peer said is not ZMTP, or not from a socket that fits; it is to be cut off."""


@dataclass(frozen=True, slots=True)
class SocketType:
    """A kind of socket by its name and its number in version 2.0, and the kinds it speaks with."""

    name: bytes
    number: int
    peers: dict[bytes, int]


SUBSCRIBER: Final = SocketType(b"SUB", 2, {b"PUB": 1, b"XPUB": 9})
PUBLISHER: Final = SocketType(b"PUB", 1, {b"SUB": 2, b"XSUB": 10})


class Conversation:
    """Our side of a connection to one peer.

    `unsent` is what is to be sent to it, to be emptied by whoever sends it; `open` says whether
    the handshake is over. No part of a message may have more than `max_part_bytes`.
    """

    def __init__(self, kind: SocketType, max_part_bytes: int) -> None:
        self.open = False
        self.unsent = bytearray(_SIGNATURE + _MAJOR)
        self._kind = kind
        self._max_part_bytes = max_part_bytes
        self._step = self._read_version
        self._rest = bytearray()
        self._needed = 0
        self._parts: list[bytes] = []

    def hear(self, data: bytes) -> list[list[bytes]]:
        """The messages that `data` completes, each a list of parts.

        After a ZmtpError nothing it said counts any more, nor what came along with the fault.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data = bytes(self._rest)
            self._rest.clear()
        self._needed = 0
        while not self.open:
            used = self._step(data)
            if not used:
                if len(data) > _HANDSHAKE_BYTES:
                    raise ZmtpError("too much was said before READY")
                self._rest += data
                return []
            data = data[used:]
        return self._messages(data)

    def _messages(self, data: bytes) -> list[list[bytes]]:
        messages = []
        parts = self._parts
        at, end = 0, len(data)
        while end - at >= 2:
            flags = data[at]
            if flags & _LONG:
                start = at + 9
                if start > end:
                    break
                _, size = _LONG_HEAD.unpack_from(data, at)
            else:
                start = at + 2
                size = data[at + 1]
            if size > self._max_part_bytes:
                raise ZmtpError(f"a part has {size} bytes; allowed: {self._max_part_bytes}")
            stop = start + size
            if stop > end:
                self._needed = stop - at
                break
            at = stop
            if flags & _COMMAND:
                self._obey(data[start:stop])
                continue
            parts.append(data[start:stop])
            if not flags & _MORE:
                messages.append(parts)
                parts = []
            elif len(parts) == _MAX_PARTS:
                raise ZmtpError(f"a message has more than {_MAX_PARTS} parts")
        self._parts = parts
        self._rest += data[at:]
        return messages

    # Steps of the handshake: each says how many bytes it used, 0 if it needs more.

    def _read_version(self, data: bytes) -> int:
        if data and data[0] != _SIGNATURE[0]:
            raise ZmtpError("this is not ZMTP 2.0 or later")
        if len(data) <= _VERSION_AT:
            return 0
        if not data[9] & 1:
            raise ZmtpError("this is not ZMTP 2.0 or later")
        if data[_VERSION_AT] >= _MAJOR[0]:
            rest = _GREETING_BYTES - _MECHANISM_AT - len(_MECHANISM)
            self.unsent += _MINOR + _MECHANISM + bytes(rest)
            self._step = self._read_greeting
        else:
            # Version 2.0: the kind of socket and a name for it, which is empty.
            self.unsent += bytes((self._kind.number,)) + encode(b"")
            self._step = self._read_kind
        return _VERSION_AT + 1

    def _read_greeting(self, data: bytes) -> int:
        behind = _VERSION_AT + 1
        if len(data) < _GREETING_BYTES - behind:
            return 0
        mechanism = data[_MECHANISM_AT - behind :][: len(_MECHANISM)]
        if mechanism != _MECHANISM:
            raise ZmtpError(f"mechanism {mechanism.rstrip(bytes(1))!r}; allowed: NULL")
        name = self._kind.name
        ready = b"\x05READY\x0bSocket-Type" + len(name).to_bytes(4, "big") + name
        self.unsent += bytes((_COMMAND, len(ready))) + ready
        self._step = self._read_ready
        return _GREETING_BYTES - behind

    def _read_ready(self, data: bytes) -> int:
        frame = _whole_frame(data)
        if frame is None:
            return 0
        flags, body, used = frame
        if not flags & _COMMAND or not body.startswith(b"\x05READY"):
            raise ZmtpError("a handshake without READY")
        kind = _properties(body[6:]).get(b"socket-type", b"")
        if kind not in self._kind.peers:
            raise ZmtpError(f"a {kind!r} socket; allowed: {sorted(self._kind.peers)}")
        self.open = True
        return used

    def _read_kind(self, data: bytes) -> int:
        frame = _whole_frame(data[1:])
        if frame is None:
            return 0
        if data[0] not in self._kind.peers.values():
            raise ZmtpError(f"a socket of kind {data[0]}; allowed: {[*self._kind.peers.values()]}")
        self.open = True
        return 1 + frame[2]

    def _obey(self, command: bytes) -> None:
        """Answer a peer that asks whether we live; anything else needs no answer."""
        if command.startswith(b"\x04PING"):
            context = command[7:]
            pong = b"\x04PONG" + context[:16]
            self.unsent += bytes((_COMMAND, len(pong))) + pong


def encode(part: bytes, *, more: bool = False) -> bytes:
    """One part of a message, as it is sent; `more` if it is not the last."""
    size = len(part)
    if size > 0xFF:
        return _LONG_HEAD.pack(_LONG | more, size) + part
    return _SHORT_HEAD.pack(more, size) + part


def _whole_frame(data: bytes) -> tuple[int, bytes, int] | None:
    """Flags, body and length of the frame that `data` begins with, if all of it is there."""
    if len(data) < 2:
        return None
    long = data[0] & _LONG
    start = 9 if long else 2
    stop = start + int.from_bytes(data[1:start], "big")
    return (data[0], data[start:stop], stop) if len(data) >= stop else None


def _properties(data: bytes) -> dict[bytes, bytes]:
    """What a READY says, by names in lower case."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(data):
        name_end = at + 1 + data[at]
        start = name_end + 4
        stop = start + int.from_bytes(data[name_end:start], "big")
        if stop > len(data):
            raise ZmtpError("a READY that is cut short")
        found[data[at + 1 : name_end].lower()] = data[start:stop]
        at = stop
    return found
