"""The glTF 2 container: GLB or JSON with buffers, read with every field checked.

Files come from strangers. Whatever is wrong with one leaves this module as a RigError of one
line; a number is used as an index, a length or a coordinate only after it was checked.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

import numpy as np

from understudy.characters.rig import RigError
from understudy.kinematics import FloatArray

# JSON has no better static type: every use goes through the checked getters below.
Json: TypeAlias = dict[str, Any]

LARGEST_NUMBER: Final = 1e9
LARGEST_COUNT: Final = 2**31
LARGEST_BLANK: Final = 1_000_000  # rows of an accessor that has no data behind it

_COMPONENTS: Final[dict[int, np.dtype[Any]]] = {
    5120: np.dtype("<i1"),
    5121: np.dtype("<u1"),
    5122: np.dtype("<i2"),
    5123: np.dtype("<u2"),
    5125: np.dtype("<u4"),
    5126: np.dtype("<f4"),
}
_WIDTHS: Final = {
    "SCALAR": 1,
    "VEC2": 2,
    "VEC3": 3,
    "VEC4": 4,
    "MAT2": 4,
    "MAT3": 9,
    "MAT4": 16,
}
_JSON_CHUNK: Final = 0x4E4F534A
_BINARY_CHUNK: Final = 0x004E4942


def get_object(owner: Json, key: str, where: str) -> Json:
    """The JSON object `owner[key]`, empty where there is none."""
    value = owner.get(key, {})
    if not isinstance(value, dict):
        raise RigError(f"{where}: {key} must be a JSON object")
    return value


def get_list(owner: Json, key: str, where: str) -> list[Any]:
    """The JSON array `owner[key]`, empty where there is none."""
    value = owner.get(key, [])
    if not isinstance(value, list):
        raise RigError(f"{where}: {key} must be a JSON array")
    return value


def get_objects(owner: Json, key: str, where: str) -> list[Json]:
    """The JSON array of objects `owner[key]`, empty where there is none."""
    values = get_list(owner, key, where)
    for i, value in enumerate(values):
        if not isinstance(value, dict):
            raise RigError(f"{where}: {key}[{i}] must be a JSON object")
    return values


def get_text(owner: Json, key: str, where: str) -> str:
    """The string `owner[key]`, empty where there is none."""
    value = owner.get(key, "")
    if not isinstance(value, str):
        raise RigError(f"{where}: {key} must be a string")
    return value


def get_count(owner: Json, key: str, where: str, default: int | None = None) -> int:
    """The whole number `owner[key]`, from 0 up to a sane limit."""
    value = owner.get(key, default)
    return check_index(value, LARGEST_COUNT, f"{where}: {key}")


def check_index(value: object, end: int, where: str) -> int:
    """`value` as a whole number from 0 to `end` - 1."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < end:
        shown = repr(value) if len(repr(value)) < 40 else "that"
        raise RigError(f"{where} is {shown}; allowed: whole numbers from 0 to {end - 1}")
    return value


