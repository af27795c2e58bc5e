"""The base: a planted effector that does not move at all while the rest of the body does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.bodies import mixed_body
from support.driving import drive, reached, smooth_motion
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton
from understudy.kinematics.tasks import NO_BASE, Effector, Targets
from understudy.solvers import Clik

BODY = mixed_body()
HAND, FOOT = BODY.index("hand"), BODY.index("foot")
EFFECTORS = (Effector("foot", FOOT, orientation="rows"), Effector("hand", HAND))
POINTS = np.array([[0.0, 0.1, 0.1], [0.1, 0.0, 0.0]])
MOTION = smooth_motion(BODY, 60, seed=1, spread_rad=0.4)


def orientation(skeleton: Skeleton, root: FloatArray, q: FloatArray, joint: int) -> FloatArray:
    kinematics = ForwardKinematics(skeleton)
    kinematics.update(root.copy(), q.copy())
    return np.array(kinematics.rotations[joint])


def plant(frame: int, targets: Targets) -> None:
    """The foot stands still; the performer's own foot does not."""
    targets.positions[0] = [0.1, 0.2, 0.3]
    targets.orientations_xyzw[0] = Rotation.from_rotvec([0.1, 0.8, 0.0]).as_quat()
    targets.base = 0
    targets.base_hold = 1.0


def test_an_eliminated_base_stands_exactly_where_it_must() -> None:
    track = drive(Clik(BODY, EFFECTORS, {"eliminate": 1}), MOTION, points=POINTS, change=plant)
    goal = Rotation.from_rotvec([0.1, 0.8, 0.0]).as_matrix()
    for i in range(len(MOTION)):
        pose = track.pose(i)
        place = reached(BODY, pose, FOOT, POINTS[0])
        np.testing.assert_allclose(place, [0.1, 0.2, 0.3], atol=1e-12)
        found = orientation(BODY, pose.root, pose.rotations_xyzw, FOOT)
        np.testing.assert_allclose(found, goal, atol=1e-12)
    assert np.max(track.residuals[:, 0]) < 1e-12


def test_other_goals_are_met_while_a_base_is_eliminated() -> None:
    def reach(frame: int, targets: Targets) -> None:
        own_foot = targets.positions[0].copy()
        plant(frame, targets)
        targets.positions[1] += targets.positions[0] - own_foot + [0.02, 0.03, 0.0]

    solver = Clik(BODY, EFFECTORS, {"eliminate": 1, "corrections": 3})
    track = drive(solver, MOTION, points=POINTS, change=reach)
    assert np.max(track.residuals[:, 0]) < 1e-12
    assert np.max(track.residuals[3:, 1]) < 1e-3


def test_a_base_that_is_moved_to_has_no_error() -> None:
    track = drive(Clik(BODY, EFFECTORS), MOTION, points=POINTS, change=plant)
    assert np.max(track.residuals[:, 0]) < 1e-12
    for i in range(len(MOTION)):
        place = reached(BODY, track.pose(i), FOOT, POINTS[0])
        np.testing.assert_allclose(place, [0.1, 0.2, 0.3], atol=1e-12)


@pytest.mark.parametrize("hold", [0.0, 0.5])
def test_a_base_that_is_held_in_part_keeps_the_rest_of_its_error(hold: float) -> None:
    """Two goals that cannot both be met: the body is moved by the held share of what is left."""

    def torn(frame: int, targets: Targets) -> None:
        plant(frame, targets)
        targets.positions[1] = [3.0, 3.0, 3.0]
        targets.base_hold = hold

    def held(frame: int, targets: Targets) -> None:
        torn(frame, targets)
        targets.base_hold = 0.0

    plain = drive(Clik(BODY, EFFECTORS), MOTION[:1], points=POINTS, change=held)
    track = drive(Clik(BODY, EFFECTORS), MOTION[:1], points=POINTS, change=torn)
    assert plain.residuals[0, 0] > 1e-3
    assert track.residuals[0, 0] == pytest.approx((1.0 - hold) * plain.residuals[0, 0], rel=1e-9)


