"""The built-in bodies and motions by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from understudy.characters.builtin.bodies import BUILDS, build_body
from understudy.characters.builtin.swing import bat_swing
from understudy.characters.builtin.throw import throw
from understudy.characters.builtin.walk import walk
from understudy.characters.builtin.wave import wave
from understudy.characters.clip import Clip
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton

_MOTIONS: Final[dict[str, Callable[[float], Clip]]] = {
    "walk": walk,
    "bat-swing": bat_swing,
    "throw": throw,
    "wave": wave,
}

BUILTIN_CHARACTERS: Final[tuple[str, ...]] = tuple(BUILDS)
BUILTIN_CLIPS: Final[tuple[str, ...]] = tuple(_MOTIONS)


class UnknownBuiltinError(UnderstudyError):
    """A name that no built-in has; the message lists those there are."""


def builtin_character(name: str) -> Skeleton:
    """The built-in body called `name`, in T-pose on the floor."""
    if name not in BUILDS:
        raise UnknownBuiltinError(
            f"no built-in character {name!r}; there are {', '.join(BUILTIN_CHARACTERS)}"
        )
    return build_body(BUILDS[name])


def builtin_clip(name: str, rate_hz: float = 30.0) -> Clip:
    """The built-in motion called `name`, performed by the actor, sampled at `rate_hz`."""
    if name not in _MOTIONS:
        raise UnknownBuiltinError(
            f"no built-in clip {name!r}; there are {', '.join(BUILTIN_CLIPS)}"
        )
    if not (math.isfinite(rate_hz) and rate_hz > 0.0):
        raise UnderstudyError(f"rate {rate_hz} Hz: it must be a number above zero")
    return _MOTIONS[name](rate_hz)
