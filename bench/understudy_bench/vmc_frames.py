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
_BONE: Final = b"/VMC/Ext/Bone/Pos\0"
_TIME_HEAD: Final = write_message("/VMC/Ext/T", "f", 0.0)[:-4]


@dataclass(frozen=True, slots=True)
class VmcAnswer:
    """A whole frame that came back: whose, its number, and `/VMC/Ext/T` (s)."""

    performer: str
    seq: int
    time_s: float


class VmcClip:
    """A clip forward and backward without end, as datagrams of performers with equally long names.

    A frame is laid out once; then only name, number and time are written into it, so that many
    performers can be played by one process.
    """

    def __init__(self, clip: Clip, longest_name: int) -> None:
        self._clip = clip
        names = [VMC_NAMES[name] for name in clip.skeleton.names]
        self._encoder = VmcEncoder(names, clip.skeleton.offsets)
        self._blank = write_message(_ADDRESS, "si", "x" * longest_name, 0)
        self._laid_out: dict[int, tuple[list[bytes], bytes, bytes]] = {}

    def datagrams(self, performer: str, seq: int, time_s: float) -> list[bytes]:
        """The datagrams of a performer's frame number `seq`."""
        at = there_and_back(seq, self._clip.frame_count)
        laid_out = self._laid_out.get(at)
        if laid_out is None:
            laid_out = self._laid_out[at] = self._lay_out(at)
        first, before, behind = laid_out
        number = write_message(_ADDRESS, "si", performer, seq)
        assert len(number) == len(self._blank), f"{performer!r} is not as long as the others"
        return [*first, before + number + behind + struct.pack(">f", time_s)]

    def _lay_out(self, at: int) -> tuple[list[bytes], bytes, bytes]:
        *first, last = self._encoder.encode(
            self._clip.roots[at],
            self._clip.rotations_xyzw[at],
            time_s=0.0,
            passed_on=(self._blank,),
        )
        before, _, behind = last.partition(self._blank)
        return first, before, behind[:-4]  # the time is the last thing in a frame


class EndlessVmcMotion:
    """A clip without end as one VMC performer; time counts from the first frame."""

    def __init__(self, performer: str, clip: Clip) -> None:
        self._performer = performer
        self._frames = VmcClip(clip, len(performer))
        self._first_ns: int | None = None

    def parts(self, seq: int, capture_ns: int) -> Sequence[bytes]:
        """The datagrams of frame number `seq`."""
        if self._first_ns is None:
            self._first_ns = capture_ns
        return self._frames.datagrams(self._performer, seq, (capture_ns - self._first_ns) * 1e-9)


class VmcAnswers:
    """Finds whole frames among the datagrams of one sender.

    `/VMC/Ext/T` ends a frame. A frame that lacks bones, since a datagram was lost, is no answer;
    how many it must have, the first one tells.
    """

    def __init__(self) -> None:
        self._bones = 0
        self._whole = 0
        self._number: tuple[str, int] | None = None

    def feed(self, datagram: bytes) -> VmcAnswer | None:
        """The frame that this datagram ends, if it is numbered and whole."""
        self._bones += datagram.count(_BONE)
        at = datagram.rfind(_NUMBER_HEAD)
        if at >= 0:
            self._number = _read_number(datagram, at + len(_NUMBER_HEAD))
        at = datagram.rfind(_TIME_HEAD)
        if at < 0:
            return None
        (time_s,) = struct.unpack_from(">f", datagram, at + len(_TIME_HEAD))
        number, bones = self._number, self._bones
        self._number, self._bones = None, 0
        self._whole = self._whole or bones
        if number is None or bones < self._whole:
            return None
        return VmcAnswer(*number, time_s)


def _read_number(datagram: bytes, at: int) -> tuple[str, int]:
    end = datagram.index(b"\0", at)
    name = datagram[at:end].decode("ascii")
    # A string is padded to four bytes, its closing zero included.
    (seq,) = struct.unpack_from(">i", datagram, at + (len(name) // 4 + 1) * 4)
    return name, int(seq)
