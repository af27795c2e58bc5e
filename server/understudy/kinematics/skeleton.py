"""The immutable description of a body: names, hierarchy, offsets, rest pose and kinds of joints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from understudy.errors import UnderstudyError
from understudy.kinematics.types import ByteArray, FloatArray, IntArray

BALL: Final = 0
HINGE: Final = 1
FIXED: Final = 2

JointKind = Literal["ball", "hinge", "fixed"]
KIND_NAMES: Final[tuple[JointKind, ...]] = ("ball", "hinge", "fixed")

Triple = Sequence[float] | FloatArray


class SkeletonError(UnderstudyError):
    """A body that cannot be built; `joint` names the culprit."""

    def __init__(self, joint: str, problem: str) -> None:
        super().__init__(f"joint {joint!r}: {problem}")
        self.joint = joint


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """One joint as a builder writes it down.

    `offset` (m) is in the parent's frame, `rest_xyzw` is parent_from_joint in the rest pose,
    `axis` (a hinge's, in the joint's own rest frame) and `limits_rad` count from the rest pose,
    `tip` (m) is the end of a leaf bone in the joint's frame.
    """

    name: str
    parent: str | None
    offset: Triple = (0.0, 0.0, 0.0)
    rest_xyzw: Triple = (0.0, 0.0, 0.0, 1.0)
    kind: JointKind = "ball"
    axis: Triple = (0.0, 0.0, 1.0)
    limits_rad: tuple[float, float] = (-math.inf, math.inf)
    tip: Triple | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Where a body is: root position (3,) m in the world, and parent_from_joint rotations (n, 4).

    Rotations are full ones: a joint's rest rotation is part of them. Row 0 turns the root in the
    world.
    """

    root: FloatArray
    rotations_xyzw: FloatArray

    def copy(self) -> Pose:
        """A pose with arrays of its own."""
        return Pose(self.root.copy(), self.rotations_xyzw.copy())


@dataclass(frozen=True, slots=True, eq=False)
class Skeleton:
    """A tree of joints, parents before children; every array is read-only.

    Shapes for n joints: `parents` (n,) with -1 for the root; `offsets` (n, 3) m in the parent's
    frame; `rest_xyzw` (n, 4) parent_from_joint; `kinds` (n,) of BALL, HINGE, FIXED; `axes` (n, 3)
    unit vectors in the joint's rest frame and `limits_rad` (n, 2), both meant for hinges; `tips`
    (n, 3) m in the joint's frame, meaningful where `has_tip` (n,) says so.
    """

    names: tuple[str, ...]
    parents: IntArray
    offsets: FloatArray
    rest_xyzw: FloatArray
    kinds: ByteArray
    axes: FloatArray
    limits_rad: FloatArray
    tips: FloatArray
    has_tip: np.ndarray[tuple[int], np.dtype[np.bool_]]
    _index: dict[str, int] = field(repr=False)

    @classmethod
    def build(cls, joints: Iterable[Joint]) -> Skeleton:
        """Order the joints parents first and check them; SkeletonError names the joint at fault."""
        ordered = _parents_first(tuple(joints))
        index = {joint.name: i for i, joint in enumerate(ordered)}
        n = len(ordered)
        skeleton = cls(
            names=tuple(joint.name for joint in ordered),
            parents=np.array(
                [-1 if joint.parent is None else index[joint.parent] for joint in ordered], np.int64
            ),
            offsets=_rows(ordered, "offset", 3),
            rest_xyzw=_unit_rows(ordered, "rest_xyzw", 4),
            kinds=np.array([_kind(joint) for joint in ordered], np.int8),
            axes=_unit_rows(ordered, "axis", 3),
            limits_rad=np.array([_limits(joint) for joint in ordered]).reshape(n, 2),
            tips=np.array([_tip(joint) for joint in ordered]).reshape(n, 3),
            has_tip=np.array([joint.tip is not None for joint in ordered], np.bool_),
            _index=index,
        )
        for array in (
            skeleton.parents,
            skeleton.offsets,
            skeleton.rest_xyzw,
            skeleton.kinds,
            skeleton.axes,
            skeleton.limits_rad,
            skeleton.tips,
            skeleton.has_tip,
        ):
            array.setflags(write=False)
        return skeleton

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def index(self, name: str) -> int:
        """The number of the joint called `name`."""
        try:
            return self._index[name]
        except KeyError:
            known = ", ".join(self.names)
            raise SkeletonError(name, f"no such joint; the skeleton has {known}") from None

    def children(self, joint: int) -> list[int]:
        """Numbers of the joints that hang directly on `joint`."""
        return [int(i) for i in np.flatnonzero(self.parents == joint)]

    def ancestors(self, joint: int) -> list[int]:
        """The chain from the root down to `joint`, both included."""
        chain = []
        while joint >= 0:
            chain.append(joint)
            joint = int(self.parents[joint])
        return chain[::-1]

    def rest_pose(self) -> Pose:
        """Every joint at rest, the root at its own offset."""
        return Pose(self.offsets[0].copy(), self.rest_xyzw.copy())

    def joints(self) -> list[Joint]:
        """The joints as a builder would write them: the way to derive one body from another."""
        return [
            Joint(
                name=name,
                parent=None if self.parents[i] < 0 else self.names[self.parents[i]],
                offset=self.offsets[i].copy(),
                rest_xyzw=self.rest_xyzw[i].copy(),
                kind=KIND_NAMES[self.kinds[i]],
                axis=self.axes[i].copy(),
                limits_rad=(float(self.limits_rad[i, 0]), float(self.limits_rad[i, 1])),
                tip=self.tips[i].copy() if self.has_tip[i] else None,
            )
            for i, name in enumerate(self.names)
        ]


