"""Clients' goals over the performer's own."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.align import Aligner
from understudy.characters import load_character, load_clip
from understudy.kinematics.tasks import Effector, Targets
from understudy.runtime.goals import ClientGoals
from understudy.solvers import create_solver
from understudy_protocol import GOAL_SILENCE_NS, GoalMessage

EFFECTORS = (Effector("left", 0), Effector("right", 0))
GOAL = np.array([1.0, 2.0, 3.0])


def goal(seq: int = 0, **changes: object) -> GoalMessage:
    fields: dict[str, object] = {
        "run": 1,
        "seq": seq,
        "capture_ns": 0,
        "effector": "right",
        "position": GOAL,
        "ease_s": 0.1,
        **changes,
    }
    return GoalMessage(**fields)  # type: ignore[arg-type]  # fields by name, as a test wants


def shares(goals: ClientGoals, frames: int, at_ns: int = 0) -> list[float]:
    """How much of the goal counts in each of the next frames, at 100 Hz."""
    found = []
    for _ in range(frames):
        targets = Targets(1, 2)
        goals.apply(targets, 0.01, at_ns)
        np.testing.assert_array_equal(targets.positions[0], 0.0)
        found.append(float(targets.positions[1, 0]))
    return found


def test_a_goal_fades_in_and_stays() -> None:
    goals = ClientGoals(EFFECTORS)
    assert goals.take(goal(), 0) is None
    found = shares(goals, 15)
    assert found[0] < 0.1
    assert found == sorted(found)
    assert found[9:] == pytest.approx([1.0] * 6)


def test_a_released_goal_fades_out_and_is_forgotten() -> None:
    goals = ClientGoals(EFFECTORS)
    goals.take(goal(0), 0)
    shares(goals, 12)
    goals.take(goal(1, position=None, release=True), 0)
    found = shares(goals, 12)
    assert found == sorted(found, reverse=True)
    assert found[-1] == 0.0
    assert not goals.active


def test_a_client_that_falls_silent_has_released_its_goal() -> None:
    goals = ClientGoals(EFFECTORS)
    goals.take(goal(), 0)
    shares(goals, 12)
    shares(goals, 12, at_ns=GOAL_SILENCE_NS + 1)
    assert not goals.active


def test_a_weight_takes_part_of_the_goal() -> None:
    goals = ClientGoals(EFFECTORS)
    goals.take(goal(weight=0.5), 0)
    assert shares(goals, 20)[-1] == pytest.approx(0.5)


def test_late_goals_and_unknown_effectors_are_left_out() -> None:
    goals = ClientGoals(EFFECTORS)
    assert goals.take(goal(effector="tail"), 0) == "unknown-effector"
    assert goals.take(goal(5), 0) is None
    assert goals.take(goal(5), 0) == "late-goal"
    assert goals.take(goal(4), 0) == "late-goal"
    assert goals.take(goal(0, run=2), 0) is None


@pytest.mark.parametrize("rate_hz", [60.0, 120.0])
def test_the_same_swing_is_aimed_at_another_ball_and_is_not_late(rate_hz: float) -> None:
    clip, body = load_clip("bat-swing", rate_hz), load_character("bat-c")
    aligner = Aligner(clip.skeleton, body)
    solver = create_solver("clik", body, aligner.effectors, {})
    hands = [i for i, each in enumerate(aligner.effectors) if each.name.endswith("Hand")]
    farthest = 0.0
    for frame in range(clip.frame_count):
        pose = clip.pose(frame)
        targets = aligner.align(pose.root, pose.rotations_xyzw, 1.0 / rate_hz, frame == 0)
        share = float(np.clip((frame / rate_hz - 0.3) / 0.3, 0.0, 1.0))
        for hand in hands:
            targets.positions[hand] += share * np.array([0.0, -0.12, 0.08])
        solution = solver.step(targets, 1.0 / rate_hz)
        if frame > 0.25 * rate_hz:
            farthest = max(farthest, float(solution.residuals[hands].max()))
    assert len(hands) == 2
    assert farthest < 0.0005
