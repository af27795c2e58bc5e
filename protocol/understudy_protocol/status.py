"""Bits of a pose's `status`; several may be set at once."""

from __future__ import annotations

from typing import Final

OK: Final = 0
STALE: Final = 1
"""The performer is silent; the character holds its pose."""
RECOVERING: Final = 2
"""The performer is back; the character eases from the held pose to the live one."""
LIMITED: Final = 4
"""At least one joint is at its limit."""
OUT_OF_REACH: Final = 8
"""At least one effector cannot reach its goal."""
HELD: Final = 16
"""The solver's result was refused (not finite, or a jump); this is the last good pose."""
BRIDGED: Final = 32
"""A tear in the capture was bridged."""

NAMES: Final = {
    STALE: "stale",
    RECOVERING: "recovering",
    LIMITED: "limited",
    OUT_OF_REACH: "out-of-reach",
    HELD: "held",
    BRIDGED: "bridged",
}


def status_names(flags: int) -> tuple[str, ...]:
    """Words for the bits that are set, lowest first; bits of later versions are left out."""
    return tuple(name for bit, name in NAMES.items() if flags & bit)
