"""msgpack maps with every field checked before use; the only module that knows msgpack."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any, Final, NoReturn

import msgpack  # type: ignore[import-untyped]  # it ships no type information
import numpy as np
from numpy.typing import NDArray

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    MAX_ARRAY_ITEMS,
    MAX_MAGNITUDE,
    MAX_MAP_ITEMS,
    MAX_MESSAGE_BYTES,
)
from understudy_protocol.messages import Floats
from understudy_protocol.names import describe
from understudy_protocol.topics import Buffer

Float32s = NDArray[np.float32]

F32: Final = np.dtype("<f4")
_SMALL: Final = {3: struct.Struct("<3f"), 4: struct.Struct("<4f")}

# One packer for all threads: it runs no Python code while it packs, so that the lock of the
# interpreter (or its own, in builds without that lock) keeps two messages apart.
_packer = msgpack.Packer(use_bin_type=True, autoreset=True)
_pack: Callable[[dict[str, Any]], bytes] = _packer.pack


def pack(kind: str, fields: dict[str, Any]) -> bytes:
    """The body of a message made of fields that were checked already."""
    body = _pack(fields)
    if len(body) > MAX_MESSAGE_BYTES:
        raise ProtocolError(
            "too-large", f"{kind} has {len(body)} bytes; allowed: {MAX_MESSAGE_BYTES}"
        )
    return body


def unpack(kind: str, body: Buffer) -> dict[str, Any]:
    """The map in `body`; what is wrong with the bytes is told by the error's reason."""
    if len(body) > MAX_MESSAGE_BYTES:
        raise ProtocolError(
            "too-large", f"{kind} has {len(body)} bytes; allowed: {MAX_MESSAGE_BYTES}"
        )
    try:
        content = msgpack.unpackb(
            body,
            max_str_len=MAX_MESSAGE_BYTES,
            max_bin_len=MAX_MESSAGE_BYTES,
            max_array_len=MAX_ARRAY_ITEMS,
            max_map_len=MAX_MAP_ITEMS,
            max_ext_len=0,
        )
    except ValueError as error:
        raise _unpack_error(kind, error) from None
    if type(content) is not dict:
        raise ProtocolError("not-a-map", f"{kind} is {describe(content)}; expected a msgpack map")
    return content


def _unpack_error(kind: str, error: ValueError) -> ProtocolError:
    if isinstance(error, UnicodeDecodeError):
        return ProtocolError("bad-text", f"{kind} has text that is not UTF-8")
    if isinstance(error, msgpack.ExtraData):
        return ProtocolError("trailing-bytes", f"{kind} has bytes after its map; none are allowed")
    if isinstance(error, msgpack.StackError):
        return ProtocolError("too-deep", f"{kind} nests its values too deeply")
    text = str(error)
    if "incomplete" in text:
        return ProtocolError("truncated", f"{kind} ends in the middle of its map")
    if "map key" in text:
        return ProtocolError("bad-key", f"{kind} has a key that is not text")
    if "max_ext_len" in text:
        return ProtocolError("bad-type", f"{kind} has a msgpack extension; none are allowed")
    if "exceeds" in text:
        return ProtocolError("too-many-items", f"{kind} has a list or map that is too long: {text}")
    return ProtocolError("not-msgpack", f"{kind} is not msgpack")


class Fields:
    """The fields of one received message; a missing key and nil are the same."""

    __slots__ = ("kind", "map")

    def __init__(self, kind: str, content: dict[str, Any]) -> None:
        self.kind = kind
        self.map = content

    @classmethod
    def read(cls, kind: str, body: Buffer) -> Fields:
        """The fields in the body of a message of `kind`."""
        return cls(kind, unpack(kind, body))

    def get(self, key: str) -> Any:
        """The unchecked value of a field, None where it is missing."""
        return self.map.get(key)

    def required(self, key: str) -> Any:
        """The unchecked value of a field that must be there."""
        value = self.map.get(key)
        if value is None:
            raise ProtocolError("missing-field", f"{self.kind}: '{key}' is missing")
        return value

    def refuse(self, reason: str, key: str, value: object, allowed: str) -> NoReturn:
        """Raise the error that names this field, its value and what is allowed."""
        raise field_error(self.kind, reason, key, value, allowed)

    def integer(self, key: str, low: int, high: int) -> int:
        """A required whole number from `low` to `high`."""
        value = self.map.get(key)
        if type(value) is int and low <= value <= high:
            return value
        reason = "out-of-range" if type(value) is int else "bad-type"
        self.refuse(reason, key, value, f"a whole number from {low} to {high}")

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """A finite number from `low` to `high`; required where there is no default."""
        value = self.map.get(key)
        if value is None and default is not None:
            return default
        if type(value) is not float and type(value) is not int:
            self.refuse("bad-type", key, value, "a number")
        if low <= value <= high:
            return float(value)
        reason = "out-of-range" if math.isfinite(value) else "not-finite"
        self.refuse(reason, key, value, f"a number from {low:g} to {high:g}")

    def flag(self, key: str) -> bool:
        """A boolean, false where it is missing."""
        value = self.map.get(key)
        if value is None:
            return False
        if type(value) is not bool:
            self.refuse("bad-type", key, value, "true or false")
        return value

    def binary(self, key: str, item_bytes: int, low: int, high: int) -> bytes:
        """A required byte string of `low` to `high` items of `item_bytes` bytes each."""
        value = self.map.get(key)
        if type(value) is not bytes:
            self.refuse("bad-type", key, value, "bin")
        count, rest = divmod(len(value), item_bytes)
        if rest or not low <= count <= high:
            limits = f"{low}" if low == high else f"{low} to {high}"
            self.refuse("bad-length", key, value, f"{limits} times {item_bytes} bytes")
        return value

    def vector(self, key: str, size: int) -> Float32s:
        """A required array (size,) of numbers within the range allowed; `size` is 3 or 4."""
        raw = self.binary(key, 4 * size, 1, 1)
        array = np.frombuffer(raw, F32)
        for number in _SMALL[size].unpack(raw):
            if not -MAX_MAGNITUDE <= number <= MAX_MAGNITUDE:
                check_numbers(self.kind, key, array)
        return array

    def rows(self, key: str, size: int, low: int, high: int) -> Float32s:
        """A required array (k, size) of numbers within the range allowed, k from low to high."""
        array = np.frombuffer(self.binary(key, 4 * size, low, high), F32)
        check_numbers(self.kind, key, array)
        return array.reshape(-1, size)

    def items(self, key: str, high: int) -> list[Any]:
        """A list of at most `high` unchecked items, empty where it is missing."""
        value = self.map.get(key)
        if value is None:
            return []
        if type(value) is not list:
            self.refuse("bad-type", key, value, "a list")
        if len(value) > high:
            self.refuse("too-many-items", key, value, f"at most {high}")
        return value


