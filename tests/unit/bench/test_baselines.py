"""The simple approaches: what they keep, what they break, and that nobody else offers them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from understudy.align import Aligner
from understudy.characters import load_character, load_clip
from understudy.kinematics import FloatArray
from understudy.runtime.offline import motion_sample, perform
from understudy.solvers import SOLVERS, SolverError
from understudy_bench.quality import retarget_clip, score
from understudy_bench.quality.baselines import BASELINES, create_contestant

WALK = load_clip("walk", 60.0)
BODY = load_character("short-legs")


def _angles(name: str, frames: slice = slice(None)) -> Iterator[FloatArray]:
    """The poses of some frames, each as if the aligner had seen all of them."""
    aligner = Aligner(WALK.skeleton, BODY, source_motion=motion_sample(WALK))
    asked = [
        t.copy()
        for t, _ in perform(WALK, aligner, create_contestant("copy", BODY, aligner.effectors))
    ]
    solver = create_contestant(name, BODY, aligner.effectors)
    for targets in asked[frames]:
        yield solver.step(targets, 1.0 / WALK.rate_hz).rotations_xyzw.copy()


def test_the_server_does_not_offer_them() -> None:
    assert not set(BASELINES) & set(SOLVERS)


def test_a_frame_is_solved_as_if_there_were_no_other() -> None:
    together = list(_angles("ik"))
    assert np.array_equal(next(_angles("ik", slice(70, 71))), together[70])


def test_feet_stand_but_the_correction_comes_at_once() -> None:
    copy, ik, smoothed = (
        score(retarget_clip(WALK, "short-legs", BODY, name)) for name in ("copy", *BASELINES)
    )
    assert ik.slide_strict.mean < 0.1 * copy.slide_strict.mean
    assert ik.jerk_ratio > 1.5
    assert smoothed.jerk_ratio < ik.jerk_ratio
    assert smoothed.slide_strict.mean > 10.0 * ik.slide_strict.mean


@pytest.mark.parametrize("name", BASELINES)
def test_they_have_no_parameters(name: str) -> None:
    with pytest.raises(SolverError, match="passes"):
        create_contestant(name, BODY, (), {"passes": 3})
