"""Another solver in the middle of a walk, over real sockets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from support.live import largest_turn_rad
from support.stage import Stage, staged
from understudy.solvers.base import ParameterValue
from understudy_protocol import PoseMessage

HERO = {"performer": "alice", "character": "short-legs", "solver": "clik"}
BETWEEN = 60  # frames at 120 Hz: more than the easing takes


@pytest.fixture
def stage() -> Iterator[Stage]:
    with staged(HERO, ease_s=0.3) as stage:
        yield stage


def _largest_step(poses: list[PoseMessage]) -> float:
    return max(largest_turn_rad(a, b) for a, b in pairwise(poses))


def test_the_solver_changes_in_the_middle_of_a_walk_without_a_jump(stage: Stage) -> None:
    calm = stage.walk(4 * BETWEEN)
    poses = calm[-BETWEEN:]
    for solver in ("ukf", "egik", "clik"):
        reply = stage.set(solver=solver)
        assert reply["solver"] == solver
        assert stage.subscriber.event("solver-changed").text == f"the solver is {solver!r}"
        assert stage.session()["solver"] == solver
        poses += stage.walk(BETWEEN)
    assert _largest_step(poses) < 1.1 * _largest_step(calm)
    assert max(pose.residual_m for pose in poses[-5:]) < 1e-3


def test_a_change_to_copying_leads_there_and_not_at_once(stage: Stage) -> None:
    poses = stage.walk(BETWEEN)
    assert stage.set(solver="copy")["params"] == {}
    poses += stage.walk(BETWEEN)
    assert poses[-1].residual_m > 0.01
    assert _largest_step(poses) < np.radians(6.0)


@pytest.mark.parametrize(
    ("solver", "changes"),
    [
        ("clik", ({"k1": 0.05, "k2": 0.05}, {"paper": True}, {"root_mobility": 0.0})),
        ("ukf", ({"softness.leftFoot": 0.05}, {"form": "paper"}, {"carry": True})),
        ("egik", ({"alpha": 0.5}, {"alpha": 0.0}, {"velocity": 20.0})),
    ],
)
def test_parameters_change_and_change_back_in_the_middle_of_a_walk_without_a_jump(
    stage: Stage, solver: str, changes: tuple[dict[str, ParameterValue], ...]
) -> None:
    if solver != "clik":
        stage.set(solver=solver)
    calm = stage.walk(4 * BETWEEN)
    session = stage.session()
    own = {parameter["name"]: parameter["default"] for parameter in session["parameters"]}
    before = {**own, **session["params"]}
    poses = calm[-1:]
    for change in changes:
        for wanted in (change, {name: before[name] for name in change}):
            told = {**before, **stage.set(params=wanted)["params"]}
            assert told == {**told, **wanted}
            poses += stage.walk(BETWEEN)
    assert _largest_step(poses) < 1.3 * _largest_step(calm)


def test_a_change_that_cannot_be_is_refused_and_changes_nothing(stage: Stage) -> None:
    for fields, word in (
        ({"solver": "magic"}, "magic"),
        ({"solver": "ukf", "params": {"corrections": 2}}, "corrections"),
    ):
        refusal = stage.refused(**fields)
        assert refusal.reason == "bad-value"
        assert word in refusal.text
        assert stage.session()["solver"] == "clik"
    assert stage.set(solver="ukf", params={"passes": 4})["params"]["passes"] == 4
    assert stage.refused(solver="egik").reason == "not-ready"  # the last change is not over
    stage.walk(BETWEEN)
    stage.set(solver="egik")
