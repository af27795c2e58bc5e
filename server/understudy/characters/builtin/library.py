"""The built-in bodies and motions by name."""

from __future__ import annotations

import math
from typing import Final

from understudy.characters.builtin.bodies import BUILDS, build_body
from understudy.characters.clip import Clip
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton

BUILTIN_CHARACTERS: Final[tuple[str, ...]] = tuple(BUILDS)
BUILTIN_CLIPS: Final[tuple[str, ...]] = ("walk", "bat-swing", "throw", "wave")


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
    if name not in BUILTIN_CLIPS:
        raise UnknownBuiltinError(
            f"no built-in clip {name!r}; there are {', '.join(BUILTIN_CLIPS)}"
        )
    if not (math.isfinite(rate_hz) and rate_hz > 0.0):
        raise UnderstudyError(f"rate {rate_hz} Hz: it must be a number above zero")
    # Splines take a third of a second to load, and a server plays no clip.
    from understudy.characters.builtin.motions import MOTIONS

    return MOTIONS[name](rate_hz)
