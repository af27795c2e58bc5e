"""Plain OSC for people who patch: one message per joint, one bundle per frame, in and out.

    /understudy/<name>/frame ,i             frame number
    /understudy/<name>/root ,fffffff        x y z qx qy qz qw of the root joint in the world
    /understudy/<name>/joint/<joint> ,ffff  qx qy qz qw of any other joint in its parent
    /understudy/<name>/skeleton/<joint> ,sfffffff
                                            parent, then offset x y z and rest qx qy qz qw in it

Metres, right-handed, Y up, facing +Z. A frame is one bundle in one datagram, whatever its size:
no patch has to put it together again.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import FRAME_UNIT_TOLERANCE, MAX_JOINTS, MAX_MAGNITUDE
from understudy_protocol.names import check_name, describe
from understudy_protocol.osc.packet import (
    MAX_DATAGRAM_BYTES,
    Argument,
    append_messages,
    read_address,
    read_message,
    split_packet,
    string_end,
    write_message,
)
from understudy_protocol.osc.template import Blank, BundleTemplate

_PREFIX: Final = "/understudy/"
_JOINT_TAGS: Final = b",ffff\0\0\0"
_JOINT_BYTES: Final = 4 * 4

# Characters that OSC keeps for patterns and separators; a joint may have them in its name.
_RESERVED: Final = str.maketrans({character: "_" for character in " #*,/?[]{}"})


@dataclass(frozen=True, slots=True, eq=False)
class PlainFrame:
    """What one datagram says of one performer's pose; what it leaves out stays as it was.

    `number`: the frame's, or None; `root` (7,): position m and rotation x y z w in the world, or
    None; `joints` and their `rotations_xyzw` (k, 4), unit, in the parent.
    """

    name: str
    number: int | None
    root: NDArray[np.float64] | None
    joints: tuple[str, ...]
    rotations_xyzw: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PlainJoint:
    """One joint of a performer's body: `parent` is None for the root; `offset` (3,) m and
    `rest_xyzw` (4,), unit, in the parent.
    """

    name: str
    joint: str
    parent: str | None
    offset: NDArray[np.float64]
    rest_xyzw: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PlainDatagram:
    """One datagram decoded: frames (one per performer in it), joints of skeletons, what was
    refused and why, and how many messages had an address outside the scheme.
    """

    frames: list[PlainFrame]
    skeleton: list[PlainJoint]
    refused: list[ProtocolError]
    ignored: int


def address_part(name: str) -> str:
    """A name as one part of an OSC address: reserved characters become underscores."""
    return name.translate(_RESERVED)


class PlainEncoder:
    """Turns the poses of one character into bundles; made for a fixed list of joints."""

    def __init__(self, name: str, joints: Sequence[str]) -> None:
        """`joints`: the root first. Names that OSC cannot carry are altered, never to be alike."""
        check_name("name", name)
        if not 1 <= len(joints) <= MAX_JOINTS:
            raise ProtocolError("too-many-joints", f"{len(joints)} joints; allowed: 1-{MAX_JOINTS}")
        self._base: Final = _PREFIX + address_part(name)
        self.addresses: Final = tuple(
            f"{self._base}/joint/{address_part(check_name('joint', joint, slash=True))}"
            for joint in joints
        )
        """The address of each joint; the first is not sent, the root has a message of its own."""
        if len(set(self.addresses)) < len(joints):
            raise ProtocolError(
                "bad-name", f"two joints of {name!r} have one OSC address; reserved: ' #*,/?[]{{}}'"
            )
        number = write_message(f"{self._base}/frame", "i", 0)
        root = write_message(f"{self._base}/root", "fffffff", *([0.0] * 7))
        blanks = [Blank(number, 0, 0), Blank(root, len(root) - 7 * 4, 7)]
        for address in self.addresses[1:]:
            joint = write_message(address, "ffff", *([0.0] * 4))
            blanks.append(Blank(joint, len(joint) - _JOINT_BYTES, 4))
        self._template: Final = BundleTemplate(blanks, MAX_DATAGRAM_BYTES)
        self._number_at: Final = self._template.message_at[0] + len(number) - 4
        self._numbers: Final = np.empty(3 + 4 * len(joints))
        self._rotations: Final = self._numbers[3:].reshape(-1, 4)

    def encode(self, number: int, root: ArrayLike, rotations_xyzw: ArrayLike) -> list[bytes]:
        """The bundle of one frame: `root` (3,) m in the world, `rotations_xyzw` (n, 4) local.

        Frame numbers start over after 2 147 483 647. Only bodies of several hundred joints with
        long names need a second datagram.
        """
        self._numbers[:3] = root
        self._rotations[:] = rotations_xyzw
        if not np.isfinite(self._numbers).all():
            raise ProtocolError("not-finite", "a pose to send is not finite; allowed: numbers")
        struct.pack_into(">i", self._template.buffer, self._number_at, number & 0x7FFFFFFF)
        return self._template.fill(self._numbers)

    def encode_skeleton(
        self, parents: Sequence[int], offsets: ArrayLike, rest_xyzw: ArrayLike
    ) -> list[bytes]:
        """Datagrams that describe the body: send them at the start and now and then.

        `parents` (n,) with -1 for the root; `offsets` (n, 3) m; `rest_xyzw` (n, 4).
        """
        names = [address.rsplit("/", 1)[1] for address in self.addresses]
        datagrams: list[bytes] = []
        rows = np.hstack([np.asarray(offsets, np.float64), np.asarray(rest_xyzw, np.float64)])
        append_messages(
            datagrams,
            (
                write_message(
                    f"{self._base}/skeleton/{joint}",
                    "sfffffff",
                    "" if parent < 0 else names[parent],
                    *row.tolist(),
                )
                for joint, parent, row in zip(names, parents, rows, strict=True)
            ),
        )
        return datagrams


class _Gathered:
    """What a datagram says of one performer so far."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.root: NDArray[np.float64] | None = None
        self.joints: dict[str, tuple[float, ...]] = {}


