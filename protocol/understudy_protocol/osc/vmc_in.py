"""VMC datagrams to events, coordinates changed from Unity's to ours on the way."""

from __future__ import annotations

import math
import struct
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Final, Literal

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import FRAME_UNIT_TOLERANCE, MAX_MAGNITUDE
from understudy_protocol.names import describe
from understudy_protocol.osc.bones import BONE_INDEX, BONE_NAMES
from understudy_protocol.osc.layouts import KnownLayouts, head
from understudy_protocol.osc.packet import (
    BUNDLE_START,
    Argument,
    read_address,
    read_message,
    split_packet,
    string_end,
    write_string,
)
from understudy_protocol.osc.shapes import BundleShape
from understudy_protocol.osc.vmc_axes import POSE_BYTES
from understudy_protocol.osc.vmc_events import (
    BlendApply,
    Bones,
    CalibrationExecute,
    CalibrationReady,
    Device,
    InformationRequest,
    Notice,
    PassedOn,
    Quaternion,
    Root,
    SetPeriod,
    SourceTime,
    Status,
    Vector,
    VmcDatagram,
    VmcEvent,
)

_POSE: Final = "sfffffff"
_BONE_ADDRESS: Final = "/VMC/Ext/Bone/Pos"
_BONE_BY_HEAD: Final = {
    head(_BONE_ADDRESS, _POSE) + write_string(name): i for i, name in enumerate(BONE_NAMES)
}
"""Everything of a bone's message but its seven numbers, so that one look-up checks it all."""

_BONE_START: Final = _BONE_ADDRESS.encode() + b"\0"
_THRU: Final = "/VMC/Thru/"

_Arguments = tuple[Argument, ...]


class VmcDecoder:
    """Decodes the datagrams of one input; it remembers how they were laid out, to be faster.

    What it returns depends on the datagram alone, and is what `decode_vmc` returns.
    """

    def __init__(self) -> None:
        self._shapes: Final[defaultdict[int, deque[_Shape]]] = defaultdict(_few_shapes)

    def decode(self, datagram: bytes) -> VmcDatagram:
        """Everything a datagram says, in its order. Never raises, whatever the bytes.

        A message that is broken, or a known one with arguments too few or of the wrong type, is
        refused with a reason; surplus arguments and unknown addresses are ignored, as the protocol
        asks.
        """
        shapes = self._shapes.get(len(datagram), ())
        for shape in shapes:
            parts = shape.match(datagram)
            if parts is not None:
                return shape.decode(parts)
        messages, refused = split_packet(datagram)
        if not refused and _has_shape(datagram, messages):
            if len(self._shapes) >= _MAX_LENGTHS:
                self._shapes.clear()
            self._shapes[len(datagram)].append(_Shape(datagram, messages))
        return _decode(messages, refused)


def decode_vmc(datagram: bytes) -> VmcDatagram:
    """Decode one datagram alone; see `VmcDecoder`."""
    return _decode(*split_packet(datagram))


def _decode(messages: list[bytes], refused: list[ProtocolError]) -> VmcDatagram:
    events: list[VmcEvent] = []
    ignored = 0
    run: dict[int, bytes] = {}
    for raw in messages:
        bone = _BONE_BY_HEAD.get(raw[:-POSE_BYTES])
        if bone is not None:
            if bone in run:
                events.append(Bones.of(run))
                run = {}
            run[bone] = raw[-POSE_BYTES:]
            continue
        if run:
            events.append(Bones.of(run))
            run = {}
        try:
            event = _read_event(raw)
        except ProtocolError as error:
            refused.append(error)
            continue
        if event is None:
            ignored += 1
        else:
            events.append(event)
    if run:
        events.append(Bones.of(run))
    return VmcDatagram(events, refused, ignored)


# A shape pays from a few bones on. A sender has one for each datagram of its frame, of which some
# may be of one length.
_SHAPE_ELEMENTS: Final = 4
_MAX_LENGTHS: Final = 32


def _few_shapes() -> deque[_Shape]:
    return deque(maxlen=4)


def _has_shape(datagram: bytes, messages: list[bytes]) -> bool:
    """Whether a datagram is worth remembering: one flat bundle in which every bone is known."""
    return (
        len(messages) >= _SHAPE_ELEMENTS
        and len(datagram) == len(BUNDLE_START) + sum(4 + len(message) for message in messages)
        and all(
            message[:-POSE_BYTES] in _BONE_BY_HEAD or not message.startswith(_BONE_START)
            for message in messages
        )
        and all(0 in message for message in messages)
    )


