"""Whole frames from VMC datagrams, which carry bone by bone and no frame number.

The latest value of every bone is kept. A frame is taken to be complete at the first of:

- `repeat`: a bone comes a second time;
- `marker`: T, OK or Blend/Apply comes behind at least one bone;
- `datagram`: a datagram brings the last bone of a body, from a sender that is known to send all of
  it in every frame and no marker behind;
- `gap`: no bone has come for a while.

Senders differ: the official sample ends a frame with OK and T, SlimeVR begins its single bundle
with them. In the first second the assembler counts what ends this sender's frames, and then knows
whether it need not wait for more once the body is there, or may well wait for the marker. Until
then a sender of markers is waited for: its next marker, in front or behind, ends the frame.
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

PATIENT_GAP_NS: Final = 25_000_000
"""The same for a sender whose frames something better ends: a gap is a pause of the sender or the
network. If that end is lost, the next frame's marker or first bone ends the frame."""

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
    """The sender's clock, of this frame or the one next to it; a hint only: it may jump back."""
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
        if self._habits.patient:
            return self._arrival_ns + max(self._gap_ns, PATIENT_GAP_NS)
        return self._arrival_ns + self._gap_ns

    def poll(self, now_ns: int) -> VmcFrame | None:
        """The waiting frame, if no bone has come for the length of the gap."""
        deadline = self.deadline_ns
        return self._emit("gap", now_ns) if deadline is not None and now_ns >= deadline else None

    def take_passed_on(self) -> tuple[bytes, ...]:
        """Messages to pass on, without waiting for a frame: a face tracker sends no bones."""
        messages = tuple(self._passed_on)
        self._passed_on.clear()
        return messages

    def feed(self, datagram: VmcDatagram, now_ns: int) -> list[VmcFrame]:
        """Take in a datagram that arrived at `now_ns`; the frames it completes, mostly 0 or 1."""
        frames: list[VmcFrame] = []
        if self._pending & _first_bones(datagram):
            # Whatever stands in front of them in their datagram is of the new frame as well.
            frames.append(self._emit("repeat", now_ns))
        # What comes behind a gap was waiting here, unless the caller has polled: the reader was
        # late, and a frame that has an end of its own goes on.
        late = None if self._habits.patient else self.poll(now_ns)
        if late is not None:
            frames.append(late)
        counted = marked = False
        for event in datagram.events:
            if isinstance(event, Bones):
                # Neighbouring bones belong together: a repeat anywhere among them ends the last
                # frame before the first of them, lest two frames mix.
                if marked or self._pending & event.mask:
                    frames.append(self._emit("marker" if marked else "repeat", now_ns))
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
                self._habits.see_marker()
                # What else the datagram says behind the first marker belongs to the frame too.
                marked = self._pending != 0
        if marked:
            frames.append(self._emit("marker", now_ns))
        elif counted and self._habits.is_whole_body(self._pending):
            frames.append(self._emit("datagram", now_ns))
        return frames

    def _emit(self, trigger: Trigger, now_ns: int) -> VmcFrame:
        pending = self._pending
        self._habits.watch(
            pending,
            self._arrival_ns,
            marker_behind=trigger == "marker" and now_ns - self._arrival_ns < self._gap_ns,
            one_datagram=self._pending_datagrams == 1,
        )
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

    A frame that a marker ended before the gap was over has its marker behind. A sender whose frames
    end otherwise, and all bring the same bones, need not be waited for once these are there; but if
    they come in several datagrams, only its markers show where the first of them is.
    """

    def __init__(self) -> None:
        self.patient = False
        """Whether something better than a pause ends this sender's frames."""
        self._known = False
        self._whole_body: int | None = None
        self._start_ns: int | None = None
        self._marker_seen = False
        self._begin_watch()

    def _begin_watch(self) -> None:
        self._frames = 0
        self._with_marker = 0
        self._marker_behind = 0
        self._in_one_datagram = 0
        self._whole = 0
        self._body = 0

    def see_marker(self) -> None:
        """Take note of T, OK or Blend/Apply."""
        self._marker_seen = True
        if not self._known:
            self.patient = True

    def watch(self, bones: int, now_ns: int, *, marker_behind: bool, one_datagram: bool) -> None:
        """Count a frame, and draw the conclusion when the time is over."""
        if self._start_ns is None:
            self._start_ns = now_ns
        self._body |= bones
        whole = bones == self._body
        self._frames += 1
        self._with_marker += self._marker_seen
        self._marker_behind += marker_behind
        self._whole += whole
        self._in_one_datagram += one_datagram and whole
        self._marker_seen = False
        if now_ns - self._start_ns >= LEARNING_NS:
            self._conclude()
            self._start_ns = now_ns
            self._begin_watch()

    def _conclude(self) -> None:
        # A few frames may be torn by loss; half is no habit.
        most, half = 0.9 * self._frames, 0.5 * self._frames
        marker_behind = self._marker_behind > half
        marker_in_front = not marker_behind and self._with_marker > half
        constant = self._in_one_datagram >= most or (marker_in_front and self._whole >= most)
        self._whole_body = self._body if constant and not marker_behind else None
        self.patient = marker_behind or (marker_in_front and constant)
        self._known = True

    def is_whole_body(self, bones: int) -> bool:
        """Whether a datagram that completed `bones` is the end of a frame of this sender."""
        return self._whole_body is not None and bones & self._whole_body == self._whole_body


def _first_bones(datagram: VmcDatagram) -> int:
    """The bones that a datagram begins with, as a mask; 0 if there are none."""
    return next((event.mask for event in datagram.events if isinstance(event, Bones)), 0)


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
