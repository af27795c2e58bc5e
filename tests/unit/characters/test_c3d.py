"""C3D files of every processor as points in metres, Y up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.c3d_files import C3dWriter
from support.shared import shared_path
from understudy.characters.c3d import read_c3d
from understudy.characters.c3d_parameters import BLOCK, DEC, INTEL, MIPS, PointsError
from understudy.kinematics import FloatArray

LABELS = ("LWRA", "RWRA", "LTOE")


def measured(frames: int = 7) -> FloatArray:
    """Points in mm, Z up; one is not seen in one frame."""
    points = np.random.default_rng(3).uniform(-900.0, 1900.0, (frames, len(LABELS), 3))
    points[4, 1] = np.nan
    return points


@pytest.mark.parametrize("processor", [INTEL, DEC, MIPS])
@pytest.mark.parametrize(("scale", "tolerance_m"), [(-1.0, 1e-6), (0.1, 0.6e-4)])
def test_points_come_back_in_metres_with_z_turned_up(
    tmp_path: Path, processor: int, scale: float, tolerance_m: float
) -> None:
    points = measured()
    path = C3dWriter(processor).write(
        tmp_path / "take.c3d", points, LABELS, scale=scale, analog=5, rate_hz=120.0
    )
    take = read_c3d(path)
    assert take.labels == LABELS
    assert take.rate_hz == 120.0
    x, y, z = np.moveaxis(points, -1, 0) / 1000.0
    np.testing.assert_allclose(take.points, np.stack([x, z, -y], -1), atol=tolerance_m)
    assert take.gap_share == pytest.approx(1 / 21)


@pytest.mark.parametrize(("unit", "metres"), [("m", 1.0), ("cm", 0.01), ("in", 0.0254)])
def test_the_files_own_unit_counts(tmp_path: Path, unit: str, metres: float) -> None:
    points = np.full((1, 3, 3), 2.0)
    take = read_c3d(C3dWriter().write(tmp_path / "take.c3d", points, LABELS, unit=unit), up="y")
    np.testing.assert_allclose(take.points, 2.0 * metres, rtol=1e-6)


def test_a_prefix_that_all_labels_share_is_dropped_and_twins_are_numbered(tmp_path: Path) -> None:
    labels = ("Eve:C7", "Eve:C7", "Eve:")
    take = read_c3d(C3dWriter().write(tmp_path / "take.c3d", measured(), labels))
    assert take.labels == ("C7", "C7-2", "point3")


def test_a_long_take_is_counted_by_its_trial(tmp_path: Path) -> None:
    points = np.zeros((65_540, 1, 3))
    path = C3dWriter().write(
        tmp_path / "take.c3d", points, ("A",), scale=1.0, actual_end=len(points)
    )
    assert read_c3d(path).frame_count == len(points)


def test_markers_are_chosen_by_name(tmp_path: Path) -> None:
    take = read_c3d(C3dWriter().write(tmp_path / "take.c3d", measured(), LABELS))
    chosen = take.chosen(("LTOE", "LWRA"))
    np.testing.assert_array_equal(chosen.points, take.points[:, [2, 0]])
    with pytest.raises(PointsError, match=r"no marker 'NOSE'; there are: LWRA, RWRA, LTOE"):
        take.chosen(("NOSE",))


def test_what_is_no_c3d_file_is_told_in_one_line(tmp_path: Path) -> None:
    good = C3dWriter().write(tmp_path / "good.c3d", measured(), LABELS).read_bytes()
    foreign = bytearray(good)
    foreign[BLOCK + 3] = 99
    cases = {
        "is not a C3D file": b"HIERARCHY\n" * 200,
        "is of processor 99; allowed: 84 Intel": bytes(foreign),
        "7 frames of 3 points need": good[:-20],
        "parameters that are cut short": good[: BLOCK + 40].ljust(2 * BLOCK, b"\xff"),
    }
    for told, content in cases.items():
        path = tmp_path / "bad.c3d"
        path.write_bytes(content)
        with pytest.raises(PointsError) as refused:
            read_c3d(path)
        assert told in str(refused.value)
        assert str(path) in str(refused.value)
        assert "\n" not in str(refused.value)


def test_a_unit_that_is_unknown_and_a_file_that_is_missing_are_refused(tmp_path: Path) -> None:
    path = C3dWriter().write(tmp_path / "take.c3d", measured(), LABELS, unit="furlong")
    with pytest.raises(PointsError, match=r"points in 'furlong'; allowed: mm, cm"):
        read_c3d(path)
    with pytest.raises(PointsError, match="cannot be read"):
        read_c3d(tmp_path / "none.c3d")


def test_any_cut_of_a_file_is_refused_or_read(tmp_path: Path) -> None:
    good = C3dWriter().write(tmp_path / "good.c3d", measured(), LABELS).read_bytes()
    for size in range(0, len(good), 97):
        (tmp_path / "cut.c3d").write_bytes(good[:size])
        with pytest.raises(PointsError):
            read_c3d(tmp_path / "cut.c3d")


@pytest.mark.parametrize(
    ("file", "frames", "markers", "gaps"), [("01_01", 2751, 42, 0.024), ("85_02", 810, 41, 0.0)]
)
def test_real_takes_are_read(file: str, frames: int, markers: int, gaps: float) -> None:
    take = read_c3d(shared_path(f"paired/{file}.c3d"))
    assert take.points.shape == (frames, markers, 3)
    assert take.rate_hz == 120.0
    assert "LTOE" in take.labels
    assert take.gap_share == pytest.approx(gaps, abs=5e-4)
    heights = np.nanmax(take.points[..., 1], axis=1)
    assert heights.min() > 0.5
    assert heights.max() < 2.5
