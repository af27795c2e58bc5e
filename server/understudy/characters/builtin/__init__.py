"""Bodies and motions made by code: a performer, characters, and clips to try everything with."""

from understudy.characters.builtin.library import (
    BUILTIN_CHARACTERS,
    BUILTIN_CLIPS,
    builtin_character,
    builtin_clip,
)

__all__ = [
    "BUILTIN_CHARACTERS",
    "BUILTIN_CLIPS",
    "builtin_character",
    "builtin_clip",
]
