"""The poses of one character as bytes, several times faster than field by field.

A pose differs from the last one in a few numbers only, and they stand at fixed places of the map;
what stands between them is made once. The result is an ordinary `pose` message.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from typing import Final

from understudy_protocol.wire import pack

# Fields in the order of `PoseWriter.write`, each with msgpack's mark of its type and the
# corresponding code of `struct`. Numbers that fit stand in 32 bits: JavaScript has no others.
_U32: Final = (b"\xce", "I")
_U64: Final = (b"\xcf", "Q")
_F64: Final = (b"\xcb", "d")
_CHANGING: Final = {
    "seq": _U32,
    "source_seq": _U32,
    "delay": _U32,
    "status": _U32,
    "residual": _F64,
    "t_capture": _U64,
    "t_arrival": _U64,
    "t_publish": _U64,
}


def _key(name: str) -> bytes:
    """A short text in msgpack."""
    return bytes([0xA0 | len(name)]) + name.encode()


@cache
def _label(name: str, size: int) -> bytes:
    """What stands before an array of `size` bytes in msgpack: its key and its length."""
    mark = b"\xc4" + size.to_bytes(1) if size < 1 << 8 else b"\xc5" + size.to_bytes(2)
    return _key(name) + mark


# What does not change is the same object for all characters: with many of them, the bytes of each
# would have left the processor's caches whenever its turn comes.
_BEFORE: Final = tuple(_key(key) + mark for key, (mark, _) in _CHANGING.items())
_START_BYTES: Final = 1 + len(_key("skeleton")) + 5
_NUMBERS: Final = struct.Struct(
    f">{_START_BYTES}s"
    + "".join(
        f"{len(before)}s{code}"
        for before, (_, code) in zip(_BEFORE, _CHANGING.values(), strict=True)
    )
)


class PoseWriter:
    """Writes the `pose` messages of a skeleton whose numbers lie in memory of their own.

    `root` (3 float32), `rotations` (4 n float32), `contacts` (bytes) and `angles` (float32, one
    for each hinge; left out if there is none) are read anew by every `write`.
    """

    def __init__(
        self,
        skeleton_id: int,
        root: memoryview,
        rotations: memoryview,
        contacts: memoryview,
        angles: memoryview,
    ) -> None:
        self._skeleton_id = skeleton_id
        self._arrays = {"root": root, "rot": rotations, "contacts": contacts}
        if len(angles):
            self._arrays["angles"] = angles
        count = len(_CHANGING) + 1 + len(self._arrays)
        skeleton = _key("skeleton") + b"\xce" + skeleton_id.to_bytes(4)
        self._start = bytes([0x80 | count]) + skeleton
        self._parts: list[bytes | memoryview] = [b""]
        for key, array in self._arrays.items():
            self._parts += [_label(key, array.nbytes), array]

    def write(
        self,
        seq: int,
        source_seq: int,
        delay_ns: int,
        status: int,
        residual_m: float,
        capture_ns: int,
        arrival_ns: int,
        publish_ns: int,
    ) -> bytes:
        """The body of a `pose` message; the numbers are not checked again."""
        a, b, c, d, e, f, g, h = _BEFORE
        try:
            self._parts[0] = _NUMBERS.pack(
                self._start, a, seq, b, source_seq, c, delay_ns, d, status, e, residual_m,
                f, capture_ns, g, arrival_ns, h, publish_ns,
            )  # fmt: skip
        except struct.error:  # one does not fit into its place
            changing = (seq, source_seq, delay_ns, status, residual_m)
            return self._write_large((*changing, capture_ns, arrival_ns, publish_ns))
        return b"".join(self._parts)

    def _write_large(self, changing: Sequence[float]) -> bytes:
        """The same for numbers that are too large, or too small, for their places."""
        numbers = dict(zip(_CHANGING, changing, strict=True))
        return pack("pose", {"skeleton": self._skeleton_id, **numbers, **self._arrays})
