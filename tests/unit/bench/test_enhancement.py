"""Enhancement lowers both kinds of error: of the angles, and of points that were not fed."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.shared import shared_path
from understudy.characters import read_bvh
from understudy.characters.c3d import read_c3d
from understudy_bench.paper.enhancement import (
    EnhancementResult,
    run_enhancement,
    run_synthetic_enhancement,
)
from understudy_bench.paper.enhancement_section import enhancement_section, find_pairs, section_of
from understudy_bench.processes import BenchError


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_noisy_walk_comes_nearer_to_the_truth_in_angles_and_points(seed: int) -> None:
    result = run_synthetic_enhancement(seed=seed)
    assert result.angle_deg is not None
    assert result.angle_deg.after < 0.96 * result.angle_deg.before
    assert result.not_fed_cm.after < 0.5 * result.not_fed_cm.before
    assert result.steps_deg.after <= result.steps_deg.before
    for group, change in result.groups_cm.items():
        assert change.after < change.before
        if group in ("Wrist", "Toe"):  # fed
            assert change.after < 0.5 * change.before


@pytest.fixture(scope="module", name="real_take")
def real_take_fixture() -> list[EnhancementResult]:
    ((name, angles, markers),) = find_pairs(shared_path("paired"))
    assert name == "01_01"
    return run_enhancement(read_bvh(angles).clip, read_c3d(markers))


def test_a_real_take_improves_at_fed_markers_and_at_the_elbows(
    real_take: list[EnhancementResult],
) -> None:
    clean, *noisy = real_take
    assert clean.groups_cm["wrists"].after < 0.5 * clean.groups_cm["wrists"].before
    assert clean.groups_cm["toes"].after < 0.5 * clean.groups_cm["toes"].before
    assert clean.groups_cm["elbows"].after < 0.8 * clean.groups_cm["elbows"].before
    for result in noisy:
        assert result.angle_deg is not None
        assert result.angle_deg.after < 0.97 * result.angle_deg.before
        assert result.not_fed_cm.after < 0.65 * result.not_fed_cm.before
        assert result.steps_deg.after < result.steps_deg.before


def test_without_real_takes_the_report_says_how_to_include_them() -> None:
    section = enhancement_section(None)
    assert [check.passed for check in section.checks] == [True, True]
    assert any("--paired FOLDER" in note for note in section.notes)
    assert section.results["takes"] == {}


def test_real_takes_are_judged_where_they_are_given(real_take: list[EnhancementResult]) -> None:
    section = section_of(run_synthetic_enhancement(), {"01_01": real_take})
    names = [check.name for check in section.checks]
    for what in ("wrists", "toes", "elbows", "white noise, joint angles", "slow noise, markers"):
        assert any(what in name for name in names)
    assert not any("knees" in name for name in names)
    assert all(check.passed for check in section.checks)
    assert len(section.tables[0].rows) == 1 + 3


def test_a_folder_without_takes_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "alone.c3d").touch()
    with pytest.raises(BenchError, match=r"no take is there; allowed: .*NAME.c3d"):
        find_pairs(tmp_path)
