"""Goals that clients set for a character's effectors, faded in and out over the performer's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from understudy.kinematics import rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy_protocol.limits import GOAL_SILENCE_NS
from understudy_protocol.messages import GoalMessage


class _Goal:
    """One effector's goal and how much of it counts at the moment."""

    __slots__ = ("ease_s", "message", "share", "until_ns", "wanted")

    def __init__(self, message: GoalMessage) -> None:
        self.message = message
        self.share = 0.0
        self.wanted = 0.0
        self.ease_s = 0.0
        self.until_ns = 0


class ClientGoals:
    """The goals in force for one character; one per effector at most."""

    def __init__(self, effectors: Sequence[Effector]) -> None:
        self._index = {effector.name: i for i, effector in enumerate(effectors)}
        self._goals: dict[int, _Goal] = {}

    @property
    def active(self) -> bool:
        """Whether any goal counts, or is still fading."""
        return bool(self._goals)

    def take(self, message: GoalMessage, now_ns: int) -> str | None:
        """Follow a client's message; a word for why it is left out, None if it is taken."""
        effector = self._index.get(message.effector)
        if effector is None:
            return "unknown-effector"
        goal = self._goals.get(effector)
        if goal is not None and goal.message.run == message.run and message.seq <= goal.message.seq:
            return "late-goal"
        if goal is None:
            if message.release:
                return None
            goal = self._goals[effector] = _Goal(message)
        goal.ease_s = message.ease_s
        goal.until_ns = now_ns + GOAL_SILENCE_NS
        if message.release:
            goal.wanted = 0.0
        else:
            goal.wanted = message.weight
            goal.message = message
        return None

    def apply(self, targets: Targets, dt: float, now_ns: int) -> None:
        """Pull the effectors' goals over; a client that fell silent has released its own."""
        for effector, goal in list(self._goals.items()):
            wanted = goal.wanted if now_ns < goal.until_ns else 0.0
            step = dt / goal.ease_s if goal.ease_s > 0.0 else 1.0
            goal.share += min(max(wanted - goal.share, -step), step)
            if goal.share <= 0.0 and wanted == 0.0:
                del self._goals[effector]
                continue
            share = goal.share * goal.share * (3.0 - 2.0 * goal.share)
            position = targets.positions[effector]
            position += share * (np.asarray(goal.message.position, np.float64) - position)
            if goal.message.orientation_xyzw is not None:
                targets.orientations_xyzw[effector] = rotations.slerp(
                    targets.orientations_xyzw[effector],
                    rotations.normalise(np.asarray(goal.message.orientation_xyzw, np.float64)),
                    share,
                )
            targets.strengths[effector] = max(float(targets.strengths[effector]), share)