class _Shape(BundleShape):
    """The shape of a bundle and what to make of its parts."""

    def __init__(self, datagram: bytes, messages: list[bytes]) -> None:
        super().__init__(datagram, messages, _BONE_BY_HEAD, POSE_BYTES)
        # Runs of different bones as (first part, end, bones, mask), other messages as
        # (part, part, (), 0).
        self._steps: Final[list[tuple[int, int, tuple[int, ...], int]]] = []
        for part, bone in enumerate(self.keys):
            if bone is None:
                self._steps.append((part, part, (), 0))
                continue
            first, _, bones, mask = self._steps[-1] if self._steps else (0, 0, (), 0)
            if bones and bone not in bones:
                self._steps[-1] = (first, part + 1, (*bones, bone), mask | 1 << bone)
            else:
                self._steps.append((part, part + 1, (bone,), 1 << bone))
        self._known: Final[dict[int, tuple[bytes, VmcEvent]]] = {}

    def decode(self, parts: tuple[bytes, ...]) -> VmcDatagram:
        events: list[VmcEvent] = []
        refused: list[ProtocolError] = []
        ignored = 0
        for first, end, bones, mask in self._steps:
            if bones:
                events.append(Bones(bones, mask, b"".join(parts[first:end])))
                continue
            raw = parts[first]
            last, event = self._known.get(first, (b"", None))
            if raw != last:
                try:
                    event = _read_event(raw)
                except ProtocolError as error:
                    refused.append(error)
                    continue
                if event is not None:
                    self._known[first] = (raw, event)
            if event is None:
                ignored += 1
            else:
                events.append(event)
        return VmcDatagram(events, refused, ignored)


def _read_event(raw: bytes) -> VmcEvent | None:
    """The event of one message other than a plain bone; None for an address we do not know."""
    known = _EVERY_FRAME.read(raw)
    if known is not None:
        address, arguments = known
        return _KNOWN[address][1](address, arguments, raw)
    address = read_address(raw)
    entry = _THRU_ENTRY if address.startswith(_THRU) else _KNOWN.get(address)
    if entry is None:
        return None
    required, build = entry
    arguments = read_message(raw).arguments
    _check_types(address, required, arguments)
    if build is _passed_on:
        _check_portable(address, raw)
    return build(address, arguments, raw)


def _check_portable(address: str, raw: bytes) -> None:
    """Refuse to pass on types that lose common receivers their place in the datagram."""
    start = string_end(raw, 0)
    tags = raw[start : string_end(raw, start)].rstrip(b"\0") if start < len(raw) else b""
    if tags[:1] != b"," or tags[1:].strip(b"ifsbTF"):
        raise ProtocolError(
            "unknown-type",
            f"{address} with type tags {describe(tags.decode('latin-1'))} is not passed on; "
            "allowed: , then i f s b T F",
        )


def _check_types(address: str, required: str, arguments: _Arguments) -> None:
    if len(arguments) < len(required):
        raise ProtocolError(
            "too-few-arguments", f"{address} with {len(arguments)}; it needs {len(required)}"
        )
    for number, (tag, value) in enumerate(zip(required, arguments, strict=False), start=1):
        kind = type(value)
        if tag == "f" and (kind is float or kind is int):
            continue
        if (tag == "i" and kind is int) or (tag == "s" and kind is str):
            continue
        wanted = {"f": "a number", "i": "an integer", "s": "text"}[tag]
        raise ProtocolError(
            "bad-type", f"{address}: argument {number} is {describe(value)}; allowed: {wanted}"
        )


def _pose(address: str, numbers: _Arguments) -> tuple[Vector, Quaternion]:
    """Our position and unit rotation from the seven numbers of a VMC pose."""
    x, y, z, qx, qy, qz, qw = _floats(address, numbers)
    length = math.sqrt(qx * qx + qy * qy + qz * qz + qw * qw)
    if abs(length - 1.0) > FRAME_UNIT_TOLERANCE:
        raise ProtocolError("bad-pose", f"{address}: a quaternion of length {length:g}; allowed: 1")
    return (-x, y, z), (qx / length, -qy / length, -qz / length, qw / length)


def _floats(address: str, numbers: _Arguments) -> list[float]:
    """The numbers, once `_check_types` has made sure that they are; refused if out of range."""
    floats = [float(number) for number in numbers if isinstance(number, int | float)]
    if not all(abs(number) <= MAX_MAGNITUDE for number in floats):
        raise ProtocolError(
            "out-of-range", f"{address}: allowed: finite, up to {MAX_MAGNITUDE:g} either way"
        )
    return floats


def _ints(numbers: _Arguments) -> list[int]:
    return [number for number in numbers if type(number) is int]