@pytest.mark.parametrize("eliminate", [0, 1])
def test_changing_the_base_leaves_no_pop(eliminate: int) -> None:
    def alternate(frame: int, targets: Targets) -> None:
        targets.base = (0, NO_BASE, 1)[frame // 10 % 3]
        targets.base_hold = 1.0
        targets.positions[:] += [0.01, 0.0, 0.01]

    solver = Clik(BODY, EFFECTORS, {"eliminate": eliminate})
    track = drive(solver, MOTION, points=POINTS, change=alternate)
    calm = drive(Clik(BODY, EFFECTORS), MOTION, points=POINTS)
    assert track.largest_shift(3) < 1.3 * calm.largest_shift(3)
    assert track.largest_turn(3) < 1.3 * calm.largest_turn(3)


def test_a_jump_with_an_eliminated_base_is_eased_too() -> None:
    def jump(frame: int, targets: Targets) -> None:
        plant(frame, targets)
        targets.jump = frame in (0, 20)
        if frame >= 20:
            targets.positions[0] += [1.0, 0.0, 0.0]
            targets.root[0] += 1.0
            targets.positions[1, 0] += 1.0

    solver = Clik(BODY, EFFECTORS, {"eliminate": 1})
    track = drive(solver, MOTION, points=POINTS, change=jump)
    shifts = np.linalg.norm(np.diff(track.roots, axis=0), axis=1)
    assert shifts[19] < 0.25
    assert track.residuals[-1, 0] < 1e-6


def test_a_broken_frame_at_a_change_of_base_is_over_with_the_next() -> None:
    def spoil(frame: int, targets: Targets) -> None:
        targets.base = 0 if frame < 20 else 1
        if frame == 20:
            targets.positions[1] = np.nan

    solver = Clik(BODY, EFFECTORS, {"eliminate": 1})
    track = drive(solver, MOTION, points=POINTS, change=spoil)
    assert np.all(np.isfinite(track.rotations_xyzw))
    assert track.statuses[20] != 0
    assert track.statuses[30] == 0


@pytest.mark.parametrize("turned_rad", [0.0, 0.3])
def test_what_a_new_base_kept_of_its_own_place_is_ramped_out(turned_rad: float) -> None:
    """A foot in the air, away from its goal, becomes the base: no pop, and it arrives."""
    pose = MOTION[0]
    away = np.array([0.05, -0.02, 0.03])

    def land(frame: int, targets: Targets) -> None:
        targets.positions[0] += away
        goal = Rotation.from_rotvec([0.0, turned_rad, 0.0]) * Rotation.from_quat(
            targets.orientations_xyzw[0]
        )
        targets.orientations_xyzw[0] = goal.as_quat()
        targets.strengths[0] = 0.0
        targets.base = NO_BASE if frame < 10 else 0
        targets.base_hold = 1.0

    solver = Clik(BODY, EFFECTORS, {"eliminate": 1})
    track = drive(solver, [pose] * 60, points=POINTS, change=land)
    own = reached(BODY, pose, FOOT, POINTS[0])
    places = [reached(BODY, track.pose(i), FOOT, POINTS[0]) - own for i in range(60)]
    np.testing.assert_allclose(places[10], 0.0, atol=1e-9)
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < 0.25 * np.linalg.norm(away)
    np.testing.assert_allclose(places[-1], away, atol=1e-6)
    found = orientation(BODY, track.roots[-1], track.rotations_xyzw[-1], FOOT)
    before = orientation(BODY, pose.root, pose.rotations_xyzw, FOOT)
    goal = Rotation.from_rotvec([0.0, turned_rad, 0.0]).as_matrix() @ before
    np.testing.assert_allclose(found, goal, atol=1e-6)


def test_a_planted_base_stays_where_it_stands_away_from_its_goal() -> None:
    pose = MOTION[0]

    def stand(frame: int, targets: Targets) -> None:
        targets.positions[0] += np.array([0.05, -0.02, 0.03])
        targets.strengths[0] = 0.0
        targets.planted[0] = 1.0
        targets.base = NO_BASE if frame < 10 else 0
        targets.base_hold = 1.0

    solver = Clik(BODY, EFFECTORS, {"eliminate": 1})
    track = drive(solver, [pose] * 60, points=POINTS, change=stand)
    own = reached(BODY, pose, FOOT, POINTS[0])
    for i in range(10, 60):
        np.testing.assert_allclose(reached(BODY, track.pose(i), FOOT, POINTS[0]), own, atol=1e-9)


def test_a_base_below_a_joint_that_keeps_its_turn_is_moved_to() -> None:
    """Turning the root would not turn it: it stands where it must all the same."""
    effectors = (
        Effector("foot", FOOT, orientation="exact"), Effector("toe", FOOT), Effector("hand", HAND),
    )  # fmt: skip
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.1], [0.1, 0.0, 0.0]])

    def plant_toe(frame: int, targets: Targets) -> None:
        plant(frame, targets)
        toe = Rotation.from_quat(targets.orientations_xyzw[0]).apply(points[1])
        targets.positions[1] = targets.positions[0] + toe
        targets.base = 1

    solver = Clik(BODY, effectors, {"eliminate": 1})
    track = drive(solver, MOTION, points=points, change=plant_toe)
    assert np.max(track.residuals[:, 1]) < 1e-12
    assert np.max(track.residuals[:, 0]) < 1e-3
