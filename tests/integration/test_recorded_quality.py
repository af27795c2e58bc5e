"""Recorded motion that is hard on feet and knees keeps what is promised of it."""

from __future__ import annotations

import pytest

from support.shared import shared_path
from understudy.characters import builtin_character, load_clip
from understudy_bench.promises import clip_promises
from understudy_bench.quality import retarget_clip, score


@pytest.mark.parametrize(
    ("name", "character"),
    [
        ("13_33", "giant"),  # up and down a ladder
        ("49_06", "short-legs"),  # a cartwheel: the hips turn over planted feet
        ("05_06", "giant"),  # a dance with many tears: legs swing near full stretch
        ("18_01", "short-legs"),  # the knee of a swinging leg is nearly straight
    ],
)
def test_a_recorded_clip_keeps_every_promise(name: str, character: str) -> None:
    clip = load_clip(str(shared_path(f"cmu/{name}.bvh")))
    take = retarget_clip(clip, character, builtin_character(character), "clik")
    promises = clip_promises(score(take), f"{name} to {character}")
    assert [f"{each.name}: {each.value:.3f}" for each in promises if each.passed is False] == []
