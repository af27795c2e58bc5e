"""VMC frames whose answers can be told apart.

The protocol numbers no frame, and a server's `/VMC/Ext/T` counts from its own first pose. But every
frame may carry `/VMC/Thru` messages, which a server hands on with the pose made of that frame: here
each carries one with the performer's name and the frame's number. If a frame is dropped, its number
leaves with the next pose, together with that one's: the last number in a pose is the pose's own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from understudy.characters import Clip
from understudy_bench.motion import there_and_back
from understudy_protocol.osc import VMC_NAMES, VmcEncoder
from understudy_protocol.osc.packet import write_message

_ADDRESS: Final = "/VMC/Thru/bench/frame"
_NUMBER_HEAD: Final = write_message(_ADDRESS, "si", "", 0)[:-8]
_TIME_HEAD: Final = write_message("/VMC/Ext/T", "f", 0.0)[:-4]


@dataclass(frozen=True, slots=True)
class VmcAnswer:
    """A whole frame that came back: whose, its number, and `/VMC/Ext/T` (s)."""

    performer: str
    seq: int
    time_s: float


class EndlessVmcMotion:
    """A clip forward and backward without end, as datagrams of a VMC performer."""

    def __init__(self, performer: str, clip: Clip) -> None:
        self._performer = performer
        self._clip = clip
        names = [VMC_NAMES[name] for name in clip.skeleton.names]
        self._encoder = VmcEncoder(names, clip.skeleton.offsets)
        self._first_ns: int | None = None

    def parts(self, seq: int, capture_ns: int) -> Sequence[bytes]:
        """The datagrams of frame number `seq`."""
        if self._first_ns is None:
            self._first_ns = capture_ns
        at = there_and_back(seq, self._clip.frame_count)
        return self._encoder.encode(
            self._clip.roots[at],
            self._clip.rotations_xyzw[at],
            time_s=(capture_ns - self._first_ns) * 1e-9,
            passed_on=(write_message(_ADDRESS, "si", self._performer, seq),),
        )


class VmcAnswers:
    """Finds whole frames among the datagrams of one sender.

    `/VMC/Ext/T` ends a frame. A frame of which a datagram is missing is no answer; how many it must
    have, the first one tells.
    """

    def __init__(self) -> None:
        self._datagrams = 0
        self._whole = 0
        self._number: tuple[str, int] | None = None

    def feed(self, datagram: bytes) -> VmcAnswer | None:
        """The frame that this datagram ends, if it is numbered and whole."""
        self._datagrams += 1
        at = datagram.rfind(_NUMBER_HEAD)
        if at >= 0:
            self._number = _read_number(datagram, at + len(_NUMBER_HEAD))
        at = datagram.rfind(_TIME_HEAD)
        if at < 0:
            return None
        (time_s,) = struct.unpack_from(">f", datagram, at + len(_TIME_HEAD))
        number, datagrams = self._number, self._datagrams
        self._number, self._datagrams = None, 0
        self._whole = self._whole or datagrams
        if number is None or datagrams < self._whole:
            return None
        return VmcAnswer(*number, time_s)


def _read_number(datagram: bytes, at: int) -> tuple[str, int]:
    end = datagram.index(b"\0", at)
    name = datagram[at:end].decode("ascii")
    # A string is padded to four bytes, its closing zero included.
    (seq,) = struct.unpack_from(">i", datagram, at + (len(name) // 4 + 1) * 4)
    return name, int(seq)
