"""All kinds of published messages behind one function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from understudy_protocol.downlink import decode_event, decode_pose
from understudy_protocol.messages import Message
from understudy_protocol.skeletons import decode_skeleton
from understudy_protocol.topics import Buffer, Kind
from understudy_protocol.uplink import decode_frame, decode_goal

_DECODERS: Final[dict[Kind, Callable[[Buffer], Message]]] = {
    "skeleton": decode_skeleton,
    "frame": decode_frame,
    "goal": decode_goal,
    "pose": decode_pose,
    "event": decode_event,
}


def decode_message(kind: Kind, body: Buffer) -> Message:
    """The message in `body`, whose topic said that it is of `kind`."""
    return _DECODERS[kind](body)
