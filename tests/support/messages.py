"""Hypothesis strategies for valid messages, and comparison of messages that hold arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from understudy_protocol import (
    HINGE,
    EventMessage,
    FrameMessage,
    GoalMessage,
    Marker,
    PoseMessage,
    SkeletonMessage,
)
from understudy_protocol.limits import MAX_I64, MAX_U32, MAX_U64, MIN_I64

u32 = st.integers(0, MAX_U32)
u64 = st.integers(0, MAX_U64)
i64 = st.integers(MIN_I64, MAX_I64)
coordinates = st.floats(-1e6, 1e6, width=32)
joint_counts = st.integers(1, 6)
characters = st.characters(exclude_categories=("Cs", "Cc"))
names = st.text(characters, min_size=1, max_size=16)
name_lists = st.lists(names, max_size=4, unique=True).map(tuple)


def numbers(*shape: int) -> st.SearchStrategy[Any]:
    return arrays(np.float32, shape, elements=coordinates)


def units(count: int, size: int) -> st.SearchStrategy[Any]:
    """Rows of length 1."""
    directions = arrays(np.float64, (count, size), elements=st.floats(0.1, 1.0))
    return directions.map(lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True))


@st.composite
def skeletons(draw: st.DrawFn) -> SkeletonMessage:
    joints = tuple(draw(st.lists(names, min_size=1, max_size=6, unique=True)))
    n = len(joints)
    kinds = np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n)))
    limits = draw(arrays(np.float32, (n, 2), elements=st.floats(width=32, allow_nan=False)))
    marker_names = draw(name_lists)
    return SkeletonMessage(
        id=draw(u32),
        joints=joints,
        parents=np.array([-1] + [draw(st.integers(0, i - 1)) for i in range(1, n)]),
        offsets=draw(numbers(n, 3)),
        rest_xyzw=draw(units(n, 4)),
        kinds=kinds,
        axes=draw(units(n, 3)) if (kinds == HINGE).any() else None,
        limits_rad=draw(st.sampled_from([None, np.sort(limits, axis=1)])),
        tips=draw(st.none() | numbers(n, 3)),
        markers=tuple(
            Marker(name, draw(st.integers(0, n - 1)), draw(numbers(3))) for name in marker_names
        ),
        contacts=draw(name_lists),
        effectors=draw(name_lists),
    )


@st.composite
def frames(draw: st.DrawFn) -> FrameMessage:
    return FrameMessage(
        run=draw(u32),
        seq=draw(u64),
        capture_ns=draw(i64),
        skeleton_id=draw(u32),
        root=draw(numbers(3)),
        rotations_xyzw=draw(numbers(draw(joint_counts), 4)),
        points=draw(st.none() | numbers(draw(st.integers(0, 3)), 3)),
    )


@st.composite
def goals(draw: st.DrawFn) -> GoalMessage:
    release = draw(st.booleans())
    return GoalMessage(
        run=draw(u32),
        seq=draw(u64),
        capture_ns=draw(i64),
        effector=draw(names),
        position=None if release else draw(numbers(3)),
        orientation_xyzw=draw(st.none() | units(1, 4).map(lambda rows: rows[0])),
        weight=draw(st.floats(0, 1)),
        ease_s=draw(st.floats(0, 10)),
        release=release,
    )


@st.composite
def poses(draw: st.DrawFn) -> PoseMessage:
    return PoseMessage(
        seq=draw(u64),
        skeleton_id=draw(u32),
        source_seq=draw(u64),
        root=draw(numbers(3)),
        rotations_xyzw=draw(numbers(draw(joint_counts), 4)),
        angles_rad=draw(st.none() | numbers(draw(st.integers(0, 3)))),
        contacts=draw(st.binary(max_size=64)),
        residual_m=draw(st.floats(0, 1e6)),
        status=draw(u32),
        capture_ns=draw(i64),
        arrival_ns=draw(i64),
        publish_ns=draw(i64),
        delay_ns=draw(st.integers(0, MAX_I64)),
    )


events = st.builds(
    EventMessage,
    kind=names.filter(lambda name: "/" not in name),
    text=st.text(characters, max_size=50),
    time_ns=i64,
    data=st.dictionaries(
        names.filter(lambda name: "/" not in name),
        st.none() | st.booleans() | i64 | st.floats(allow_nan=False, allow_infinity=False) | names,
        max_size=4,
    ),
)


def trees(leaves: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Leaves, and lists and maps of them."""
    keys = st.text(max_size=5)
    return st.recursive(
        leaves,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
        max_leaves=6,
    )


def contents(message: object) -> dict[str, Any]:
    """The fields of a record; arrays as float32 bytes, so that equality is exact."""
    found: dict[str, Any] = {}
    for name in message.__slots__:  # type: ignore[attr-defined]  # a slotted dataclass
        value = getattr(message, name)
        if isinstance(value, np.ndarray):
            found[name] = (value.shape, value.astype(np.float32).tobytes())
        elif isinstance(value, tuple):
            found[name] = [contents(item) if isinstance(item, Marker) else item for item in value]
        else:
            found[name] = value
    return found
