"""How the cost of a frame grows: with joints, and with the rows of the effectors' goals.

The walk of the solvers' task, on bodies whose every bone is cut into equal pieces (each takes its
share of the turn, so no joint stands still), and with goals for more and more joints of a body.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from understudy.characters import load_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import create_solver
from understudy_bench.openloop import no_collections, now_ns

RATE_HZ: Final = 120.0
JOINTS: Final = (25, 50, 100, 200)
ROWS: Final = (3, 6, 12, 24, 48)
_ROUNDS: Final = 5
_FRAMES: Final = 150


@dataclass(frozen=True, slots=True)
class Cost:
    """The time of one solve, us: p50 of the best of several rounds."""

    joints: int
    rows: int
    us: float


@dataclass(frozen=True, slots=True)
class Growth:
    """Costs over joints (goals for hands and feet) and over rows (one body)."""

    over_joints: tuple[Cost, ...]
    over_rows: tuple[Cost, ...]

    @property
    def joint_price_ratio(self) -> float:
        """What one more joint costs among many, by what it costs among few: 1 if it is linear."""
        few, more, *_, many, most = self.over_joints
        dear = (most.us - many.us) / (most.joints - many.joints)
        cheap = (more.us - few.us) / (more.joints - few.joints)
        return dear / cheap

    @property
    def rows_exponent(self) -> float:
        """e of a cost that grows with rows ** e, whatever it costs besides.

        Of the last two doublings: if each row costs more the more there are, the second adds
        2 ** e times what the first does.
        """
        *_, few, more, most = self.over_rows
        return float(np.log2((most.us - more.us) / max(more.us - few.us, 1e-3)))


def measure_growth(solver: str, rounds: int = _ROUNDS) -> Growth:
    """Let all sizes take turns, so that a noisy moment spoils none of them alone."""
    bodies = {joints: _Body(joints) for joints in JOINTS}
    contests = [_Contest(solver, bodies[joints], 4) for joints in JOINTS]
    contests += [_Contest(solver, bodies[JOINTS[2]], rows // 3) for rows in ROWS]
    with no_collections():
        for _ in range(rounds):
            for contest in contests:
                contest.round()
    costs = [contest.cost for contest in contests]
    return Growth(tuple(costs[: len(JOINTS)]), tuple(costs[len(JOINTS) :]))


class _Body:
    """The walking actor with about `joints` joints, and where its joints go."""

    def __init__(self, joints: int) -> None:
        clip = load_clip("walk", RATE_HZ)
        actor = clip.skeleton
        pieces = np.full(len(actor), joints // len(actor))
        pieces[: joints - int(pieces.sum())] += 1
        # A root is one joint; the piece that it would have had goes to the last bone.
        pieces[-1] += pieces[0] - 1
        pieces[0] = 1
        parts: list[Joint] = []
        turns: list[FloatArray] = []
        self.ends: dict[str, int] = {}
        for joint, count, j in zip(actor.joints(), pieces, range(len(actor)), strict=True):
            offset = np.asarray(joint.offset) / count
            turn = clip.rotations_xyzw[:, j]
            share = rotations.exp(rotations.log(turn) / count) if count > 1 else turn
            parent = joint.parent
            for piece in range(count):
                name = joint.name if piece == count - 1 else f"{joint.name}-{piece}"
                parts.append(replace(joint, name=name, parent=parent, offset=offset))
                turns.append(share)
                parent = name
            self.ends[joint.name] = len(parts) - 1
        self.skeleton = Skeleton.build(parts)
        self.roots = clip.roots
        self.rotations_xyzw = np.ascontiguousarray(np.stack(turns, axis=1))

    def effectors(self, count: int) -> list[Effector]:
        """Hands and feet, then joints spread over the body."""
        first = [self.ends[name] for name in ("leftHand", "rightHand", "leftFoot", "rightFoot")]
        spread = np.linspace(1, len(self.skeleton) - 1, 2 * count).round().astype(int)
        joints = list(dict.fromkeys([*first, *spread.tolist()]))[:count]
        return [Effector(f"effector-{joint}", joint) for joint in joints]


class _Contest:
    """One solver on one body with so many goals, each a little off what copying would reach."""

    def __init__(self, solver: str, body: _Body, effectors: int) -> None:
        chosen = body.effectors(effectors)
        self._body = body
        self._solver = create_solver(solver, body.skeleton, chosen, {})
        self._targets = Targets.allocate(body.skeleton, chosen)
        kinematics = ForwardKinematics(body.skeleton)
        self._goals = np.zeros((_FRAMES, effectors, 3))
        for frame in range(_FRAMES):
            kinematics.update(body.roots[frame].copy(), body.rotations_xyzw[frame].copy())
            for k, effector in enumerate(chosen):
                self._goals[frame, k] = kinematics.positions[effector.joint]
        self._goals[:, :, 1] += 0.01
        self._best_us = float("inf")

    @property
    def cost(self) -> Cost:
        """The best round."""
        joints, rows = len(self._body.skeleton), 3 * self._goals.shape[1]
        return Cost(joints, rows, self._best_us)

    def round(self) -> None:
        """Solve all frames, back to back."""
        taken = np.zeros(_FRAMES, np.int64)
        body, targets, solver = self._body, self._targets, self._solver
        solver.reset()
        for frame in range(_FRAMES):
            targets.root[:] = body.roots[frame]
            targets.rotations_xyzw[:] = body.rotations_xyzw[frame]
            targets.positions[:] = self._goals[frame]
            targets.jump = frame == 0
            begin_ns = now_ns()
            solver.step(targets, 1.0 / RATE_HZ)
            taken[frame] = now_ns() - begin_ns
        self._best_us = min(self._best_us, float(np.median(taken)) * 1e-3)
