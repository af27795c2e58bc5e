"""No joint turns much faster than the performer's own, unless a planted foot hangs on it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from support.driving import Track, drive
from understudy.kinematics import FloatArray, Joint, Pose, Skeleton
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, ParameterValue, create_solver

RATE_HZ = 120.0
FRAMES = 120
LEAD_RAD = 4.0 / RATE_HZ
SNATCHED = 40
BODY = Skeleton.build(
    [
        Joint("hips", None, (0.0, 1.0, 0.0)),
        Joint("thigh", "hips", (0.1, 0.0, 0.0)),
        Joint("shin", "thigh", (0.0, -0.45, 0.0)),
        Joint("ankle", "shin", (0.0, -0.45, 0.0)),
    ]
)
SHIN = BODY.index("shin")
EFFECTOR = Effector("ankle", BODY.index("ankle"))
SOLVERS = ["clik", "ukf", "egik"]


def stepping() -> list[Pose]:
    """A leg near full stretch whose knee bends a little and back, in a second."""
    poses = []
    for t in range(FRAMES):
        pose = BODY.rest_pose()
        bend = 0.3 + 0.1 * np.sin(2.0 * np.pi * t / FRAMES)
        pose.rotations_xyzw[1] = Rotation.from_rotvec([-0.5 * bend, 0.0, 0.0]).as_quat()
        pose.rotations_xyzw[SHIN] = Rotation.from_rotvec([bend, 0.0, 0.0]).as_quat()
        poses.append(pose)
    return poses


def snatch(frame: int, targets: Targets) -> None:
    """From one frame to the next the goal is 2 cm nearer to the hips; later it is back again."""
    if SNATCHED <= frame < 80:
        targets.positions[0] += [0.0, 0.02, 0.0]


def snatch_a_planted_one(frame: int, targets: Targets) -> None:
    snatch(frame, targets)
    targets.planted[0] = 1.0


def led(solver: str, **parameters: ParameterValue) -> Track:
    settings = {"root_mobility": 0.0, **parameters}
    return drive(
        create_solver(solver, BODY, (EFFECTOR,), settings),
        stepping(),
        change=snatch,
        dt=1.0 / RATE_HZ,
    )


def turns(rotations_xyzw: FloatArray) -> FloatArray:
    """How far (T - 1, n) rad each joint turns from frame to frame."""
    before = Rotation.from_quat(rotations_xyzw[:-1].reshape(-1, 4))
    after = Rotation.from_quat(rotations_xyzw[1:].reshape(-1, 4))
    return np.asarray((before.inv() * after).magnitude().reshape(-1, rotations_xyzw.shape[1]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_joint_turns_little_faster_than_the_performers_did_of_late(solver: str) -> None:
    own = turns(np.array([pose.rotations_xyzw for pose in stepping()]))
    of_late = np.maximum(own[2:], np.maximum(own[1:-1], own[:-2]))
    made = turns(led(solver).rotations_xyzw)
    assert np.all(made[2:] <= 1.5 * of_late + LEAD_RAD + 1e-9)
    assert np.max(turns(led(solver, max_joint_lead=100.0).rotations_xyzw)) > 3.0 * LEAD_RAD


@pytest.mark.parametrize("solver", SOLVERS)
def test_what_a_joint_may_not_turn_at_once_it_turns_in_the_next_frames(solver: str) -> None:
    late = led(solver).residuals[SNATCHED:, 0]
    assert late[0] > 0.01
    assert np.max(late) < 0.03
    assert np.max(late[12:40]) < 1e-3
    assert np.max(late[52:]) < 1e-3


def test_a_joint_that_carries_a_planted_point_is_never_late() -> None:
    track = drive(
        Clik(BODY, (EFFECTOR,), {"root_mobility": 0.0}),
        stepping(),
        change=snatch_a_planted_one,
        dt=1.0 / RATE_HZ,
    )
    assert track.residuals[SNATCHED, 0] < 1e-3


def test_a_turn_that_is_held_back_keeps_its_direction() -> None:
    whole, part = led("clik", max_joint_lead=100.0), led("clik")
    for j in (1, SHIN):
        start = Rotation.from_quat(whole.rotations_xyzw[SNATCHED - 1, j]).inv()
        full = (start * Rotation.from_quat(whole.rotations_xyzw[SNATCHED, j])).as_rotvec()
        held = (start * Rotation.from_quat(part.rotations_xyzw[SNATCHED, j])).as_rotvec()
        assert np.linalg.norm(held) < 0.5 * np.linalg.norm(full)
        np.testing.assert_allclose(np.cross(full, held), 0.0, atol=1e-9)
        assert full @ held > 0.0


def test_the_published_form_is_not_held_back() -> None:
    free = drive(
        Clik(BODY, (EFFECTOR,), {"root_mobility": 0.0, "paper": 1}),
        stepping(),
        change=snatch,
        dt=1.0 / RATE_HZ,
    )
    assert np.max(turns(free.rotations_xyzw)) > 3.0 * LEAD_RAD