def get_numbers(owner: Json, key: str, where: str, default: tuple[float, ...]) -> FloatArray:
    """The numbers `owner[key]`, as many as `default` has."""
    if key not in owner:
        return np.array(default)
    values = get_list(owner, key, where)
    for value in values:
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not abs(value) <= LARGEST_NUMBER:
            raise RigError(f"{where}: {key} holds something that is no usable number")
    if len(values) != len(default):
        raise RigError(f"{where}: {key} has {len(values)} numbers, expected {len(default)}")
    return np.array(values, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class GltfFile:
    """The JSON document of a glTF file and the bytes of its buffers."""

    document: Json
    buffers: tuple[bytes, ...]

    @classmethod
    def read(cls, path: Path) -> GltfFile:
        """Read a .glb, .vrm or .gltf file; RigError if it is none."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise RigError(f"cannot be read: {error.strerror or error}") from None
        if data[:4] == b"glTF":
            document, binary = _split_glb(data)
        else:
            document, binary = _parse_json(data), None
        version = get_text(get_object(document, "asset", "the file"), "version", "asset")
        if not version.startswith("2."):
            raise RigError(f"glTF version {version!r}; only version 2 is supported")
        return cls(document, tuple(_read_buffers(document, binary, path.parent)))

    def extension(self, name: str) -> Json | None:
        """The root extension called `name`, or None."""
        extensions = get_object(self.document, "extensions", "the file")
        return get_object(extensions, name, "extensions") if name in extensions else None

    def accessor(self, index: object, width: int, where: str) -> FloatArray:
        """The values of an accessor, (count, width); normalised integers become fractions."""
        accessors = get_objects(self.document, "accessors", "the file")
        number = check_index(index, len(accessors), f"{where}: accessor")
        accessor, name = accessors[number], f"accessor {number}"
        shape = get_text(accessor, "type", name)
        if _WIDTHS.get(shape) != width:
            raise RigError(f"{name} is of type {shape!r}; {where} needs {width} numbers a row")
        component = _component(accessor, name)
        count = get_count(accessor, "count", name)
        if "bufferView" in accessor:
            offset = get_count(accessor, "byteOffset", name, 0)
            raw = self._rows(accessor["bufferView"], offset, count, width, component, name)
        else:
            check_index(count, LARGEST_BLANK, f"{name}: count without data")
            raw = np.zeros((count, width), component)
        if "sparse" in accessor:
            raw = self._patched(raw, get_object(accessor, "sparse", name), f"{name}: sparse")
        with np.errstate(invalid="ignore"):  # a NaN is refused below, not warned about
            values = raw.astype(np.float64)
        if accessor.get("normalized") is True and component.kind in "iu":
            values = np.maximum(values / np.iinfo(component).max, -1.0)
        if not np.all(np.abs(values) <= LARGEST_NUMBER):
            raise RigError(f"{name} holds numbers that are not finite or beyond {LARGEST_NUMBER:g}")
        return np.asarray(values, dtype=np.float64)

    def _rows(
        self,
        view_index: object,
        offset: int,
        count: int,
        width: int,
        component: np.dtype[Any],
        where: str,
    ) -> np.ndarray[Any, np.dtype[Any]]:
        """`count` rows of a buffer view, strided or not, checked against the buffer's length."""
        views = get_objects(self.document, "bufferViews", "the file")
        number = check_index(view_index, len(views), f"{where}: bufferView")
        view, name = views[number], f"bufferView {number}"
        if "EXT_meshopt_compression" in get_object(view, "extensions", name):
            raise RigError("its data is meshopt-compressed; export it without compression")
        data = self.buffers[check_index(view.get("buffer"), len(self.buffers), f"{name}: buffer")]
        start = get_count(view, "byteOffset", name, 0)
        length = get_count(view, "byteLength", name)
        row = width * component.itemsize
        stride = get_count(view, "byteStride", name, 0) or row
        end = offset + (count - 1) * stride + row if count else offset
        if stride < row or end > length or start + length > len(data):
            raise RigError(f"{where} reaches beyond the end of its buffer; the file is damaged")
        if count == 0:
            return np.zeros((0, width), component)
        return np.ndarray(
            (count, width), component, data, start + offset, (stride, component.itemsize)
        )

    def _patched(
        self, base: np.ndarray[Any, np.dtype[Any]], sparse: Json, where: str
    ) -> np.ndarray[Any, np.dtype[Any]]:
        """`base` with the rows a sparse accessor replaces."""
        count = get_count(sparse, "count", where)
        at, values = get_object(sparse, "indices", where), get_object(sparse, "values", where)
        index_type = _component(at, where)
        if index_type.kind != "u":
            raise RigError(f"{where}: indices must be unsigned integers")
        offset = get_count(at, "byteOffset", where, 0)
        rows = self._rows(at.get("bufferView"), offset, count, 1, index_type, where)[:, 0]
        if count and int(rows.max()) >= len(base):
            raise RigError(f"{where}: an index is beyond the {len(base)} rows of the accessor")
        offset = get_count(values, "byteOffset", where, 0)
        patched = base.copy()
        patched[rows] = self._rows(
            values.get("bufferView"), offset, count, base.shape[1], base.dtype, where
        )
        return patched


def _component(owner: Json, where: str) -> np.dtype[Any]:
    code = owner.get("componentType")
    if not isinstance(code, int) or code not in _COMPONENTS:
        raise RigError(f"{where}: componentType must be one of {sorted(_COMPONENTS)}")
    return _COMPONENTS[code]


def _parse_json(data: bytes) -> Json:
    try:
        document = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise RigError("not a glTF file: neither GLB nor JSON, or cut short") from None
    if not isinstance(document, dict):
        raise RigError("not a glTF file: its JSON is not an object")
    return document


def _split_glb(data: bytes) -> tuple[Json, bytes | None]:
    """The JSON and the binary chunk of a GLB."""
    if len(data) < 20:
        raise RigError("the GLB is cut short inside its header")
    version, declared = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise RigError(f"GLB version {version}; only version 2 is supported")
    if declared > len(data):
        raise RigError(f"the GLB is cut short: {len(data)} bytes of {declared}")
    chunks: list[tuple[int, bytes]] = []
    at = 12
    while at + 8 <= declared:
        length, kind = struct.unpack_from("<II", data, at)
        if at + 8 + length > declared:
            raise RigError(f"the GLB's chunk {len(chunks)} reaches beyond the file; it is damaged")
        chunks.append((kind, data[at + 8 : at + 8 + length]))
        at += 8 + length
    if not chunks or chunks[0][0] != _JSON_CHUNK:
        raise RigError("the GLB does not begin with a JSON chunk")
    binary = chunks[1][1] if len(chunks) > 1 and chunks[1][0] == _BINARY_CHUNK else None
    return _parse_json(chunks[0][1]), binary


def _read_buffers(document: Json, binary: bytes | None, folder: Path) -> list[bytes]:
    buffers: list[bytes] = []
    for i, entry in enumerate(get_objects(document, "buffers", "the file")):
        where = f"buffer {i}"
        uri = get_text(entry, "uri", where)
        if uri:
            data = _read_uri(uri, folder, where)
        elif i == 0 and binary is not None:
            data = binary
        else:
            raise RigError(f"{where} has no data: neither a uri nor a binary chunk")
        length = get_count(entry, "byteLength", where)
        if length > len(data):
            raise RigError(f"{where} is cut short: {len(data)} bytes of {length}")
        buffers.append(data)
    return buffers


def _read_uri(uri: str, folder: Path, where: str) -> bytes:
    """The bytes behind a data URI or a file beside the document; nothing else is opened."""
    if uri.startswith("data:"):
        head, _, payload = uri.partition(",")
        if not head.endswith(";base64"):
            raise RigError(f"{where}: a data URI must be base64")
        try:
            return base64.b64decode(payload, validate=True)
        except (binascii.Error, ValueError):
            raise RigError(f"{where}: its data URI is not valid base64") from None
    relative = unquote(uri)
    try:
        base = folder.resolve()
        target = (base / relative).resolve()
        if not target.is_relative_to(base):
            raise RigError(f"{where}: {uri[:80]!r} lies outside the rig's own folder")
        return target.read_bytes()
    except (OSError, ValueError):
        raise RigError(f"{where}: the file {uri[:80]!r} beside the rig cannot be read") from None
