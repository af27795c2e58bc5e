"""Bodies and clips by name: a built-in one, or a file told by its suffix."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from understudy.characters.body import Body
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


def load_body(name_or_path: str | Path) -> Body:
    """A built-in character, a rig or the body of a clip, and what is known about it."""
    name, path = str(name_or_path), Path(name_or_path)
    if name in BUILTIN_CHARACTERS:
        return Body(builtin_character(name), in_t_pose=True)
    suffix = path.suffix.lower()
    if suffix in CLIP_SUFFIXES:
        return Body(read_bvh(path).clip.skeleton)
    if suffix in RIG_SUFFIXES:
        return _load_rig(path)
    raise _unknown("character", name, BUILTIN_CHARACTERS, CLIP_SUFFIXES + RIG_SUFFIXES)


def _load_rig(path: Path) -> Body:
    # Rigs are an optional extra; the import is paid for only by who uses one.
    from understudy.characters.gltf import load_rig

    rig = load_rig(path)
    return Body(
        skeleton=rig.skeleton,
        humanoid=rig.humanoid,
        weights=rig.weights,
        floor_m=rig.floor_m,
        in_t_pose=bool(rig.humanoid),
        turned=rig.turned,
        notes=rig.notes,
    )


def load_character(name_or_path: str | Path) -> Skeleton:
    """The skeleton of a built-in character, a rig or a clip."""
    return load_body(name_or_path).skeleton


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
