"""Descriptions of clips and bodies, for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from support.bvh_text import bvh_text, channel_count, human
from understudy.characters import describe, describe_body
from understudy.kinematics import Joint, Skeleton


def human_file(folder: Path, scale: float = 100.0) -> Path:
    body = human(scale)
    rows = np.zeros((31, channel_count(body)))
    rows[:, 1] = 0.95 * scale
    rows[:, 2] = np.linspace(0.0, 2.0 * scale, 31)
    path = folder / "stroll.bvh"
    path.write_text(bvh_text(body, rows), encoding="utf-8")
    return path


def test_a_clip_is_described_in_metres_with_how_that_was_told(tmp_path: Path) -> None:
    description = describe(human_file(tmp_path))
    assert (description.name, description.joint_count) == ("stroll.bvh", 21)
    assert description.height_m == pytest.approx(1.75, abs=0.05)
    motion, reading = description.motion, description.reading
    assert motion is not None
    assert reading is not None
    assert (motion.frame_count, motion.rate_hz, motion.duration_s) == (31, 30.0, 1.0)
    assert motion.root_from_m == pytest.approx((0.0, 0.95, 0.0))
    assert motion.root_to_m == pytest.approx((0.0, 0.95, 2.0))
    assert (reading.unit.name, reading.up.axis) == ("cm", "y")
    shin = next(bone for bone in description.bones if bone.name == "r3")
    assert (shin.parent, shin.depth) == ("r2", 3)
    assert shin.length_m == pytest.approx(np.hypot(0.41, 0.02))


def test_what_is_asked_for_is_used_and_said(tmp_path: Path) -> None:
    description = describe(human_file(tmp_path), unit_m=0.0254, up="z")
    assert description.reading is not None
    assert description.reading.unit.why == "as asked"
    assert description.reading.up.axis == "z"
    assert "unit: inch (0.0254 m): as asked" in description.to_text()


def test_the_text_shows_the_tree_with_its_lengths(tmp_path: Path) -> None:
    lines = describe(human_file(tmp_path)).to_text().splitlines()
    assert lines[0].startswith("stroll.bvh: 21 joints, rest pose 1.7")
    assert lines[1].startswith("31 frames at 30 Hz, 1.00 s; root (m): x 0.00 to 0.00, y 0.95")
    assert lines[2] == "unit: cm (0.01 m): thigh and shin are 0.83 m in cm"
    assert lines[3].startswith("up: y: feet to chest leans")
    tree = lines[4:]
    assert tree[:3] == ["j0", "  j1 0.120 m", "    j2 0.150 m"]
    assert "            p4 0.250 m, tip 0.180 m" in tree
    assert len(tree) == 21


def test_the_description_survives_json(tmp_path: Path) -> None:
    description = describe(human_file(tmp_path))
    decoded = json.loads(json.dumps(description.to_json()))
    assert decoded["joint_count"] == 21
    assert decoded["motion"]["rate_hz"] == 30.0
    assert decoded["reading"]["unit"]["unit_m"] == 0.01
    assert decoded["bones"][0] == {
        "name": "j0",
        "parent": None,
        "depth": 0,
        "kind": "ball",
        "length_m": 0.0,
        "tip_m": None,
    }


def test_built_in_clips_and_characters_can_be_described() -> None:
    clip, body = describe("walk"), describe("child")
    assert clip.motion is not None
    assert body.motion is None
    assert clip.reading is None
    assert body.height_m < clip.height_m


def test_hinges_and_fixed_joints_are_named_as_such() -> None:
    body = Skeleton.build(
        [
            Joint("trunk", None),
            Joint("knee", "trunk", offset=(0.0, -0.4, 0.0), kind="hinge"),
            Joint("plate", "trunk", offset=(0.0, 0.3, 0.0), kind="fixed"),
        ]
    )
    lines = describe_body("robot", body).to_text().splitlines()
    assert lines == [
        "robot: 3 joints, rest pose 0.700 m high",
        "trunk",
        "  knee hinge 0.400 m",
        "  plate fixed 0.300 m",
    ]


def test_a_file_without_motion_says_so(tmp_path: Path) -> None:
    path = tmp_path / "body.bvh"
    path.write_text(bvh_text(human(100.0), None), encoding="utf-8")
    assert "no motion" in describe(path).to_text().splitlines()
