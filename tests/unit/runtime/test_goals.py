"""Clients' goals over the performer's own."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.kinematics.tasks import Effector, Targets
from understudy.runtime.goals import ClientGoals
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
