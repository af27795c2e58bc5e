"""Clients of an understudy server: send a performer's frames, receive a character's poses.

It needs numpy, pyzmq and msgpack alone; importing it loads no part of the server.
"""

from __future__ import annotations

from understudy_client.aio import AsyncCharacter, AsyncPerformer
from understudy_client.audience import Audience, Seen
from understudy_client.character import Character
from understudy_client.clock import now_ns
from understudy_client.control import Control
from understudy_client.errors import ClientError, RequestRefusedError, ServerUnreachableError
from understudy_client.performer import Performer
from understudy_client.skeletons import make_skeleton

__all__ = [
    "AsyncCharacter",
    "AsyncPerformer",
    "Audience",
    "Character",
    "ClientError",
    "Control",
    "Performer",
    "RequestRefusedError",
    "Seen",
    "ServerUnreachableError",
    "make_skeleton",
    "now_ns",
]
