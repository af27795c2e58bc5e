"""Skeleton messages: the body that frames and poses speak about."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import (
    MAX_ARRAY_ITEMS,
    MAX_CONTACTS,
    MAX_EFFECTORS,
    MAX_JOINTS,
    MAX_MARKERS,
    MAX_U32,
    PROTOCOL_VERSION,
    UNIT_TOLERANCE,
)
from understudy_protocol.messages import FIXED, HINGE, Floats, Marker, SkeletonMessage
from understudy_protocol.names import check_name
from understudy_protocol.topics import Buffer
from understudy_protocol.wire import (
    F32,
    Fields,
    check_numbers,
    float_array,
    pack,
    rows_bytes,
    vector_bytes,
    whole,
)


def skeleton_id(skeleton: SkeletonMessage) -> int:
    """A number (u32) that changes with the skeleton: the CRC-32 of its body with id 0."""
    return zlib.crc32(encode_skeleton(replace(skeleton, id=0)))


def with_skeleton_id(skeleton: SkeletonMessage) -> SkeletonMessage:
    """The same skeleton under the id that belongs to it."""
    return replace(skeleton, id=skeleton_id(skeleton))


def encode_skeleton(skeleton: SkeletonMessage) -> bytes:
    """The body of a `skeleton` message."""
    n = len(skeleton.joints)
    check_skeleton(skeleton)
    fields: dict[str, Any] = {
        "v": PROTOCOL_VERSION,
        "id": skeleton.id,
        "joints": list(skeleton.joints),
        "parents": np.asarray(skeleton.parents).astype("<i2").tobytes(),
        "offsets": rows_bytes("skeleton", "offsets", skeleton.offsets, 3, n, n),
        "rest": rows_bytes("skeleton", "rest", skeleton.rest_xyzw, 4, n, n),
        "kinds": np.asarray(skeleton.kinds).astype("u1").tobytes(),
    }
    if skeleton.axes is not None:
        fields["axes"] = rows_bytes("skeleton", "axes", skeleton.axes, 3, n, n)
    if skeleton.limits_rad is not None:
        fields["limits"] = np.asarray(skeleton.limits_rad).astype(F32).tobytes()
    if skeleton.tips is not None:
        fields["tips"] = rows_bytes("skeleton", "tips", skeleton.tips, 3, n, n)
    if skeleton.markers:
        fields["markers"] = [
            {
                "name": marker.name,
                "joint": marker.joint,
                "offset": vector_bytes("marker", "offset", marker.offset, 3),
            }
            for marker in skeleton.markers
        ]
    if skeleton.contacts:
        fields["contacts"] = list(skeleton.contacts)
    if skeleton.effectors:
        fields["effectors"] = list(skeleton.effectors)
    return pack("skeleton", fields)


def decode_skeleton(body: Buffer) -> SkeletonMessage:
    """The `skeleton` message in `body`; its arrays are float64 and int64 copies."""
    fields = Fields.read("skeleton", body)
    version = fields.integer("v", 0, MAX_U32)
    if version != PROTOCOL_VERSION:
        raise ProtocolError(
            "bad-version", f"skeleton: 'v' is {version}; allowed: {PROTOCOL_VERSION}"
        )
    fields.required("joints")
    joints = tuple(fields.items("joints", MAX_ARRAY_ITEMS))
    n = len(joints)
    _check_joint_count(n)
    limits = None
    if fields.get("limits") is not None:
        # Infinite limits are allowed, so the numbers are judged later; a signalling NaN may pass.
        with np.errstate(invalid="ignore"):
            limits = np.frombuffer(fields.binary("limits", 8, n, n), F32).astype(np.float64)
    skeleton = SkeletonMessage(
        id=fields.integer("id", 0, MAX_U32),
        joints=joints,
        parents=np.frombuffer(fields.binary("parents", 2, n, n), "<i2").astype(np.int64),
        offsets=_rows(fields, "offsets", 3, n),
        rest_xyzw=_rows(fields, "rest", 4, n),
        kinds=np.frombuffer(fields.binary("kinds", 1, n, n), "u1").astype(np.int64),
        axes=_optional_rows(fields, "axes", 3, n),
        limits_rad=None if limits is None else limits.reshape(n, 2),
        tips=_optional_rows(fields, "tips", 3, n),
        markers=tuple(_marker(item) for item in fields.items("markers", MAX_MARKERS)),
        contacts=tuple(fields.items("contacts", MAX_CONTACTS)),
        effectors=tuple(fields.items("effectors", MAX_EFFECTORS)),
    )
    check_skeleton(skeleton)
    return skeleton


def _rows(fields: Fields, key: str, width: int, n: int) -> Floats:
    return fields.rows(key, width, n, n).astype(np.float64)


def _optional_rows(fields: Fields, key: str, width: int, n: int) -> Floats | None:
    return None if fields.get(key) is None else _rows(fields, key, width, n)


def _marker(item: object) -> Marker:
    if type(item) is not dict:
        raise ProtocolError("bad-type", "skeleton: an item of 'markers' is not a map")
    fields = Fields("marker", item)
    return Marker(
        name=fields.required("name"),
        joint=fields.integer("joint", 0, MAX_JOINTS - 1),
        offset=fields.vector("offset", 3).astype(np.float64),
    )


def check_skeleton(skeleton: SkeletonMessage) -> None:
    """Refuse a skeleton that is not a tree of well-named joints with sane numbers."""
    n = len(skeleton.joints)
    whole("skeleton", "id", skeleton.id, 0, MAX_U32)
    _check_joint_count(n)
    _check_names("joints", skeleton.joints, MAX_JOINTS)
    _check_names("contacts", skeleton.contacts, MAX_CONTACTS)
    _check_names("effectors", skeleton.effectors, MAX_EFFECTORS)
    _check_names("markers", tuple(marker.name for marker in skeleton.markers), MAX_MARKERS)
    _check_tree(skeleton)
    _check_kinds(skeleton)
    _check_limits(skeleton)
    for key, value, width in (
        ("offsets", skeleton.offsets, 3),
        ("rest", skeleton.rest_xyzw, 4),
        ("axes", skeleton.axes, 3),
        ("tips", skeleton.tips, 3),
    ):
        if value is not None:
            array = float_array("skeleton", key, value)
            _check_shape(key, array.shape, (n, width))
            check_numbers("skeleton", key, array)
    _check_unit(skeleton.joints, "rest", np.asarray(skeleton.rest_xyzw))
    if skeleton.axes is not None:
        hinges = np.asarray(skeleton.kinds) == HINGE
        names = [name for name, hinge in zip(skeleton.joints, hinges, strict=True) if hinge]
        _check_unit(names, "axes", np.asarray(skeleton.axes)[hinges])
    for marker in skeleton.markers:
        whole("marker", "joint", marker.joint, 0, n - 1)


def _check_joint_count(n: int) -> None:
    if not 1 <= n <= MAX_JOINTS:
        reason = "too-many-joints" if n else "bad-length"
        raise ProtocolError(reason, f"skeleton: 'joints' has {n} names; allowed: 1 to {MAX_JOINTS}")


def _check_names(key: str, names: Sequence[str], high: int) -> None:
    if len(names) > high:
        raise ProtocolError(
            "too-many-items", f"skeleton: '{key}' has {len(names)} names; allowed: {high}"
        )
    seen = set()
    for name in names:
        check_name(f"skeleton: name in '{key}'", name, slash=True)
        if name in seen:
            raise ProtocolError(
                "duplicate-name", f"skeleton: '{key}' has {name!r} twice; names must differ"
            )
        seen.add(name)


def _check_tree(skeleton: SkeletonMessage) -> None:
    parents = np.asarray(skeleton.parents)
    _check_shape("parents", parents.shape, (len(skeleton.joints),))
    for i, parent in enumerate(parents.tolist()):
        name = skeleton.joints[i]
        if i == 0 and parent != -1:
            raise ProtocolError(
                "bad-parent", f"skeleton: parent of joint 0 {name!r} is {parent}; allowed: -1"
            )
        if i > 0 and not 0 <= parent < i:
            raise ProtocolError(
                "bad-parent",
                f"skeleton: parent of joint {i} {name!r} is {parent}; allowed: 0 to {i - 1}",
            )


def _check_kinds(skeleton: SkeletonMessage) -> None:
    kinds = np.asarray(skeleton.kinds)
    _check_shape("kinds", kinds.shape, (len(skeleton.joints),))
    for name, kind in zip(skeleton.joints, kinds.tolist(), strict=True):
        if not 0 <= kind <= FIXED:
            raise ProtocolError(
                "out-of-range", f"skeleton: kind of joint {name!r} is {kind}; allowed: 0, 1, 2"
            )
        if kind == HINGE and skeleton.axes is None:
            raise ProtocolError(
                "missing-field", f"skeleton: 'axes' is missing, but joint {name!r} is a hinge"
            )


def _check_limits(skeleton: SkeletonMessage) -> None:
    if skeleton.limits_rad is None:
        return
    limits = float_array("skeleton", "limits", skeleton.limits_rad)
    _check_shape("limits", limits.shape, (len(skeleton.joints), 2))
    for name, (low, high) in zip(skeleton.joints, limits.tolist(), strict=True):
        if not low <= high:  # NaN fails too
            raise ProtocolError(
                "out-of-range",
                f"skeleton: limits of joint {name!r} are {low:g} to {high:g} rad;"
                " the first must not exceed the second",
            )


def _check_shape(key: str, shape: tuple[int, ...], allowed: tuple[int, ...]) -> None:
    if shape != allowed:
        raise ProtocolError(
            "bad-length", f"skeleton: '{key}' has shape {shape}; allowed: {allowed}"
        )


def _check_unit(names: Sequence[str], key: str, rows: Floats) -> None:
    for name, length in zip(names, np.linalg.norm(rows, axis=1).tolist(), strict=True):
        if abs(length - 1.0) > UNIT_TOLERANCE:
            raise ProtocolError(
                "not-unit",
                f"skeleton: '{key}' of joint {name!r} has length {length:g};"
                f" allowed: 1 within {UNIT_TOLERANCE:g}",
            )
