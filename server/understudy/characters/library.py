"""Bodies and clips by name: a built-in one, or a file told by its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from understudy.characters.builtin import (
    BUILTIN_CHARACTERS,
    BUILTIN_CLIPS,
    builtin_character,
    builtin_clip,
)
from understudy.characters.bvh import read_bvh
from understudy.characters.clip import Clip
from understudy.errors import UnderstudyError
from understudy.kinematics import Skeleton

CLIP_SUFFIXES: Final = (".bvh",)
RIG_SUFFIXES: Final = (".glb", ".gltf", ".vrm")


class LibraryError(UnderstudyError):
    """A body or clip that is neither built in nor a file of a known kind."""


def load_character(name_or_path: str | Path) -> Skeleton:
    """The body of a built-in character, a rig or a clip."""
    name, path = str(name_or_path), Path(name_or_path)
    if name in BUILTIN_CHARACTERS:
        return builtin_character(name)
    suffix = path.suffix.lower()
    if suffix in CLIP_SUFFIXES:
        return read_bvh(path).clip.skeleton
    if suffix in RIG_SUFFIXES:
        # Rigs are an optional extra; the import is paid for only by who uses one.
        from understudy.characters.gltf import load_rig

        return load_rig(path).skeleton
    raise _unknown("character", name, BUILTIN_CHARACTERS, CLIP_SUFFIXES + RIG_SUFFIXES)


def load_clip(name_or_path: str | Path, rate_hz: float | None = None) -> Clip:
    """A built-in or recorded clip, at `rate_hz` if asked for, else at its own rate."""
    name, path = str(name_or_path), Path(name_or_path)
    if name in BUILTIN_CLIPS:
        return builtin_clip(name) if rate_hz is None else builtin_clip(name, rate_hz)
    if path.suffix.lower() in CLIP_SUFFIXES:
        clip = read_bvh(path).clip
        return clip if rate_hz is None else clip.resampled(rate_hz)
    raise _unknown("clip", name, BUILTIN_CLIPS, CLIP_SUFFIXES)


def _unknown(
    kind: str, name: str, builtins: tuple[str, ...], suffixes: tuple[str, ...]
) -> LibraryError:
    return LibraryError(
        f"{kind} {name!r} is unknown; allowed: {', '.join(builtins)}, "
        f"or a file ending in {', '.join(suffixes)}"
    )