def _parents_first(joints: tuple[Joint, ...]) -> list[Joint]:
    """The joints in the order given, moved only as far as needed to put parents before children."""
    if not joints:
        raise SkeletonError("", "a skeleton needs at least one joint")
    by_name: dict[str, Joint] = {}
    for joint in joints:
        if not joint.name:
            raise SkeletonError(joint.name, "a joint needs a name")
        if joint.name in by_name:
            raise SkeletonError(joint.name, "two joints have this name; names must be unique")
        by_name[joint.name] = joint
    roots = [joint for joint in joints if joint.parent is None]
    if not roots:
        raise SkeletonError(joints[0].name, "no joint is the root: one must have no parent")
    if len(roots) > 1:
        raise SkeletonError(
            roots[1].name, f"a second root beside {roots[0].name!r}; only one is allowed"
        )
    for joint in joints:
        if joint.parent is not None and joint.parent not in by_name:
            raise SkeletonError(joint.name, f"its parent {joint.parent!r} is not in the skeleton")
    ordered: list[Joint] = []
    placed: set[str] = set()
    for joint in joints:
        chain: list[Joint] = []
        walk: Joint | None = joint
        while walk is not None and walk.name not in placed:
            if walk in chain:
                raise SkeletonError(walk.name, "is its own ancestor; a skeleton must be a tree")
            chain.append(walk)
            walk = None if walk.parent is None else by_name[walk.parent]
        for link in reversed(chain):
            ordered.append(link)
            placed.add(link.name)
    return ordered


def _rows(joints: list[Joint], attribute: str, width: int) -> FloatArray:
    rows = []
    for joint in joints:
        row = np.asarray(getattr(joint, attribute), np.float64)
        if row.shape != (width,):
            raise SkeletonError(
                joint.name, f"{attribute} has shape {row.shape}, expected {width} numbers"
            )
        if not np.all(np.isfinite(row)):
            raise SkeletonError(joint.name, f"{attribute} {row.tolist()} is not finite")
        rows.append(row)
    return np.array(rows)


def _unit_rows(joints: list[Joint], attribute: str, width: int) -> FloatArray:
    rows = _rows(joints, attribute, width)
    lengths = np.linalg.norm(rows, axis=1)
    for joint, length in zip(joints, lengths, strict=True):
        if length < 1e-6:
            raise SkeletonError(joint.name, f"{attribute} has length {length:g}; it cannot be zero")
    return np.asarray(rows / lengths[:, None], dtype=np.float64)


def _kind(joint: Joint) -> int:
    if joint.kind not in KIND_NAMES:
        raise SkeletonError(
            joint.name, f"kind {joint.kind!r} is unknown; allowed: {', '.join(KIND_NAMES)}"
        )
    return KIND_NAMES.index(joint.kind)


def _limits(joint: Joint) -> tuple[float, float]:
    low, high = joint.limits_rad
    if math.isnan(low) or math.isnan(high) or low > high:
        raise SkeletonError(
            joint.name, f"limits {low} to {high} rad: the first must not exceed the second"
        )
    return low, high


def _tip(joint: Joint) -> FloatArray:
    if joint.tip is None:
        return np.zeros(3)
    tip = np.asarray(joint.tip, np.float64)
    if tip.shape != (3,) or not np.all(np.isfinite(tip)):
        raise SkeletonError(joint.name, f"tip {tip.tolist()} must be three finite numbers")
    return tip
