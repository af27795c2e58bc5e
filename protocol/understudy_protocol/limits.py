"""Every limit of protocol version 1, as the specification lists them."""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = 1

DEFAULT_UPLINK: Final = "tcp://127.0.0.1:5550"
DEFAULT_DOWNLINK: Final = "tcp://127.0.0.1:5551"
DEFAULT_CONTROL: Final = "tcp://127.0.0.1:5552"

MAX_MESSAGE_BYTES: Final = 1 << 20
MAX_NAME_BYTES: Final = 64
MAX_TEXT_BYTES: Final = 1024
MAX_JOINTS: Final = 512
MAX_MARKERS: Final = 256
MAX_CONTACTS: Final = 64
MAX_EFFECTORS: Final = 64
MAX_EVENT_FIELDS: Final = 32

MAX_ARRAY_ITEMS: Final = 4096
MAX_MAP_ITEMS: Final = 1024
MAX_DEPTH: Final = 8

MAX_MAGNITUDE: Final = 1e6
"""No coordinate (m), quaternion component or angle (rad) may be larger, either way."""

UNIT_TOLERANCE: Final = 1e-3
"""How far the length of a rest rotation, hinge axis or goal orientation may be from 1."""

FRAME_UNIT_TOLERANCE: Final = 0.1
"""The same for the rotations of a frame, which are checked where frames are taken in."""

MAX_EASE_S: Final = 10.0
MIN_RATE_HZ: Final = 1.0
MAX_RATE_HZ: Final = 1000.0
MAX_COUNTDOWN_S: Final = 60.0
MIN_HOLD_S: Final = 0.2
MAX_HOLD_S: Final = 30.0

ANNOUNCE_INTERVAL_NS: Final = 1_000_000_000
"""A performer repeats its skeleton at least this often."""

GOAL_SILENCE_NS: Final = 1_000_000_000
"""A goal that is not renewed for this long is released."""

MAX_U32: Final = (1 << 32) - 1
MAX_U64: Final = (1 << 64) - 1
MIN_I64: Final = -(1 << 63)
MAX_I64: Final = (1 << 63) - 1
