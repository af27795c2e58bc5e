"""Whole frames from VMC datagrams, which carry bone by bone and no frame number.

The latest value of every bone is kept. A frame is taken to be complete at the first of:

- `repeat`: a bone comes a second time;
- `marker`: T, OK or Blend/Apply comes behind at least one bone;
- `datagram`: a datagram ends, from a sender that puts its whole body into one and no marker behind;
- `gap`: no bone has come for a while.

Senders differ: the official sample ends a frame with OK and T, SlimeVR begins its single bundle
with them. In the first second the assembler counts what ends this sender's frames, and then knows
whether it need not wait for more at the end of a datagram, or may well wait for the marker.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from understudy.ingest._kernels import poses_from_vmc
from understudy.kinematics import FloatArray, IntArray
from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import FRAME_UNIT_TOLERANCE, MAX_MAGNITUDE
from understudy_protocol.osc.bones import BONE_COUNT, BONE_NAMES, HIPS
from understudy_protocol.osc.vmc_events import (
    BlendApply,
    Bones,
    PassedOn,
    Root,
    SourceTime,
    Status,
    VmcDatagram,
    bone_mask,
)

GAP_NS: Final = 3_000_000
"""Bones of one frame follow each other within a millisecond; frames are 5 ms apart and more."""

MARKER_GAP_NS: Final = 25_000_000
"""The same for a sender known to end its frames with a marker: a gap is a pause of the sender or
the network. If the marker is lost, the next frame's first bone ends the frame."""

LEARNING_NS: Final = 1_000_000_000
"""A sender is watched for this long before its habits are trusted, and then over and over."""

MAX_PASSED_ON: Final = 512
"""Messages waiting to be passed on; beyond, the oldest are dropped."""

Trigger = Literal["repeat", "marker", "datagram", "gap"]
BoolArray = np.ndarray[tuple[int], np.dtype[np.bool_]]