def field_error(kind: str, reason: str, key: str, value: object, allowed: str) -> ProtocolError:
    """The error for one field; a value that is not there has a reason of its own."""
    if value is None:
        reason = "missing-field"
    return ProtocolError(reason, f"{kind}: '{key}' is {describe(value)}; allowed: {allowed}")


def within_range(array: Floats) -> bool:
    """Whether every number is finite and within the limit.

    argmax and argmin point at a NaN where there is one. They cost half of np.isfinite and, unlike
    sums and dot products, they cannot overflow.
    """
    if array.size == 0:
        return True
    largest: float = array.item(array.argmax())
    smallest: float = array.item(array.argmin())
    return smallest >= -MAX_MAGNITUDE and largest <= MAX_MAGNITUDE


def check_numbers(kind: str, key: str, array: Floats) -> None:
    """Refuse an array that has a number which is not finite or beyond the limit."""
    if within_range(array):
        return
    flat = array.reshape(-1)
    if not np.isfinite(flat).all():
        bad = int(np.flatnonzero(~np.isfinite(flat))[0])
        raise ProtocolError(
            "not-finite", f"{kind}: '{key}' number {bad} is {flat[bad]}; allowed: finite numbers"
        )
    bad = int(np.abs(flat).argmax())
    raise ProtocolError(
        "out-of-range",
        f"{kind}: '{key}' number {bad} is {flat[bad]:g}; allowed: -{MAX_MAGNITUDE:g} to"
        f" {MAX_MAGNITUDE:g}",
    )


def float_array(kind: str, key: str, value: Floats) -> Floats:
    """What a sender put into an array field, as an array of real numbers."""
    if type(value) is np.ndarray and value.dtype.kind == "f":
        return value
    if value is None:
        raise field_error(kind, "missing-field", key, value, "an array of numbers")
    try:
        return np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise field_error(kind, "bad-type", key, value, "an array of numbers") from None


def vector_bytes(kind: str, key: str, value: Floats, size: int) -> bytes:
    """The bytes of an array (size,) after the same checks; `size` is 3 or 4."""
    array = float_array(kind, key, value)
    if array.shape != (size,):
        raise _shape_error(kind, key, array.shape, f"({size},)")
    # So few numbers are handled faster one by one than by array operations.
    numbers = array.tolist()
    for number in numbers:
        if not -MAX_MAGNITUDE <= number <= MAX_MAGNITUDE:
            check_numbers(kind, key, array)
    return _SMALL[size].pack(*numbers)


def rows_bytes(kind: str, key: str, value: Floats, size: int, low: int, high: int) -> bytes:
    """The bytes of an array (k, size), k from low to high, after the same checks."""
    array = float_array(kind, key, value)
    shape = array.shape
    if len(shape) != 2 or shape[1] != size or not low <= shape[0] <= high:
        raise _shape_error(kind, key, shape, f"(k, {size}), k from {low} to {high}")
    check_numbers(kind, key, array)
    return array.astype(F32).tobytes()


def _shape_error(kind: str, key: str, shape: tuple[int, ...], allowed: str) -> ProtocolError:
    return ProtocolError("bad-length", f"{kind}: '{key}' has shape {shape}; allowed: {allowed}")


def whole(kind: str, key: str, value: int, low: int, high: int) -> int:
    """What a sender put into an integer field, checked."""
    if type(value) is not int:
        try:
            value = operator.index(value)
        except TypeError:
            raise field_error(kind, "bad-type", key, value, "a whole number") from None
    if not low <= value <= high:
        allowed = f"a whole number from {low} to {high}"
        raise field_error(kind, "out-of-range", key, value, allowed)
    return value


def real(kind: str, key: str, value: float, low: float, high: float) -> float:
    """What a sender put into a number field, checked."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise field_error(kind, "bad-type", key, value, "a number") from None
    if not low <= number <= high:
        reason = "out-of-range" if math.isfinite(number) else "not-finite"
        raise field_error(kind, reason, key, number, f"a number from {low:g} to {high:g}")
    return number
