"""Clips written as BVH and read back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from understudy.characters import BUILTIN_CLIPS, Clip, ClipError, builtin_clip, read_bvh, write_bvh
from understudy.characters.bvh_write import zxy_degrees
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Skeleton
from understudy.kinematics.rotations import conjugate, exp, log, multiply, normalise

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

BODY = Skeleton.build(
    [
        Joint("hips", None, offset=(0.1, 0.9, -0.2)),
        Joint("spine 1", "hips", offset=(0.0, 0.25, 0.0)),
        Joint("head", "spine 1", offset=(0.0, 0.3, 0.02), tip=(0.0, 0.17, 0.0)),
        Joint("knee", "hips", offset=(0.1, -0.45, 0.0), kind="hinge", axis=(1.0, 0.0, 0.0)),
        Joint("plate", "spine 1", offset=(0.0, 0.0, -0.1), kind="fixed"),
    ]
)


def angles_between(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(log(multiply(conjugate(a), b)), axis=-1), np.float64)


def round_trip(folder: Path, clip: Clip) -> Clip:
    path = folder / "out.bvh"
    write_bvh(path, clip)
    return read_bvh(path, unit_m=0.01, up="y").clip


def zxy(z: float, x: float, y: float) -> FloatArray:
    turns = [exp(np.array(v)) for v in ([0.0, 0.0, z], [x, 0.0, 0.0], [0.0, y, 0.0])]
    return multiply(multiply(turns[0], turns[1]), turns[2])


angles = st.floats(-np.pi, np.pi)
# Around +-90 degrees of the middle angle the outer two turn about the same axis.
near_lock = st.builds(
    lambda sign, distance: sign * (np.pi / 2.0 - distance),
    st.sampled_from([-1.0, 1.0]),
    st.sampled_from([0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1e-7, 1e-6, 1e-4, 1e-2]),
)


@FUZZ
@given(
    data=st.lists(
        st.tuples(angles, st.one_of(near_lock, angles), angles), min_size=10, max_size=10
    ),
    roots=st.lists(st.tuples(*[st.floats(-50.0, 50.0)] * 3).map(list), min_size=2, max_size=2),
    rate=st.one_of(st.sampled_from([24.0, 29.97, 30.0, 120.0]), st.floats(1.0, 480.0)),
)
def test_a_clip_comes_back_within_a_millionth(
    tmp_path: Path,
    data: list[tuple[float, float, float]],
    roots: list[list[float]],
    rate: float,
) -> None:
    rotations = normalise(np.array([zxy(*turn) for turn in data])).reshape(2, 5, 4)
    clip = Clip("random", BODY, rate, np.array(roots), rotations)
    again = round_trip(tmp_path, clip)
    order = [again.skeleton.index(name) for name in BODY.names]
    assert len(again.skeleton) == len(BODY)
    assert again.rate_hz == pytest.approx(rate, rel=1e-12)
    assert np.max(angles_between(again.rotations_xyzw[:, order], rotations)) < 1e-6
    assert np.max(np.abs(again.roots - clip.roots)) < 1e-6
    assert np.max(np.abs(again.skeleton.offsets[order] - BODY.offsets)) < 1e-6
    assert np.max(np.abs(again.skeleton.tips[order] - BODY.tips)) < 1e-6
    assert np.array_equal(again.skeleton.has_tip[order], BODY.has_tip)


@FUZZ
@given(z=angles, x=st.one_of(near_lock, angles), y=angles)
def test_the_angles_make_up_the_rotation_even_at_gimbal_lock(z: float, x: float, y: float) -> None:
    rotation = zxy(z, x, y)
    found = np.radians(zxy_degrees(rotation[None])[0])
    assert angles_between(zxy(*found), rotation) < 1e-7


def test_angles_do_not_jump_when_a_joint_turns_round(tmp_path: Path) -> None:
    time = np.linspace(0.0, 6.0 * np.pi, 200)
    for axis in ([0.0, 0.0, 1.0], [0.0, 1.0, 0.0]):
        found = zxy_degrees(exp(time[:, None] * np.array(axis)))
        assert np.max(np.abs(np.diff(found, axis=0))) < 6.0


def test_rest_rotations_go_into_the_channels_and_the_motion_stays(tmp_path: Path) -> None:
    generator = np.random.default_rng(11)
    bent = Skeleton.build(
        Joint(joint.name, joint.parent, joint.offset, rest, joint.kind, joint.axis, tip=joint.tip)
        for joint, rest in zip(BODY.joints(), normalise(generator.normal(size=(5, 4))), strict=True)
    )
    clip = Clip(
        "bent",
        bent,
        60.0,
        generator.normal(size=(6, 3)),
        normalise(generator.normal(size=(6, 5, 4))),
    )
    again = round_trip(tmp_path, clip)
    before, after = ForwardKinematics(bent), ForwardKinematics(again.skeleton)
    for frame in range(6):
        for forward, played in ((before, clip), (after, again)):
            pose = played.pose(frame)
            forward.update(pose.root, pose.rotations_xyzw)
        for joint, name in enumerate(bent.names):
            place = after.positions[again.skeleton.index(name)]
            assert np.allclose(place, before.positions[joint], atol=1e-6)


@pytest.mark.parametrize("name", BUILTIN_CLIPS)
def test_built_in_clips_come_back_without_being_told_unit_or_axis(
    tmp_path: Path, name: str
) -> None:
    clip = builtin_clip(name)
    write_bvh(tmp_path / "out.bvh", clip)
    file = read_bvh(tmp_path / "out.bvh")
    assert (file.report.unit.name, file.report.unit.clear) == ("cm", True)
    assert (file.report.up.axis, file.report.up.clear) == ("y", True)
    assert file.clip.rate_hz == clip.rate_hz
    order = [file.clip.skeleton.index(joint) for joint in clip.skeleton.names]
    assert np.max(angles_between(file.clip.rotations_xyzw[:, order], clip.rotations_xyzw)) < 1e-6
    assert np.max(np.abs(file.clip.roots - clip.roots)) < 1e-6


def test_a_clip_without_frames_is_written_as_its_body(tmp_path: Path) -> None:
    clip = Clip("empty", BODY, 30.0, np.zeros((0, 3)), np.zeros((0, 5, 4)))
    again = round_trip(tmp_path, clip)
    assert (again.frame_count, set(again.skeleton.names)) == (0, set(BODY.names))


def test_a_chain_deeper_than_any_call_stack_can_be_written_and_read(tmp_path: Path) -> None:
    joints = [Joint("j0", None)]
    joints += [Joint(f"j{i}", f"j{i - 1}", offset=(0.0, 0.01, 0.0)) for i in range(1, 1200)]
    rope = Skeleton.build(joints)
    clip = Clip("rope", rope, 30.0, np.zeros((1, 3)), rope.rest_pose().rotations_xyzw[None])
    assert len(round_trip(tmp_path, clip).skeleton) == 1200


@pytest.mark.parametrize("name", ["a{b", "a}b", "a\nb", "a  b", " a"])
def test_names_that_the_format_cannot_hold_are_refused(tmp_path: Path, name: str) -> None:
    body = Skeleton.build([Joint(name, None)])
    clip = Clip("odd", body, 30.0, np.zeros((0, 3)), np.zeros((0, 1, 4)))
    with pytest.raises(ClipError, match="a BVH file takes no braces"):
        write_bvh(tmp_path / "out.bvh", clip)


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    clip = Clip("empty", BODY, 30.0, np.zeros((0, 3)), np.zeros((0, 5, 4)))
    with pytest.raises(ClipError, match="cannot be written"):
        write_bvh(tmp_path / "nowhere" / "out.bvh", clip)
