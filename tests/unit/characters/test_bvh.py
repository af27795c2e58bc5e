"""What BVH channels mean, against a slow reading of the same numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.bvh_text import (
    POSITIONS,
    ROTATIONS,
    Sketch,
    Triple,
    bvh_text,
    channel_count,
    file_order,
    human,
    positions_of,
)
from understudy.characters import BvhFile, Clip, ClipError, read_bvh
from understudy.characters.units import AXES, UNITS_M, Axis, y_up_from
from understudy.kinematics import FloatArray, ForwardKinematics
from understudy.kinematics.rotations import matrix, rotate

FUZZ = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def read(folder: Path, text: str, unit_m: float | None = None, up: Axis | None = None) -> BvhFile:
    path = folder / "take.bvh"
    path.write_text(text, encoding="utf-8")
    return read_bvh(path, unit_m=unit_m, up=up)


def positions(clip: Clip, frame: int) -> dict[str, FloatArray]:
    forward = ForwardKinematics(clip.skeleton)
    pose = clip.pose(frame)
    forward.update(pose.root, pose.rotations_xyzw)
    return dict(zip(clip.skeleton.names, forward.positions.copy(), strict=True))


def rest_height(clip: Clip) -> FloatArray:
    """Extent of the rest pose along x, y, z."""
    forward = ForwardKinematics(clip.skeleton)
    rest = clip.skeleton.rest_pose()
    forward.update(rest.root, rest.rotations_xyzw)
    return np.asarray(np.ptp(forward.positions, axis=0), np.float64)


numbers = st.floats(-200.0, 200.0, allow_subnormal=False)
triples: st.SearchStrategy[Triple] = st.tuples(numbers, numbers, numbers)


@st.composite
def bodies(draw: st.DrawFn) -> list[Sketch]:
    """Trees of up to eight joints, each with rotation channels of its own choice and order."""
    count = draw(st.integers(1, 8))
    joints = []
    for number in range(count):
        turns = draw(st.permutations(ROTATIONS))[: draw(st.sampled_from([3, 3, 3, 2, 1, 0]))]
        moves = draw(st.permutations(POSITIONS))[: draw(st.integers(0, 3))] if number == 0 else []
        channels = tuple([*turns, *moves] if draw(st.booleans()) else [*moves, *turns])
        joints.append(
            Sketch(
                name=f"joint{number}",
                parent=draw(st.integers(0, number - 1)) if number else -1,
                offset=draw(triples),
                channels=channels,
                tip=draw(st.none() | triples),
            )
        )
    return joints


@FUZZ
@given(joints=bodies(), data=st.data())
def test_every_order_of_channels_puts_the_joints_where_the_file_has_them(
    tmp_path: Path, joints: list[Sketch], data: st.DataObject
) -> None:
    width = channel_count(joints)
    frames = data.draw(st.integers(1, 3)) if width else 0
    rows = [
        data.draw(st.lists(st.floats(-720.0, 720.0), min_size=width, max_size=width))
        for _ in range(frames)
    ]
    clip = read(tmp_path, bvh_text(joints, rows), unit_m=0.01, up="y").clip
    assert clip.frame_count == frames
    assert set(clip.skeleton.names) == {joint.name for joint in joints}
    for frame, row in enumerate(rows):
        found = positions(clip, frame)
        for name, expected in positions_of(joints, row).items():
            assert np.allclose(found[name], 0.01 * expected, atol=1e-9)


def moving_human(seed: int, scale: float, to_file: FloatArray, frames: int = 8) -> str:
    """A human who walks a little and moves every joint by up to 20 degrees, as a file."""
    body = human(scale, to_file)
    generator = np.random.default_rng(seed)
    rows = generator.uniform(-20.0, 20.0, (frames, channel_count(body)))
    rows[:, :3] = generator.uniform(-0.3, 0.3, (frames, 3)) * scale + np.array(body[0].offset)
    return bvh_text(body, rows)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("unit", UNITS_M)
def test_any_unit_and_up_axis_give_the_same_motion(tmp_path: Path, axis: Axis, unit: str) -> None:
    turn = matrix(y_up_from(axis))
    file = read(tmp_path, moving_human(5, 1.0 / UNITS_M[unit], turn.T))
    assert (file.report.unit.name, file.report.unit.clear) == (unit, True)
    assert (file.report.up.axis, file.report.up.clear) == (axis, True)
    assert file.report.rest_up.axis == axis
    body = human(1.0 / UNITS_M[unit], turn.T)
    row = [float(x) for x in (tmp_path / "take.bvh").read_text().splitlines()[-1].split()]
    found = positions(file.clip, file.clip.frame_count - 1)
    for name, place in positions_of(body, row).items():
        assert np.allclose(found[name], turn @ place * UNITS_M[unit], atol=1e-9)
    # Upright at rest too: 1.8 m from toes to head, arms to the sides.
    assert np.allclose(rest_height(file.clip), [1.42, 1.56, 0.14], atol=0.01)


def test_a_rest_pose_may_stand_along_another_axis_than_the_motion(tmp_path: Path) -> None:
    body = human(100.0)
    row = np.zeros(channel_count(body))
    # Y up at rest; the root's X rotation lays the body's y along the file's z.
    row[:3] = (10.0, 20.0, 95.0)
    row[4] = 90.0
    file = read(tmp_path, bvh_text(body, np.tile(row, (3, 1))))
    assert (file.report.up.axis, file.report.rest_up.axis) == ("z", "y")
    assert np.allclose(file.clip.roots[0], [0.1, 0.95, -0.2])
    assert np.allclose(rest_height(file.clip), [1.42, 1.56, 0.14], atol=0.01)
    found = positions(file.clip, 0)
    assert found["j4"][1] - found["r4"][1] == pytest.approx(1.56, abs=0.01)


def test_asked_for_unit_and_axis_win_over_what_the_body_suggests(tmp_path: Path) -> None:
    text = moving_human(6, 100.0, np.eye(3))
    own = read(tmp_path, text)
    asked = read(tmp_path, text, unit_m=0.0254, up="x")
    assert (asked.report.unit.name, asked.report.unit.why) == ("inch", "as asked")
    assert (asked.report.up.axis, asked.report.up.why) == ("x", "as asked")
    assert np.allclose(asked.clip.skeleton.offsets[1:], own.clip.skeleton.offsets[1:] * 2.54)
    assert np.allclose(asked.clip.roots, rotate(y_up_from("x"), own.clip.roots) * 2.54)


@pytest.mark.parametrize("unit_m", [0.0, -1.0, float("nan"), float("inf")])
def test_an_impossible_unit_is_refused(tmp_path: Path, unit_m: float) -> None:
    with pytest.raises(ClipError, match="must be above zero"):
        read(tmp_path, moving_human(7, 100.0, np.eye(3)), unit_m=unit_m)


def test_an_unknown_axis_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ClipError, match=r"up axis 'w' is unknown; allowed: x, y, z, -x, -y, -z"):
        read(tmp_path, moving_human(7, 100.0, np.eye(3)), up="w")  # type: ignore[arg-type] # wrong


def with_positions(body: list[Sketch]) -> list[Sketch]:
    return [
        Sketch(sketch.name, sketch.parent, sketch.offset, POSITIONS + ROTATIONS, sketch.tip)
        for sketch in body
    ]


def rows_with_offsets(body: list[Sketch], frames: int, seed: int) -> FloatArray:
    """Rows of six channels a joint: positions repeat the offsets, rotations are random."""
    rows = np.random.default_rng(seed).uniform(-25.0, 25.0, (frames, channel_count(body)))
    for column, number in enumerate(file_order(body)):
        rows[:, 6 * column : 6 * column + 3] = body[number].offset
    return rows


def test_position_channels_replace_the_offset(tmp_path: Path) -> None:
    body = with_positions(human(100.0))
    rows = rows_with_offsets(body, 4, seed=1)
    rows[:, 7] = 14.0  # the first joint after the root stands still, but not at its OFFSET
    file = read(tmp_path, bvh_text(body, rows))
    assert (file.report.merged, file.report.residual_m) == ((), 0.0)
    assert np.allclose(file.clip.skeleton.offsets[1], [0.0, 0.14, 0.0])
    for frame in range(4):
        found = positions(file.clip, frame)
        for name, place in positions_of(body, rows[frame]).items():
            assert np.allclose(found[name], 0.01 * place, atol=1e-12)


def under_a_locomotion_root(extra: list[Sketch]) -> list[Sketch]:
    """A human whose hips move in a root of their own, and what else hangs on that root."""
    body = with_positions(human(100.0))
    below = [
        Sketch(sketch.name, sketch.parent + 1, sketch.offset, sketch.channels, sketch.tip)
        for sketch in body
    ]
    return [Sketch("ground", -1, (0.0, 0.0, 0.0), POSITIONS + ROTATIONS), *below, *extra]


def locomotion_rows(body: list[Sketch], frames: int) -> FloatArray:
    rows = rows_with_offsets(body, frames, seed=2)
    generator = np.random.default_rng(3)
    rows[:, :3] = generator.uniform(-100.0, 100.0, (frames, 3))
    rows[:, 4] = 0.0  # the ground turns about y and z only a little
    rows[:, 6:9] += generator.uniform(-8.0, 8.0, (frames, 3))
    return rows


def test_hips_that_move_below_a_root_become_the_root_and_stay_exact(tmp_path: Path) -> None:
    body = under_a_locomotion_root([])
    rows = locomotion_rows(body, 12)
    file = read(tmp_path, bvh_text(body, rows), up="y")
    assert file.report.merged == ("ground",)
    assert (file.report.residual_m, file.report.residual_joint) == (0.0, None)
    assert file.clip.skeleton.names[0] == "j0"
    for frame in range(12):
        found = positions(file.clip, frame)
        expected = positions_of(body, rows[frame])
        assert set(found) == set(expected) - {"ground"}
        for name, place in found.items():
            assert np.allclose(place, 0.01 * expected[name], atol=1e-12)


def test_beside_another_branch_the_root_gives_way_to_keep_the_hips_exact(tmp_path: Path) -> None:
    body = under_a_locomotion_root([Sketch("prop", 0, (30.0, 0.0, 0.0), tip=(0.0, 10.0, 0.0))])
    rows = locomotion_rows(body, 12)
    file = read(tmp_path, bvh_text(body, rows), up="y")
    assert file.report.merged == ()
    assert file.clip.skeleton.names[0] == "ground"
    worst = 0.0
    for frame in range(12):
        found = positions(file.clip, frame)
        for name, place in positions_of(body, rows[frame]).items():
            off = float(np.linalg.norm(found[name] - 0.01 * place))
            worst = max(worst, off)
            assert name in ("ground", "prop") or off < 1e-12
    assert file.report.residual_m == pytest.approx(worst, rel=1e-9)
    assert worst > 0.01
    assert file.report.residual_joint in ("ground", "prop")


def test_a_bone_that_stretches_is_reported_with_what_it_costs(tmp_path: Path) -> None:
    body = with_positions(human(100.0))
    rows = rows_with_offsets(body, 9, seed=4)
    column = 6 * [body[number].name for number in file_order(body)].index("p4")
    rows[:, column] += np.linspace(-2.0, 2.0, 9)
    rows[:, :3] += np.linspace(0.0, 50.0, 9)[:, None]
    file = read(tmp_path, bvh_text(body, rows))
    # The body stays where it is; the hand is off by what its bone cannot stretch.
    assert (file.report.merged, file.report.residual_joint) == ((), "p4")
    assert file.report.residual_m == pytest.approx(0.02, rel=1e-6)
    for frame in range(9):
        found = positions(file.clip, frame)
        for name, place in positions_of(body, rows[frame]).items():
            off = float(np.linalg.norm(found[name] - 0.01 * place))
            assert off == pytest.approx(0.005 * abs(frame - 4) if name == "p4" else 0.0, abs=1e-9)


def test_a_stretching_spine_does_not_move_the_legs(tmp_path: Path) -> None:
    body = with_positions(human(100.0))
    rows = rows_with_offsets(body, 5, seed=8)
    rows[:, 7] += np.linspace(-1.0, 1.0, 5)
    file = read(tmp_path, bvh_text(body, rows))
    assert file.report.residual_m == pytest.approx(0.01, rel=1e-6)
    for frame in range(5):
        found = positions(file.clip, frame)
        expected = positions_of(body, rows[frame])
        for name in ("j0", "r3", "s4"):
            assert np.allclose(found[name], 0.01 * expected[name], atol=1e-12)


def test_a_file_without_motion_is_a_body_without_frames(tmp_path: Path) -> None:
    file = read(tmp_path, bvh_text(human(100.0), None))
    assert (file.clip.frame_count, len(file.clip.skeleton)) == (0, len(human()))
    assert (file.report.unit.name, file.report.up.axis) == ("cm", "y")
    assert file.report.frame_time_s is None


def test_end_sites_become_tips_and_those_of_no_length_do_not(tmp_path: Path) -> None:
    body = [
        Sketch("root", -1, (0, 0, 0), POSITIONS + ROTATIONS),
        Sketch("long", 0, (0, 10, 0), tip=(0, 0, 7)),
        Sketch("short", 0, (0, -10, 0), tip=(0, 0, 0)),
    ]
    skeleton = read(tmp_path, bvh_text(body, None), unit_m=0.01, up="y").clip.skeleton
    assert skeleton.has_tip.tolist() == [False, True, False]
    assert np.allclose(skeleton.tips[1], [0.0, 0.0, 0.07])


@pytest.mark.parametrize(
    ("frame_time", "rate_hz"),
    [
        (".0083333", 120.0),
        ("0.008333", 120.0),
        ("0.00833333", 120.0),
        ("0.0333333", 30.0),
        (".03333", 30.0),
        ("0.033", 30.0),
        ("0.02", 50.0),
        ("0.010000", 100.0),
        ("8.3333e-3", 120.0),
        ("0.0333667", 1.0 / 0.0333667),
        ("0.0417083", 1.0 / 0.0417083),
        ("0.033344448149", 1.0 / 0.033344448149),
        ("2", 0.5),
    ],
)
def test_a_frame_time_that_was_cut_off_means_a_whole_rate(
    tmp_path: Path, frame_time: str, rate_hz: float
) -> None:
    body = human(100.0)
    text = bvh_text(body, np.zeros((2, channel_count(body))), frame_time)
    assert read(tmp_path, text).clip.rate_hz == rate_hz


def test_angles_that_wrap_do_not_make_the_quaternions_jump(tmp_path: Path) -> None:
    body = human(100.0)
    rows = np.zeros((60, channel_count(body)))
    rows[:, 3] = (np.arange(60) * 17.0 + 180.0) % 360.0 - 180.0
    rotations = read(tmp_path, bvh_text(body, rows), up="y").clip.rotations_xyzw
    steps = np.sum(rotations[1:] * rotations[:-1], axis=-1)
    assert np.min(steps) == pytest.approx(np.cos(np.radians(17.0) / 2.0))
