"""The throw of *Motion characteristic capturing*: two abnormal bodies, five weights.

The figure is the throwing arm with the torso that carries it. Its hand is asked to follow the
performer's own path, unscaled; errors are divided by the length of all links of the figure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from understudy.characters.builtin import builtin_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Egik, ParameterValue
from understudy.solvers.egik import total_link_length

ALPHAS: Final = (0.0, 0.5, 0.9, 0.99, 1.0)
PUBLISHED: Final = {
    "abnorman-1": (0.048, 0.0017, 0.0002, 0.000034, 0.0),
    "abnorman-2": (0.17, 0.047, 0.011, 0.00053, 0.0),
}
# Limbs and torso as multiples of the performer's: copying alone misses by .048 and .17.
PROPORTIONS: Final = {"abnorman-1": (1.10, 0.93), "abnorman-2": (0.65, 1.20)}
RATE_HZ: Final = 30.0

_TORSO: Final = ("spine", "chest", "upperChest", "rightShoulder")
_LIMB: Final = ("rightLowerArm", "rightHand")
_FIGURE: Final = ("hips", *_TORSO, "rightUpperArm", *_LIMB)


@dataclass(frozen=True, slots=True, eq=False)
class Throw:
    """The performer's throw: roots (T, 3), the figure's rotations (T, n, 4), the hand (T, 3) m."""

    figure: Skeleton
    roots: FloatArray
    rotations_xyzw: FloatArray
    hand: FloatArray

    @property
    def frame_count(self) -> int:
        """How many frames it has."""
        return len(self.roots)


@dataclass(frozen=True, slots=True)
class ThrowErrors:
    """Of one body at one alpha: distance of the hand (by total link length) and turn of joints.

    `jerk_ratio` compares the joints' second differences of turns with the performer's.
    """

    hand_mean: float
    hand_max: float
    angle_rms_rad: float
    jerk_ratio: float


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """Mean errors by body and alpha, with the one c (rad/m) that all of them share; 0: default."""

    c: float
    errors: dict[str, tuple[float, ...]]


def performers_throw(rate_hz: float = RATE_HZ) -> Throw:
    """The built-in throw, on the performer's own figure."""
    clip = builtin_clip("throw", rate_hz)
    kept = [clip.skeleton.index(name) for name in _FIGURE]
    figure = Skeleton.build(j for j in clip.skeleton.joints() if j.name in _FIGURE)
    turned = np.ascontiguousarray(clip.rotations_xyzw[:, kept])
    roots = clip.roots.copy()
    kinematics = ForwardKinematics(figure)
    hand = np.zeros((len(roots), 3))
    for t in range(len(roots)):
        kinematics.update(roots[t], turned[t])
        hand[t] = kinematics.positions[figure.index("rightHand")]
    return Throw(figure, roots, turned, hand)


def abnormal_body(figure: Skeleton, name: str) -> Skeleton:
    """The figure with other limbs and another torso."""
    limb, torso = PROPORTIONS[name]
    scales = dict.fromkeys(_LIMB, limb) | dict.fromkeys(_TORSO, torso)
    return Skeleton.build(
        replace(joint, offset=scales.get(joint.name, 1.0) * np.asarray(joint.offset))
        for joint in figure.joints()
    )


def throw_errors(throw: Throw, body: Skeleton, alpha: float, c: float) -> ThrowErrors:
    """Retarget the throw, causally, with the pelvis where the performer has it."""
    effectors = (Effector("hand", body.index("rightHand"), softness_m2=0.0),)
    settings: dict[str, ParameterValue] = {"alpha": alpha, "c": c, "root_mobility": 0.0}
    solver = Egik(body, effectors, settings)
    targets = Targets.allocate(body, effectors)
    missing = np.zeros(throw.frame_count)
    turned = np.zeros_like(throw.rotations_xyzw)
    for t in range(throw.frame_count):
        targets.root[:] = throw.roots[t]
        targets.rotations_xyzw[:] = throw.rotations_xyzw[t]
        targets.positions[0] = throw.hand[t]
        targets.jump = t == 0
        solution = solver.step(targets, 1.0 / RATE_HZ)
        missing[t] = solution.residuals[0]
        turned[t] = solution.rotations_xyzw
    length = total_link_length(body)
    away = rotations.log(rotations.multiply(rotations.conjugate(throw.rotations_xyzw), turned))
    return ThrowErrors(
        hand_mean=float(missing.mean()) / length,
        hand_max=float(missing.max()) / length,
        angle_rms_rad=float(np.sqrt(np.mean(np.sum(away**2, axis=-1)))),
        jerk_ratio=_jerk(turned) / _jerk(throw.rotations_xyzw),
    )


def error_table(c: float, alphas: Sequence[float] = ALPHAS) -> ErrorTable:
    """The table for one c (rad/m); 0 is the default of five radians for the length of all links."""
    throw = performers_throw()
    return ErrorTable(
        c,
        {
            name: tuple(
                throw_errors(throw, abnormal_body(throw.figure, name), alpha, c).hand_mean
                for alpha in alphas
            )
            for name in PROPORTIONS
        },
    )


def published_unit() -> float:
    """The one c (rad/m) that puts the first body at alpha = .5 where the paper has it."""
    throw = performers_throw()
    body = abnormal_body(throw.figure, "abnorman-1")
    wanted = PUBLISHED["abnorman-1"][1]
    low, high = 0.1, 1000.0
    while high / low > 1.0 + 1e-6:
        middle = float(np.sqrt(low * high))
        if throw_errors(throw, body, 0.5, middle).hand_mean > wanted:
            low = middle
        else:
            high = middle
    return high


def _jerk(rotations_xyzw: FloatArray) -> float:
    steps = rotations.log(
        rotations.multiply(rotations.conjugate(rotations_xyzw[:-1]), rotations_xyzw[1:])
    )
    return float(np.sqrt(np.mean(np.diff(steps, 2, axis=0) ** 2)))
