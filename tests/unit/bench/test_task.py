from __future__ import annotations

import numpy as np
import pytest

from support.shared import shared_path
from understudy.kinematics import ForwardKinematics
from understudy.kinematics.rotations import multiply
from understudy_bench.commands.solvers import SolverOptions, run_solvers
from understudy_bench.peers.bodies import hinge_angles
from understudy_bench.task import SolverTask, build_task


def turn(axis: int, angles: np.ndarray) -> np.ndarray:
    out = np.zeros((*angles.shape, 4))
    out[..., axis] = np.sin(0.5 * angles)
    out[..., 3] = np.cos(0.5 * angles)
    return out


def check_task(task: SolverTask) -> None:
    assert task.degrees_of_freedom == 78
    assert [effector.name for effector in task.effectors] == [
        "leftHand", "rightHand", "leftFoot", "rightFoot",
    ]  # fmt: skip
    assert np.all(task.limits.excess_rad(task.rotations_xyzw) == 0.0)
    # The copied posture misses its goals by centimetres: there is something to solve, in reach.
    kinematics = ForwardKinematics(task.skeleton)
    kinematics.update(task.roots[50].copy(), task.rotations_xyzw[50].copy())
    for effector, point, goal in zip(task.effectors, task.points, task.goals[50], strict=True):
        assert 0.001 < np.linalg.norm(kinematics.point(effector.joint, point) - goal) < 0.3


def test_the_built_in_task_has_78_degrees_of_freedom_and_goals_in_reach() -> None:
    check_task(build_task("walk", 120.0))


def test_a_recording_makes_the_same_task_without_its_fingers() -> None:
    check_task(build_task(str(shared_path("cmu/07_01.bvh")), 120.0))


def test_hinge_angles_for_peers_make_the_same_rotations_without_jumps() -> None:
    task = build_task("walk", 120.0)
    angles = hinge_angles(task)
    made = multiply(
        multiply(turn(2, angles[..., 0]), turn(1, angles[..., 1])), turn(0, angles[..., 2])
    )
    dots = np.abs(np.sum(made * task.rotations_xyzw[:, 1:], axis=-1))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)
    assert np.abs(np.diff(angles, axis=0)).max() < 0.5


def test_every_solver_is_timed_and_clik_reaches_its_goals() -> None:
    report = run_solvers(SolverOptions(rounds=1))
    solvers = report.results["solvers"]
    assert {"copy", "clik"} <= set(solvers)
    for figures in solvers.values():
        assert figures["hot_best_us"] > 0.0
        assert figures["paced_best_us"] > 0.0
    assert solvers["copy"]["error_max_cm"] > 1.0
    error = next(check for check in report.checks if "error" in check.name)
    assert error.passed is True
    assert error.value == pytest.approx(solvers["clik"]["error_max_cm"])
