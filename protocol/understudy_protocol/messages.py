"""The messages of protocol version 1 as records.

Units: metres, radians, nanoseconds where a name ends in `_ns`, seconds where it ends in `_s`.
Right-handed, Y up, facing +Z, quaternions x, y, z, w; every rotation is a full parent_from_joint
rotation, the rest rotation included. Arrays may be given as any float type; decoded frames and
poses hold read-only float32 views into the received bytes, decoded skeletons float64 copies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]
Scalar = None | bool | int | float | str

BALL: Final = 0
HINGE: Final = 1
FIXED: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Marker:
    """A measured point: fixed to joint number `joint` at `offset` (3,) m in the joint's frame."""

    name: str
    joint: int
    offset: Floats


@dataclass(frozen=True, slots=True, eq=False)
class SkeletonMessage:
    """The body that frames (of a performer) or poses (of a character) speak about.

    For n joints: `parents` (n,) with -1 for joint 0 and parents first; `offsets` (n, 3) m in the
    parent's frame; `rest_xyzw` (n, 4); `kinds` (n,) of BALL, HINGE, FIXED; `axes` (n, 3), needed
    with hinges, unit in the joint's frame; `limits_rad` (n, 2), infinite where there is none;
    `tips` (n, 3) m, the end of a leaf bone in the joint's frame, zero rows where there is none.
    """

    id: int
    joints: tuple[str, ...]
    parents: Integers
    offsets: Floats
    rest_xyzw: Floats
    kinds: Integers
    axes: Floats | None = None
    limits_rad: Floats | None = None
    tips: Floats | None = None
    markers: tuple[Marker, ...] = ()
    contacts: tuple[str, ...] = ()
    effectors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class FrameMessage:
    """One captured frame: `root` (3,) m, `rotations_xyzw` (n, 4), `points` (k, 3) m of the markers.

    `run` is drawn at random at every start of the performer; `seq` counts frames within the run.
    A row of three NaN in `points` is a marker that was not seen.
    """

    run: int
    seq: int
    capture_ns: int
    skeleton_id: int
    root: Floats
    rotations_xyzw: Floats
    points: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GoalMessage:
    """Where a client wants an effector of a character: `position` (3,) m in the world.

    `weight` 0..1 says how much of the goal counts, `ease_s` how long it takes to fade in (or out,
    with `release`). A release needs no position.
    """

    run: int
    seq: int
    capture_ns: int
    effector: str
    position: Floats | None = None
    orientation_xyzw: Floats | None = None
    weight: float = 1.0
    ease_s: float = 0.2
    release: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PoseMessage:
    """One pose of a character: `root` (3,) m, `rotations_xyzw` (n, 4), `angles_rad` of the hinges.

    `contacts` has one byte per contact point, non-zero when it touches. `capture_ns` is on the
    performer's clock, `arrival_ns` and `publish_ns` on the server's; `delay_ns` is what the output
    clock added. `status` has the bits of `understudy_protocol.status`.
    """

    seq: int
    skeleton_id: int
    source_seq: int
    root: Floats
    rotations_xyzw: Floats
    angles_rad: Floats | None
    contacts: bytes
    residual_m: float
    status: int
    capture_ns: int
    arrival_ns: int
    publish_ns: int
    delay_ns: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class EventMessage:
    """Something that happened to a character, for people (`text`) and programs (`kind`, `data`)."""

    kind: str
    text: str
    time_ns: int
    data: Mapping[str, Scalar] = field(default_factory=dict)


Message = SkeletonMessage | FrameMessage | GoalMessage | PoseMessage | EventMessage