def decode_plain(datagram: bytes) -> PlainDatagram:
    """Everything a datagram says. Never raises, whatever the bytes.

    The last message of a joint counts. Surplus arguments are ignored, as are addresses outside the
    scheme.
    """
    messages, refused = split_packet(datagram)
    gathered: dict[str, _Gathered] = {}
    skeleton: list[PlainJoint] = []
    ignored = 0
    for raw in messages:
        try:
            if not _take(raw, gathered, skeleton):
                ignored += 1
        except ProtocolError as error:
            refused.append(error)
    frames = [
        PlainFrame(
            name=name,
            number=said.number,
            root=said.root,
            joints=tuple(said.joints),
            rotations_xyzw=np.array(list(said.joints.values()), np.float64).reshape(-1, 4),
        )
        for name, said in gathered.items()
    ]
    return PlainDatagram(frames, skeleton, refused, ignored)


def _take(raw: bytes, gathered: dict[str, _Gathered], skeleton: list[PlainJoint]) -> bool:
    """Note what one message says; False if its address is not of the scheme."""
    address = read_address(raw)
    match address.split("/"):
        case ["", "understudy", str(name), "joint", str(joint)] if name and joint:
            quaternion = _joint_numbers(raw, address)
            gathered.setdefault(name, _Gathered()).joints[joint] = _unit(address, quaternion)
        case ["", "understudy", str(name), "root"] if name:
            pose = _numbers(address, read_message(raw).arguments, 7)
            root = np.array((*pose[:3], *_unit(address, pose[3:])))
            gathered.setdefault(name, _Gathered()).root = root
        case ["", "understudy", str(name), "frame"] if name:
            number = next(iter(read_message(raw).arguments), None)
            if type(number) is not int:
                raise ProtocolError("bad-type", f"{address} {describe(number)}; allowed: an int")
            gathered.setdefault(name, _Gathered()).number = number
        case ["", "understudy", str(name), "skeleton", str(joint)] if name and joint:
            skeleton.append(_skeleton_joint(name, joint, address, read_message(raw).arguments))
        case _:
            return False
    return True


def _joint_numbers(raw: bytes, address: str) -> tuple[float, ...]:
    address_end = string_end(raw, 0)
    if (
        raw[address_end : address_end + len(_JOINT_TAGS)] == _JOINT_TAGS
        and len(raw) == address_end + len(_JOINT_TAGS) + _JOINT_BYTES
    ):
        return struct.unpack_from(">4f", raw, len(raw) - _JOINT_BYTES)
    return _numbers(address, read_message(raw).arguments, 4)


def _numbers(address: str, arguments: tuple[Argument, ...], count: int) -> tuple[float, ...]:
    numbers = tuple(
        float(value)
        for value in arguments[:count]
        if isinstance(value, int | float) and not isinstance(value, bool)
    )
    if len(numbers) < count:
        raise ProtocolError("too-few-arguments", f"{address}: it needs {count} numbers")
    if not all(abs(number) <= MAX_MAGNITUDE for number in numbers):
        raise ProtocolError(
            "out-of-range", f"{address}: allowed: finite, up to {MAX_MAGNITUDE:g} either way"
        )
    return numbers


def _unit(address: str, quaternion: tuple[float, ...]) -> tuple[float, ...]:
    x, y, z, w = quaternion
    length = (x * x + y * y + z * z + w * w) ** 0.5
    if not abs(length - 1.0) <= FRAME_UNIT_TOLERANCE:
        raise ProtocolError(
            "bad-pose", f"{address}: a quaternion of length {length:g}; allowed: 1, x y z w"
        )
    return x / length, y / length, z / length, w / length


def _skeleton_joint(
    name: str, joint: str, address: str, arguments: tuple[Argument, ...]
) -> PlainJoint:
    parent = next(iter(arguments), None)
    if not isinstance(parent, str):
        raise ProtocolError("bad-type", f"{address} {describe(parent)}; allowed: the parent's name")
    numbers = _numbers(address, arguments[1:], 7)
    return PlainJoint(
        name=name,
        joint=joint,
        parent=parent or None,
        offset=np.array(numbers[:3]),
        rest_xyzw=np.array(_unit(address, numbers[3:])),
    )
