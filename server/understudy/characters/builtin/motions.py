"""The built-in motions by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from understudy.characters.builtin.swing import bat_swing
from understudy.characters.builtin.throw import throw
from understudy.characters.builtin.walk import walk
from understudy.characters.builtin.wave import wave
from understudy.characters.clip import Clip

MOTIONS: Final[dict[str, Callable[[float], Clip]]] = {
    "walk": walk,
    "bat-swing": bat_swing,
    "throw": throw,
    "wave": wave,
}
"""Each makes its clip at a rate (Hz)."""