_MARKERS: Final = (SourceTime, Status, BlendApply)
_IDENTITY_ROOT: Final = Root((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class VmcFrame:
    """One pose of a VMC performer.

    Rows are bones in the order of BONE_NAMES, in our axes. `positions` (55, 3) m and
    `rotations_xyzw` (55, 4), unit, are local to the parent, those of Hips to the model's root; a
    bone never seen is at the identity. `seen` (55,): bones seen at least once; it is read-only and
    shared by frames, the other arrays are the frame's own. `root` (3,) m and `root_xyzw` (4,): Hips
    in the world, the model's root included.
    """

    arrival_ns: int
    """When the last datagram with bones of this frame arrived."""
    source_time_s: float | None
    """The sender's clock, of this frame or the one before; a hint only: it may jump back."""
    trigger: Trigger
    positions: FloatArray
    rotations_xyzw: FloatArray
    seen: BoolArray
    root: FloatArray
    root_xyzw: FloatArray
    status: Status | None
    passed_on: tuple[bytes, ...]
    """Blendshape, camera and Thru messages since the last frame, as they came."""
    refused: tuple[ProtocolError, ...]
    """Bones of this frame whose numbers were impossible; they keep their last value."""


class VmcAssembler:
    """Collects one sender's datagrams into frames. It has no clock: times are passed in."""

    def __init__(self, gap_ns: int = GAP_NS) -> None:
        self._gap_ns: Final = gap_ns
        self._passed_on: Final[deque[bytes]] = deque(maxlen=MAX_PASSED_ON)
        self._positions: Final = np.zeros((BONE_COUNT, 3))
        self._rotations: Final = np.zeros((BONE_COUNT, 4))
        self._good: Final = np.zeros(BONE_COUNT, np.bool_)
        # A sender's bones come in one order: what was made of it holds for the next frame.
        self._order: list[tuple[int, ...]] = []
        self._bones: IntArray = np.zeros(0, np.int64)
        self.reset()

    def reset(self) -> None:
        """Forget everything: another sender has taken over the port."""
        self._positions[:] = 0.0
        self._rotations[:] = (0.0, 0.0, 0.0, 1.0)
        self._passed_on.clear()
        self._root = _IDENTITY_ROOT
        self._status: Status | None = None
        self._source_time_s: float | None = None
        self._runs: list[Bones] = []
        self._pending = 0
        self._pending_datagrams = 0
        self._arrival_ns = 0
        self._seen_bones = 0
        self._seen = _flags(0)
        self._habits = _Habits()

    @property
    def deadline_ns(self) -> int | None:
        """When `poll` is due; None while nothing waits."""
        if not self._pending:
            return None
        if self._habits.marker_last:
            return self._arrival_ns + max(self._gap_ns, MARKER_GAP_NS)
        return self._arrival_ns + self._gap_ns

    def poll(self, now_ns: int) -> VmcFrame | None:
        """The waiting frame, if no bone has come for the length of the gap."""
        deadline = self.deadline_ns
        return self._emit("gap") if deadline is not None and now_ns >= deadline else None

    def take_passed_on(self) -> tuple[bytes, ...]:
        """Messages to pass on, without waiting for a frame: a face tracker sends no bones."""
        messages = tuple(self._passed_on)
        self._passed_on.clear()
        return messages

    def feed(self, datagram: VmcDatagram, now_ns: int) -> list[VmcFrame]:
        """Take in a datagram that arrived at `now_ns`; the frames it completes, mostly 0 or 1."""
        frames: list[VmcFrame] = []
        # What a known sender sends behind a gap was waiting here, unless the caller has polled: the
        # reader was late, and the frame goes on.
        late = None if self._habits.marker_last else self.poll(now_ns)
        if late is not None:
            frames.append(late)
        counted = marked = False
        for event in datagram.events:
            if isinstance(event, Bones):
                # Neighbouring bones belong together: a repeat anywhere among them ends the last
                # frame before the first of them, lest two frames mix.
                if marked or self._pending & event.mask:
                    frames.append(self._emit("marker" if marked else "repeat"))
                    counted = marked = False
                if not counted:
                    counted = True
                    self._pending_datagrams += 1
                    self._arrival_ns = now_ns
                self._runs.append(event)
                self._pending |= event.mask
            elif isinstance(event, Root):
                self._root = event
            elif isinstance(event, PassedOn):
                self._passed_on.append(event.raw)
            elif isinstance(event, _MARKERS):
                if isinstance(event, SourceTime):
                    self._source_time_s = event.seconds
                elif isinstance(event, Status):
                    self._status = event
                # What else the datagram says behind the first marker belongs to the frame too.
                marked = self._pending != 0
        if marked:
            frames.append(self._emit("marker"))
        elif counted and self._habits.complete_at_end_of_datagram(self._pending):
            frames.append(self._emit("datagram"))
        return frames

    def _emit(self, trigger: Trigger) -> VmcFrame:
        pending = self._pending
        self._habits.watch(trigger, pending, self._pending_datagrams == 1, self._arrival_ns)
        order = [run.bones for run in self._runs]
        if order != self._order:
            self._order = order
            self._bones = np.array([bone for bones in order for bone in bones], np.int64)
        numbers = b"".join([run.numbers for run in self._runs])
        bad = poses_from_vmc(
            np.frombuffer(numbers, ">f4").astype(np.float32).reshape(-1, 7),
            self._bones,
            MAX_MAGNITUDE,
            FRAME_UNIT_TOLERANCE,
            self._positions,
            self._rotations,
            self._good,
        )
        refused: tuple[ProtocolError, ...] = ()
        if bad:
            broken = self._bones[~self._good[: len(self._bones)]].tolist()
            refused = tuple(_impossible(bone) for bone in sorted(broken))
            pending &= ~bone_mask(broken)
        if pending & ~self._seen_bones:
            self._seen_bones |= pending
            self._seen = _flags(self._seen_bones)
        positions, rotations = self._positions.copy(), self._rotations.copy()
        root, root_xyzw = _hips_in_world(self._root, positions[HIPS], rotations[HIPS])
        self._runs = []
        self._pending = 0
        self._pending_datagrams = 0
        return VmcFrame(
            arrival_ns=self._arrival_ns,
            source_time_s=self._source_time_s,
            trigger=trigger,
            positions=positions,
            rotations_xyzw=rotations,
            seen=self._seen,
            root=root,
            root_xyzw=root_xyzw,
            status=self._status,
            passed_on=self.take_passed_on(),
            refused=refused,
        )


class _Habits:
    """How a sender packs its frames, learned from what ended them.

    A frame that a marker ended before the gap was over has its marker last. A sender whose frames
    end otherwise, and whose body comes in one datagram, needs no waiting at a datagram's end.
    """

    def __init__(self) -> None:
        self.marker_last = False
        """Whether this sender ends its frames with a marker; False until that is known."""
        self._whole_body: int | None = None
        self._start_ns: int | None = None
        self._begin_watch()

    def _begin_watch(self) -> None:
        self._frames = 0
        self._ended_by_marker = 0
        self._in_one_datagram = 0
        self._body = 0

    def watch(self, trigger: Trigger, bones: int, one_datagram: bool, now_ns: int) -> None:
        """Count a frame, and draw the conclusion when the time is over."""
        if self._start_ns is None:
            self._start_ns = now_ns
        self._body |= bones
        self._frames += 1
        self._ended_by_marker += trigger == "marker"
        self._in_one_datagram += one_datagram and bones == self._body
        if now_ns - self._start_ns >= LEARNING_NS:
            # A few frames may be torn by loss; half is no habit.
            single = self._in_one_datagram >= 0.9 * self._frames
            self.marker_last = self._ended_by_marker > 0.5 * self._frames
            self._whole_body = self._body if single and not self.marker_last else None
            self._start_ns = now_ns
            self._begin_watch()

    def complete_at_end_of_datagram(self, bones: int) -> bool:
        """Whether a datagram that brought `bones` is a whole frame of this sender."""
        return self._whole_body is not None and bones & self._whole_body == self._whole_body


def _flags(bones: int) -> BoolArray:
    flags = np.array([bool(bones >> bone & 1) for bone in range(BONE_COUNT)])
    flags.setflags(write=False)
    return flags


def _impossible(bone: int) -> ProtocolError:
    return ProtocolError(
        "bad-pose",
        f"bone {BONE_NAMES[bone]!r}: allowed: a finite position in metres and a unit quaternion",
    )


def _hips_in_world(
    root: Root, position: FloatArray, rotation_xyzw: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """world_from_root times root_from_hips; plain numbers are faster than arrays of four."""
    if root.position == _IDENTITY_ROOT.position and root.rotation_xyzw[3] == 1.0:
        return position.copy(), rotation_xyzw.copy()
    ax, ay, az, aw = root.rotation_xyzw
    x, y, z = position.tolist()
    bx, by, bz, bw = rotation_xyzw.tolist()
    # p + 2 w (a x p) + 2 a x (a x p)
    tx, ty, tz = 2 * (ay * z - az * y), 2 * (az * x - ax * z), 2 * (ax * y - ay * x)
    ox, oy, oz = root.position
    return (
        np.array(
            [
                ox + x + aw * tx + ay * tz - az * ty,
                oy + y + aw * ty + az * tx - ax * tz,
                oz + z + aw * tz + ax * ty - ay * tx,
            ]
        ),
        np.array(
            [
                aw * bx + ax * bw + ay * bz - az * by,
                aw * by - ax * bz + ay * bw + az * bx,
                aw * bz + ax * by - ay * bx + az * bw,
                aw * bw - ax * bx - ay * by - az * bz,
            ]
        ),
    )
