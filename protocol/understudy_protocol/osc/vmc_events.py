"""What a VMC datagram says, in our axes: right-handed, Y up, facing +Z, metres, x y z w.

Only the numbers of bones are left as they came; see `Bones`. What every frame brings are named
tuples, which are made in a third of the time of a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from understudy_protocol.errors import ProtocolError
from understudy_protocol.osc.packet import Argument

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]


def bone_mask(bones: Iterable[int]) -> int:
    """A number with the bit of each bone set."""
    return sum(1 << bone for bone in set(bones))


class Bones(NamedTuple):
    """Neighbouring bone messages of one datagram, no bone twice.

    `bones`: their numbers (places in BONE_NAMES), as they came; `mask` has the bit of each set.
    `numbers`: 28 bytes for each, local position (m) and local rotation, in Unity's axes and
    unchecked, because bone by bone that would take longer than all the rest. They are read for a
    whole body at once, where frames are put together.
    """

    bones: tuple[int, ...]
    mask: int
    numbers: bytes

    @classmethod
    def of(cls, wire: Mapping[int, bytes]) -> Bones:
        """From the numbers of each bone."""
        return cls(tuple(wire), bone_mask(wire), b"".join(wire.values()))

    @property
    def wire(self) -> dict[int, bytes]:
        """The numbers of each bone."""
        size = len(self.numbers) // len(self.bones)
        return {
            bone: self.numbers[place * size : (place + 1) * size]
            for place, bone in enumerate(self.bones)
        }


@dataclass(frozen=True, slots=True)
class Root:
    """The model's root in the world: position (m) and unit rotation.

    `scale` and `offset` (m) are for mixed-reality shots; they do not move the performer.
    """

    position: Vector
    rotation_xyzw: Quaternion
    scale: Vector | None = None
    offset: Vector | None = None


class SourceTime(NamedTuple):
    """The sender's clock in seconds; it may start anywhere and jump back."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Status:
    """The sender's state: 1 loaded; calibration state 0 none, 1 waiting, 2 running, 3 done;
    calibration mode 0 normal, 1 and 2 mixed reality; tracking 1 good, 0 bad. None where unsaid.
    """

    loaded: int
    calibration_state: int | None = None
    calibration_mode: int | None = None
    tracking: int | None = None


@dataclass(frozen=True, slots=True)
class BlendApply:
    """Every blendshape value since the last of these holds now."""


@dataclass(frozen=True, slots=True)
class PassedOn:
    """A well-formed message that goes out as it came in: blendshape value, camera or Thru."""

    address: str
    arguments: tuple[Argument, ...]
    raw: bytes


@dataclass(frozen=True, slots=True)
class Device:
    """A headset, controller or tracker in the world, at the avatar's scale or its own."""

    kind: Literal["headset", "controller", "tracker"]
    serial: str
    position: Vector
    rotation_xyzw: Quaternion
    own_scale: bool


@dataclass(frozen=True, slots=True)
class SetPeriod:
    """Wish of a receiver: send each class of messages every n-th frame only."""

    status: int = 1
    root: int = 1
    bones: int = 1
    blendshapes: int = 1
    camera: int = 1
    devices: int = 1


@dataclass(frozen=True, slots=True)
class CalibrationReady:
    """Wish of a receiver: get ready to calibrate, start the countdown."""


@dataclass(frozen=True, slots=True)
class CalibrationExecute:
    """Wish of a receiver: calibrate now; mode 0 normal, 1 and 2 mixed reality."""

    mode: int


@dataclass(frozen=True, slots=True)
class InformationRequest:
    """Wish of a receiver: send the messages that are sent rarely."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Any other message of the protocol, checked and otherwise left alone."""

    address: str
    arguments: tuple[Argument, ...]


VmcEvent: TypeAlias = (
    Bones
    | Root
    | SourceTime
    | Status
    | BlendApply
    | PassedOn
    | Device
    | SetPeriod
    | CalibrationReady
    | CalibrationExecute
    | InformationRequest
    | Notice
)


class VmcDatagram(NamedTuple):
    """One datagram decoded: events in order, what was refused and why, and how many messages had
    an address outside the protocol and were ignored.
    """

    events: list[VmcEvent]
    refused: list[ProtocolError]
    ignored: int
