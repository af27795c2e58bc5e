"""Going over from one solver to another."""

from __future__ import annotations

import numpy as np

from understudy.align import Aligner
from understudy.characters import load_character, load_clip
from understudy.kinematics import FloatArray
from understudy.runtime.offline import motion_sample, perform
from understudy.solvers import Clik, Copy, Solver
from understudy.solvers.crossfade import Crossfade

WALK = load_clip("walk", 60.0)
BODY = load_character("short-legs")
DURATION_S = 0.5


def _angles(name: str) -> FloatArray:
    """The joints' rotations (T, n, 4) of the walk by `copy`, `clik` or `fade` from one to other."""
    aligner = Aligner(WALK.skeleton, BODY, source_motion=motion_sample(WALK))
    copy, clik = Copy(BODY, aligner.effectors), Clik(BODY, aligner.effectors)
    solvers: dict[str, Solver] = {
        "copy": copy,
        "clik": clik,
        "fade": Crossfade(copy, clik, DURATION_S),
    }
    played = perform(WALK, aligner, solvers[name])
    return np.array([solution.rotations_xyzw.copy() for _, solution in played])


def test_it_begins_at_the_old_pose_and_ends_as_the_new_solver() -> None:
    faded, old, new = _angles("fade"), _angles("copy"), _angles("clik")
    apart = np.linalg.norm(old - new, axis=(1, 2))
    assert np.linalg.norm(faded[0] - old[0]) < 0.01 * apart[0]
    last = int(DURATION_S * WALK.rate_hz)
    assert np.array_equal(faded[last:], new[last:])
    between = np.linalg.norm(faded - old, axis=(1, 2))[:last]
    assert np.all(between <= apart[:last] + 1e-9)


def test_the_parameters_are_the_new_solver_s() -> None:
    aligner = Aligner(WALK.skeleton, BODY)
    copy, clik = Copy(BODY, aligner.effectors), Clik(BODY, aligner.effectors)
    fade = Crossfade(copy, clik, DURATION_S)
    fade.set_parameters({"corrections": 2})
    assert fade.parameters() == clik.parameters()
    assert clik.parameters()["corrections"] == 2
