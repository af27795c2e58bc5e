"""Bodies and recorded motion from files, and the built-in ones."""

from understudy.characters.body import Body
from understudy.characters.builtin import (
    BUILTIN_CHARACTERS,
    BUILTIN_CLIPS,
    builtin_character,
    builtin_clip,
)
from understudy.characters.bvh import BvhFile, BvhReport, read_bvh
from understudy.characters.bvh_write import write_bvh
from understudy.characters.clip import Clip, ClipError
from understudy.characters.inspect import Description, describe, describe_body
from understudy.characters.library import LibraryError, load_body, load_character, load_clip

__all__ = [
    "BUILTIN_CHARACTERS",
    "BUILTIN_CLIPS",
    "Body",
    "BvhFile",
    "BvhReport",
    "Clip",
    "ClipError",
    "Description",
    "LibraryError",
    "builtin_character",
    "builtin_clip",
    "describe",
    "describe_body",
    "load_body",
    "load_character",
    "load_clip",
    "read_bvh",
    "write_bvh",
]
