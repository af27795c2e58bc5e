"""Recordings: written whole, side by side, and only what was asked for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from understudy.characters import load_clip, read_bvh
from understudy.ingest import message_from_skeleton
from understudy.monitor.feed import BodyKey
from understudy.monitor.recorder import Recorder
from understudy_protocol import FrameMessage

CLIP = load_clip("walk", 60.0)
SKELETON = message_from_skeleton(CLIP.skeleton)
ANNA = BodyKey(True, "anna")


def frame(seq: int) -> FrameMessage:
    at = seq % CLIP.frame_count
    return FrameMessage(
        1, seq, int(seq * 1e9 / 60.0), SKELETON.id, CLIP.roots[at], CLIP.rotations_xyzw[at]
    )


def test_a_take_has_what_came_between_start_and_stop(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.add(ANNA, SKELETON, frame(0))
    recorder.start()
    for seq in range(5, 25):
        recorder.add(ANNA, SKELETON, frame(seq))
    take = recorder.stop()
    recorder.add(ANNA, SKELETON, frame(30))
    assert take is not None
    assert [path.name for path in take.files] == ["performer-anna.bvh"]
    clip = read_bvh(take.files[0], unit_m=0.01, up="y").clip
    assert clip.frame_count == 20
    np.testing.assert_allclose(clip.roots, CLIP.roots[5:25], atol=1e-6)
    told = json.loads((take.folder / "take.json").read_text(encoding="utf-8"))
    assert told["bodies"][0]["seq"] == list(range(5, 25))
    assert recorder.stop() is None


def test_two_takes_in_one_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    folders = set()
    for _ in range(3):
        recorder.start()
        recorder.add(ANNA, SKELETON, frame(0))
        recorder.add(ANNA, SKELETON, frame(1))
        take = recorder.stop()
        assert take is not None
        folders.add(take.folder)
    assert len(folders) == 3


def test_a_performer_and_a_character_of_one_name_get_two_files(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.start()
    for key in (ANNA, BodyKey(False, "anna")):
        for seq in range(3):
            recorder.add(key, SKELETON, frame(seq))
    take = recorder.stop()
    assert take is not None
    assert {p.name for p in take.files} == {"performer-anna.bvh", "character-anna.bvh"}


def test_a_body_with_too_little_is_left_out_and_said_so(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.start()
    recorder.add(ANNA, SKELETON, frame(0))
    take = recorder.stop()
    assert take is not None
    assert take.files == ()
    assert "at least 2" in take.left_out[0]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["../../etc", "..", "a/b\\c:d*?", "päivi", "con dor"])
def test_a_name_cannot_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.start()
    for seq in range(3):
        recorder.add(BodyKey(True, name), SKELETON, frame(seq))
    take = recorder.stop()
    assert take is not None
    assert take.files[0].resolve().parent == take.folder.resolve()
    assert take.folder.resolve().parent == tmp_path.resolve()
