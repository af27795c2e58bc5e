"""Enhancement lowers both kinds of error: of the angles, and of points that were not fed."""

from __future__ import annotations

import pytest

from support.shared import shared_path
from understudy.characters import read_bvh
from understudy.characters.c3d import read_c3d
from understudy_bench.paper.enhancement import run_enhancement, run_synthetic_enhancement


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


def test_a_real_take_improves_at_fed_markers_and_at_the_elbows() -> None:
    clip = read_bvh(shared_path("paired/01_01.full.bvh")).clip
    clean, *noisy = run_enhancement(clip, read_c3d(shared_path("paired/01_01.c3d")))
    assert clean.groups_cm["wrists"].after < 0.5 * clean.groups_cm["wrists"].before
    assert clean.groups_cm["toes"].after < 0.5 * clean.groups_cm["toes"].before
    assert clean.groups_cm["elbows"].after < 0.8 * clean.groups_cm["elbows"].before
    assert clean.not_fed_cm.after < clean.not_fed_cm.before
    for result in noisy:
        assert result.angle_deg is not None
        assert result.angle_deg.after < 0.97 * result.angle_deg.before
        assert result.not_fed_cm.after < 0.6 * result.not_fed_cm.before
        assert result.steps_deg.after < result.steps_deg.before
