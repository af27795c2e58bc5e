"""Bodies and clips by name or file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from understudy.characters import (
    BUILTIN_CHARACTERS,
    BUILTIN_CLIPS,
    LibraryError,
    builtin_clip,
    load_character,
    load_clip,
    write_bvh,
)
from understudy.errors import UnderstudyError


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
def test_built_in_characters_are_found_by_name(name: str) -> None:
    assert "hips" in load_character(name)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_built_in_clips_are_found_by_name_at_any_rate(name: str) -> None:
    clip, faster = load_clip(name), load_clip(name, 120.0)
    assert (clip.name, clip.rate_hz, faster.rate_hz) == (name, 30.0, 120.0)
    assert faster.duration_s == pytest.approx(clip.duration_s, abs=1.0 / 30.0)


def test_a_clip_file_gives_a_clip_and_a_body(tmp_path: Path) -> None:
    clip = builtin_clip(BUILTIN_CLIPS[0])
    path = tmp_path / "Take 1.BVH"
    write_bvh(path, clip)
    assert load_clip(str(path)).frame_count == clip.frame_count
    assert load_clip(path, 60.0).frame_count == 2 * clip.frame_count - 1
    body = load_character(path)
    assert set(body.names) == set(clip.skeleton.names)
    for name in body.names:
        own, read = clip.skeleton.index(name), body.index(name)
        assert np.allclose(body.offsets[read], clip.skeleton.offsets[own], atol=1e-6)


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(LibraryError, match=r"character 'nobody' is unknown; allowed: actor.*\.vrm"):
        load_character("nobody")
    with pytest.raises(LibraryError, match=r"clip 'a.fbx' is unknown; allowed: walk.*\.bvh"):
        load_clip("a.fbx")


@pytest.mark.parametrize("name", ["missing.bvh", "missing.glb", "missing.vrm"])
def test_a_missing_file_is_one_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnderstudyError) as refusal:
        load_character(tmp_path / name)
    assert name in str(refusal.value)
    assert "\n" not in str(refusal.value)
