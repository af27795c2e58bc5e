"""Measured points as goals: what they pull, and what happens while they are not seen."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.align.enhancer import EASE_S, SOLVER_PARAMETERS, Enhancer, check_same_body
from understudy.align.markers import AttachedPoint, MarkerError
from understudy.characters import builtin_character, builtin_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Pose, rotations
from understudy.solvers import create_solver

CLIP = builtin_clip("walk", 60.0)
BODY = CLIP.skeleton
DT = 1.0 / CLIP.rate_hz
POINTS = (
    AttachedPoint("wrist", BODY.index("leftLowerArm"), np.array([0.2, 0.03, 0.0])),
    AttachedPoint("toe", BODY.index("rightFoot"), np.array([0.0, -0.05, 0.15])),
)


def carried(pose: Pose) -> FloatArray:
    body = ForwardKinematics(BODY)
    body.update(pose.root, pose.rotations_xyzw)
    return np.array([body.point(point.joint, point.offset) for point in POINTS])


class Enhancement:
    """An enhancer and its solver, fed with the walk and points beside it."""

    def __init__(self) -> None:
        self.enhancer = Enhancer(BODY, POINTS)
        self.solver = create_solver(
            "clik", BODY, self.enhancer.effectors, SOLVER_PARAMETERS["clik"]
        )

    def step(self, frame: int, shift: FloatArray, jump: bool = False) -> Pose:
        """The answer to a frame whose points are measured `shift` (k, 3) m from their places."""
        pose = CLIP.pose(frame)
        self.enhancer.measure(carried(pose) + shift)
        targets = self.enhancer.align(pose.root, pose.rotations_xyzw, DT, jump)
        solution = self.solver.step(targets, DT)
        return Pose(solution.root.copy(), solution.rotations_xyzw.copy())

    def correction(self, frame: int, shift: FloatArray) -> FloatArray:
        """By how much (k, 3) m the answer moves the points."""
        return carried(self.step(frame, shift)) - carried(CLIP.pose(frame))


def shifted(wrist: float, toe: float = 0.0) -> FloatArray:
    return np.array([[wrist, 0.0, 0.0], [toe, 0.0, 0.0]])


def test_points_where_the_angles_have_them_change_nothing() -> None:
    enhancement = Enhancement()
    for frame in range(30):
        pose = enhancement.step(frame, shifted(0.0), frame == 0)
        turns = rotations.log(
            rotations.multiply(rotations.conjugate(CLIP.rotations_xyzw[frame]), pose.rotations_xyzw)
        )
        assert np.abs(turns).max() < 1e-6
        np.testing.assert_allclose(pose.root, CLIP.roots[frame], atol=1e-6)


def test_a_point_pulls_its_bone_but_less_than_all_the_way() -> None:
    enhancement = Enhancement()
    for frame in range(30):
        moved = enhancement.correction(frame, shifted(0.04))
    assert 0.5 * 0.04 < moved[0, 0] < 0.95 * 0.04


def test_a_point_with_a_larger_error_pulls_less() -> None:
    pulls = []
    for error_m in (0.01, 0.02, 0.05):
        enhancement = Enhancement()
        doubted = [AttachedPoint(p.name, p.joint, p.offset, error_m) for p in POINTS]
        enhancement.enhancer = Enhancer(BODY, doubted)
        enhancement.solver = create_solver(
            "clik", BODY, enhancement.enhancer.effectors, SOLVER_PARAMETERS["clik"]
        )
        pulls.append(enhancement.correction(0, shifted(0.04))[0, 0])
    assert pulls[0] > pulls[1] > pulls[2] > 0.0


def test_noise_of_the_points_is_not_passed_on_whole() -> None:
    enhancement = Enhancement()
    noise = np.random.default_rng(5).normal(0.0, 0.01, (200, 2, 3))
    answers = np.array([enhancement.correction(frame, noise[frame]) for frame in range(200)])
    assert answers[50:].std() < 0.85 * noise.std()


def test_a_lost_point_lets_go_smoothly_and_is_taken_up_smoothly() -> None:
    enhancement = Enhancement()
    ease = round(EASE_S / DT)
    lost = np.array([[np.nan] * 3, [0.0] * 3])
    pulls = []
    for frame in range(40 + 6 * ease):
        gap = 40 <= frame < 40 + 3 * ease
        shift = lost if gap else shifted(0.04)
        pulls.append(enhancement.correction(frame, shift)[0, 0])
    held = pulls[39]
    assert held > 0.02
    assert abs(pulls[40 + 2 * ease]) < 1e-4  # let go
    assert pulls[-1] == pytest.approx(held, abs=0.004)  # and taken up again
    assert np.abs(np.diff(pulls[20:])).max() < 0.25 * held


def test_a_point_that_is_somebody_elses_is_not_followed() -> None:
    enhancement = Enhancement()
    for frame in range(60):
        moved = enhancement.correction(frame, shifted(2.0))
    assert np.abs(moved).max() < 1e-4


def test_points_that_are_not_measured_leave_the_angles_alone() -> None:
    enhancement = Enhancement()
    for frame in range(5):
        pose = CLIP.pose(frame)
        targets = enhancement.enhancer.align(pose.root, pose.rotations_xyzw, DT, frame == 0)
        np.testing.assert_array_equal(targets.strengths, 0.0)
        solution = enhancement.solver.step(targets, DT)
        np.testing.assert_allclose(solution.root, pose.root, atol=1e-9)
        assert np.isfinite(targets.goals).all()


def test_a_body_without_markers_is_refused() -> None:
    with pytest.raises(MarkerError, match="the body has no markers"):
        Enhancer(BODY, ())


def test_only_the_same_body_is_enhanced() -> None:
    check_same_body(BODY, builtin_character("actor"))
    with pytest.raises(MarkerError, match=r"joint '\w+' of the performer is .* mm from"):
        check_same_body(BODY, builtin_character("child"))
