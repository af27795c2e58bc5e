"""Recordings of many programs: every file is read, understood and survives a round trip."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from support.bvh_text import Sketch, positions_of
from support.shared import shared_files, shared_path
from understudy.characters import BvhFile, read_bvh, write_bvh
from understudy.characters.bvh_parse import parse_bvh
from understudy.characters.units import y_up_from
from understudy.kinematics import ForwardKinematics
from understudy.kinematics.rotations import conjugate, log, multiply, rotate

CMU = "CMU (2.54/0.45 cm)"
FILES = shared_files("**/*.bvh")
# Where the clips' own documents name no unit, what their legs say.
UNITS = {
    "bandai1_punch_normal_001": "cm",
    "bandai2_walk-turn-left_active_001": "cm",
    "bvh_cgspeed.hierarchy": CMU,
    "bvh_louise.hierarchy": "cm",
    "bvh_mocap.hierarchy": "cm",
    "cmu30_jumping_jacks": CMU,
    "daz_pirouette": "cm",
    "mixamo_freebvh": "cm",
    "mixed_order_fingers_test3": "inch",
    "mocapbank": "cm",
    "mocapdata_com_hierarchy.hierarchy": "inch",
    "mocopi_arm-raise-turn": "cm",
    "rokoko_jesse_dance": "cm",
    "xsens_style_test2": "cm",
}
RATES = {
    "bandai1_punch_normal_001": 30.0,
    "bandai2_walk-turn-left_active_001": 30.0,
    "cmu30_jumping_jacks": 30.0,
    "fair1_dab": 30.0,
    "mixamo_freebvh": 30.0,
    "mocapbank": 30.0,
    "mocopi_arm-raise-turn": 50.0,
    "rokoko_jesse_dance": 100.0,
}

every_file = pytest.mark.parametrize(
    "path",
    FILES or [pytest.param(Path(), marks=pytest.mark.skip("no third-party test data"))],
    ids=lambda path: path.stem,
)


@cache
def recording(path: Path) -> BvhFile:
    """What is in a file; no test changes it."""
    return read_bvh(path)


@every_file
def test_unit_axis_and_rate_of_every_recording_are_right(path: Path) -> None:
    file = recording(path)
    report = file.report
    if path.stem == "fair1_dab":
        assert not report.unit.clear
        assert "0.55 m in inch or 1.22 m in CMU" in report.unit.why
    else:
        assert report.unit.clear
        assert report.unit.name == UNITS.get(path.stem, CMU)
    z_up = path.stem in ("fair1_dab", "mixed_order_fingers_test3")
    assert (report.up.axis, report.up.clear) == ("z" if z_up else "y", True)
    if file.clip.frame_count:
        assert file.clip.rate_hz == RATES.get(path.stem, 120.0)


@every_file
def test_every_joint_is_where_the_channels_put_it(path: Path) -> None:
    file = recording(path)
    text = parse_bvh(path)
    sketches = [
        Sketch(joint.name, joint.parent, joint.offset or (0.0, 0.0, 0.0), joint.channels)
        for joint in text.joints
    ]
    assert file.report.residual_m == 0.0
    forward = ForwardKinematics(file.clip.skeleton)
    turn = y_up_from(file.report.up.axis)
    for frame in np.linspace(0, file.clip.frame_count - 1, 3).astype(int):
        if file.clip.frame_count == 0:
            break
        pose = file.clip.pose(frame)
        forward.update(pose.root, pose.rotations_xyzw)
        expected = positions_of(sketches, text.motion[frame])
        for name, found in zip(file.clip.skeleton.names, forward.positions, strict=True):
            wanted = rotate(turn, expected[name]) * file.report.unit.unit_m
            assert np.allclose(found, wanted, atol=1e-6)


@every_file
def test_every_recording_comes_back_from_a_round_trip(path: Path, tmp_path: Path) -> None:
    first = recording(path)
    write_bvh(tmp_path / "out.bvh", first.clip)
    again = read_bvh(tmp_path / "out.bvh")
    assert (again.report.unit.name, again.report.up.axis) == ("cm", "y")
    assert again.clip.skeleton.names == first.clip.skeleton.names
    assert np.array_equal(again.clip.skeleton.has_tip, first.clip.skeleton.has_tip)
    assert np.allclose(again.clip.skeleton.tips, first.clip.skeleton.tips, atol=1e-6)
    assert np.allclose(again.clip.skeleton.offsets, first.clip.skeleton.offsets, atol=1e-6)
    assert np.allclose(again.clip.skeleton.rest_xyzw, first.clip.skeleton.rest_xyzw)
    if first.clip.frame_count == 0:
        return
    assert again.clip.rate_hz == first.clip.rate_hz
    off = log(multiply(conjugate(first.clip.rotations_xyzw), again.clip.rotations_xyzw))
    assert np.max(np.linalg.norm(off, axis=-1)) < 1e-6
    assert np.max(np.abs(again.clip.roots - first.clip.roots)) < 1e-6


@every_file
def test_quaternions_keep_their_sign_from_frame_to_frame(path: Path) -> None:
    rotations = recording(path).clip.rotations_xyzw
    assert np.all(np.sum(rotations[1:] * rotations[:-1], axis=-1) >= 0.0)


def bandai() -> BvhFile:
    return recording(shared_path("other/bandai2_walk-turn-left_active_001.bvh"))


def test_root_motion_split_over_two_joints_is_brought_together() -> None:
    file = bandai()
    assert file.report.merged == ("joint_Root",)
    assert file.clip.skeleton.names[0] == "Hips"
    assert file.clip.roots[:, 1].min() > 0.8


def test_a_hip_height_is_not_counted_twice() -> None:
    for name in ("mocopi_arm-raise-turn", "rokoko_jesse_dance"):
        start = recording(shared_path(f"other/{name}.bvh")).clip.roots[0]
        assert 0.8 < start[1] < 1.0


def test_a_jump_falls_as_bodies_fall() -> None:
    """Unit and rate together: the hips' free flight is a parabola of one g."""
    clip = recording(shared_path("cmu/16_05.bvh")).clip
    height = clip.roots[:, 1]
    top = int(np.argmax(height[1:])) + 1
    flight = slice(top - 12, top + 13)
    time = np.arange(-12, 13) / clip.rate_hz
    gravity = -2.0 * np.polyfit(time, height[flight], 2)[0]
    assert gravity == pytest.approx(9.81, abs=0.5)