def _bone(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    """A bone that missed the fast path: surplus arguments, other number types, unknown name."""
    bone = BONE_INDEX.get(str(arguments[0]))
    if bone is None:
        raise ProtocolError(
            "unknown-bone", f"{address} {describe(arguments[0])}: VMC has no such bone"
        )
    return Bones((bone,), 1 << bone, struct.pack(">7f", *_floats(address, arguments[1:8])))


def _root(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    position, rotation = _pose(address, arguments[1:8])
    rest = _floats(address, arguments[8:14])
    if len(rest) < 6:
        return Root(position, rotation)
    sx, sy, sz, ox, oy, oz = rest
    return Root(position, rotation, (sx, sy, sz), (-ox, oy, oz))


def _time(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    seconds = arguments[0]
    # Senders that send the time of day exceed every limit on coordinates: only NaN is no time.
    if not isinstance(seconds, int | float) or not math.isfinite(seconds):
        raise ProtocolError("out-of-range", f"{address} {describe(seconds)}: allowed: seconds")
    return SourceTime(float(seconds))


def _status(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    states: list[int] = []
    for state in arguments[:4]:
        if type(state) is not int:
            break
        states.append(state)
    return Status(*states)


def _device(kind: Literal["headset", "controller", "tracker"]) -> _Builder:
    def build(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
        position, rotation = _pose(address, arguments[1:8])
        return Device(kind, str(arguments[0]), position, rotation, address.endswith("/Local"))

    return build


def _period(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    periods = _ints(arguments[:6])
    if min(periods) < 1:
        raise ProtocolError("out-of-range", f"{address} {periods}: allowed: 1 and more frames")
    return SetPeriod(*periods)


def _passed_on(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    if not all(math.isfinite(value) for value in arguments if type(value) is float):
        raise ProtocolError("out-of-range", f"{address}: allowed: finite numbers")
    return PassedOn(address, arguments, raw)


def _notice(address: str, arguments: _Arguments, raw: bytes) -> VmcEvent:
    return Notice(address, arguments)


_Builder = Callable[[str, _Arguments, bytes], VmcEvent]

# Every address of the protocol, both directions: types that must be there, and what to make of it.
_KNOWN: Final[dict[str, tuple[str, _Builder]]] = {
    _BONE_ADDRESS: (_POSE, _bone),
    "/VMC/Ext/Root/Pos": (_POSE, _root),
    "/VMC/Ext/T": ("f", _time),
    "/VMC/Ext/OK": ("i", _status),
    "/VMC/Ext/Blend/Val": ("sf", _passed_on),
    "/VMC/Ext/Blend/Apply": ("", lambda address, arguments, raw: BlendApply()),
    "/VMC/Ext/Cam": (_POSE + "f", _passed_on),
    "/VMC/Ext/Hmd/Pos": (_POSE, _device("headset")),
    "/VMC/Ext/Con/Pos": (_POSE, _device("controller")),
    "/VMC/Ext/Tra/Pos": (_POSE, _device("tracker")),
    "/VMC/Ext/Hmd/Pos/Local": (_POSE, _device("headset")),
    "/VMC/Ext/Con/Pos/Local": (_POSE, _device("controller")),
    "/VMC/Ext/Tra/Pos/Local": (_POSE, _device("tracker")),
    "/VMC/Ext/Set/Period": ("iiiiii", _period),
    "/VMC/Ext/Set/Calib/Ready": ("", lambda address, arguments, raw: CalibrationReady()),
    "/VMC/Ext/Set/Calib/Exec": (
        "i",
        lambda address, arguments, raw: CalibrationExecute(_ints(arguments)[0]),
    ),
    "/VMC/Ext/Set/Req": ("", lambda address, arguments, raw: InformationRequest()),
    "/VMC/Ext/Set/Res": ("s", _notice),
    "/VMC/Ext/Set/Eye": ("ifff", _notice),
    "/VMC/Ext/Set/Config": ("s", _notice),
    "/VMC/Ext/Set/Shortcut": ("s", _notice),
    "/VMC/Ext/Con": ("isiiifff", _notice),
    "/VMC/Ext/Key": ("isi", _notice),
    "/VMC/Ext/Midi/Note": ("iiif", _notice),
    "/VMC/Ext/Midi/CC/Val": ("if", _notice),
    "/VMC/Ext/Midi/CC/Bit": ("ii", _notice),
    "/VMC/Ext/Rcv": ("ii", _notice),
    "/VMC/Ext/Light": (_POSE + "ffff", _notice),
    "/VMC/Ext/VRM": ("ss", _notice),
    "/VMC/Ext/Remote": ("ss", _notice),
    "/VMC/Ext/Opt": ("s", _notice),
    "/VMC/Ext/Setting/Color": ("ffff", _notice),
    "/VMC/Ext/Setting/Win": ("iiii", _notice),
    "/VMC/Ext/Config": ("s", _notice),
}

_THRU_ENTRY: Final[tuple[str, _Builder]] = ("", _passed_on)

_EVERY_FRAME: Final = KnownLayouts(
    [
        ("/VMC/Ext/Root/Pos", _POSE),
        ("/VMC/Ext/Root/Pos", "s" + "f" * 13),
        ("/VMC/Ext/T", "f"),
        ("/VMC/Ext/OK", "i"),
        ("/VMC/Ext/OK", "iii"),
        ("/VMC/Ext/OK", "iiii"),
        ("/VMC/Ext/Blend/Val", "sf"),
        ("/VMC/Ext/Blend/Apply", ""),
    ]
)
