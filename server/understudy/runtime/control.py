"""Everything that is not the frame path, on one asyncio loop: requests, subscribers, silence."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable
from typing import Final

from understudy.runtime.operations import Operations, RefusedError
from understudy.runtime.rates import Rates
from understudy.runtime.show import Show
from understudy.runtime.timing import now_ns
from understudy.transport import ControlSocket, PoseOutput
from understudy_protocol.control import decode_request, encode_refusal, encode_reply
from understudy_protocol.errors import ProtocolError

_log = logging.getLogger(__name__)

# How often a character whose performer is silent is shown as stale.
_TICK_S: Final = 0.1
# How often skeletons are repeated, for a subscriber that was too slow to get one.
_SECOND_TICKS: Final = 10
_MAX_TEXT: Final = 1000


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The fastest loop this system has: uvloop where it exists."""
    if sys.platform == "win32":
        # ZeroMQ cannot wait on the default loop of Windows.
        return asyncio.SelectorEventLoop
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def answer(socket: ControlSocket, operations: Operations) -> None:
    """Answer requests one after the other; whatever goes wrong is a reply."""
    while True:
        way_back, body = await socket.receive()
        await socket.reply(way_back, await _reply(body, operations, now_ns()))


async def keep_house(output: PoseOutput, show: Show, rates: Rates) -> None:
    """Show silent performers' characters as stale, repeat skeletons, measure rates."""
    tick = 0
    while True:
        await asyncio.sleep(_TICK_S)
        tick += 1
        try:
            show.heed_audience()
            _hold_silent(show, now_ns())
            if tick % _SECOND_TICKS == 0:
                for session in show.sessions.values():
                    session.character.announce(output)
                rates.look(now_ns())
        except Exception:
            # A fault of ours must not end the show.
            _log.exception("housekeeping failed")


def _hold_silent(show: Show, at_ns: int) -> None:
    for performer in show.performers.values():
        for session in performer.live:
            session.hold_if_silent(at_ns, performer.heard_ns)


async def _reply(body: bytes, operations: Operations, received_ns: int) -> bytes:
    id: int | None = None
    try:
        request = decode_request(body)
        id = request.id
        return encode_reply(id, await operations.carry_out(request, received_ns))
    except (ProtocolError, RefusedError) as error:
        return encode_refusal(id, error.reason, str(error)[:_MAX_TEXT])
    except Exception:
        _log.exception("a control request failed")
        return encode_refusal(id, "internal", "the server could not carry this out; see its log")
