"""The enhancement of captured motion: measured angles and, beside them, a few measured points.

Points are scored by how far they stray from a constant offset to the bone that carries them. The
offsets are the means of the take's first half, taken from the very poses that are scored; the
scores are root mean squares over the second half. Where noise is added to the angles, the angles
without it are the truth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.align.markers import AttachedPoint, attach
from understudy.align.motion import MotionSample
from understudy.characters import Clip, builtin_clip
from understudy.characters.c3d import PointTake
from understudy.kinematics import FloatArray, ForwardKinematics, rotations
from understudy.runtime.enhancing import enhance, match

# Labels of the usual optical marker set; the first two groups are fed, the others only scored.
GROUPS: Final = {
    "wrists": ("LWRA", "LWRB", "RWRA", "RWRB"),
    "toes": ("LTOE", "RTOE"),
    "elbows": ("LELB", "RELB"),
    "knees": ("LKNE", "RKNE"),
}
FED: Final = GROUPS["wrists"] + GROUPS["toes"]
NOISE_DEG: Final = 3.0
# Noise of trackers and of skin is not white: this is how long it remembers, s. 0 is white.
SLOW_S: Final = 0.5

# The built-in actor's stand-in for a marker set: two points a limb are fed, two are only scored.
_ACTOR_POINTS: Final = {
    f"{side}{name}": (f"{side}{bone}", offset)
    for side, sign in (("left", 1.0), ("right", -1.0))
    for name, bone, offset in (
        ("Wrist", "LowerArm", (sign * 0.22, 0.03, 0.02)),
        ("Toe", "Foot", (0.0, -0.05, 0.15)),
        ("Elbow", "UpperArm", (sign * 0.24, 0.0, -0.04)),
        ("Knee", "UpperLeg", (sign * 0.05, -0.38, 0.0)),
    )
}
_ACTOR_FED: Final = tuple(name for name in _ACTOR_POINTS if name.endswith(("Wrist", "Toe")))


@dataclass(frozen=True, slots=True)
class Change:
    """A figure of the measured angles alone, and of the angles corrected by the points."""

    before: float
    after: float


@dataclass(frozen=True, slots=True)
class EnhancementResult:
    """Markers' deviations from a constant offset, rms cm, by group; of the others together.

    `angle_deg` is the rms turn between a joint and the truth, over all joints; None where there is
    no truth. `steps_deg` is the rms change of a joint's step from frame to frame: jitter.
    """

    noise: str
    fed_points: int
    groups_cm: dict[str, Change]
    not_fed_cm: Change
    angle_deg: Change | None
    steps_deg: Change


def run_enhancement(clip: Clip, take: PointTake, *, seed: int = 1) -> list[EnhancementResult]:
    """A real take as it is, and with white and slow noise on its angles."""
    placement, points = match(clip, take)
    first = placement.lag  # frames before it were not measured
    clip = Clip(
        clip.name, clip.skeleton, clip.rate_hz, clip.roots[first:], clip.rotations_xyzw[first:]
    )
    points = points[first:]
    half = _half(clip, points)
    names = tuple(point.name for point in placement.points)
    attached = attach(clip.skeleton, half, points[: len(half)], names)
    experiment = _Experiment(clip, attached, points, FED, GROUPS)
    return [
        experiment.run("none", clip),
        experiment.run("white", noisy(clip, NOISE_DEG, 0.0, seed), clip),
        experiment.run("slow", noisy(clip, NOISE_DEG, SLOW_S, seed), clip),
    ]


def run_synthetic_enhancement(
    *, rate_hz: float = 60.0, point_noise_m: float = 0.005, seed: int = 1
) -> EnhancementResult:
    """The built-in walk with slow noise on its angles and white noise on its points."""
    clip = builtin_clip("walk", rate_hz)
    body = clip.skeleton
    attached = tuple(
        AttachedPoint(name, body.index(bone), np.array(offset))
        for name, (bone, offset) in _ACTOR_POINTS.items()
    )
    points = _points_of(clip, attached)
    points += np.random.default_rng(seed).normal(0.0, point_noise_m, points.shape)
    groups = {
        group: tuple(name for name in _ACTOR_POINTS if name.endswith(group))
        for group in ("Wrist", "Toe", "Elbow", "Knee")
    }
    experiment = _Experiment(clip, attached, points, _ACTOR_FED, groups)
    return experiment.run("slow", noisy(clip, NOISE_DEG, SLOW_S, seed), clip)


def noisy(clip: Clip, noise_deg: float, memory_s: float, seed: int) -> Clip:
    """The clip with noise of `noise_deg` about each axis of each joint."""
    draws = np.random.default_rng(seed).standard_normal((clip.frame_count, len(clip.skeleton), 3))
    if memory_s > 0.0:
        kept = math.exp(-1.0 / (clip.rate_hz * memory_s))
        for frame in range(1, len(draws)):
            draws[frame] = kept * draws[frame - 1] + math.sqrt(1.0 - kept**2) * draws[frame]
    turns = rotations.exp(math.radians(noise_deg) * draws)
    return Clip(
        clip.name,
        clip.skeleton,
        clip.rate_hz,
        clip.roots,
        rotations.normalise(rotations.multiply(clip.rotations_xyzw, turns)),
    )


class _Experiment:
    """One take, its points on their bones, and which of them are fed."""

    def __init__(
        self,
        clip: Clip,
        attached: Sequence[AttachedPoint],
        points: FloatArray,
        fed: tuple[str, ...],
        groups: dict[str, tuple[str, ...]],
    ) -> None:
        self._skeleton = clip.skeleton
        self._joints = {point.name: point.joint for point in attached}
        self._names = tuple(self._joints)
        self._points = points
        self._fed = tuple(name for name in fed if name in self._joints)
        self._groups = groups

    def run(self, noise: str, measured: Clip, truth: Clip | None = None) -> EnhancementResult:
        columns = [self._names.index(name) for name in self._fed]
        points = self._points[:, columns]
        half = _half(measured, points)
        attached = attach(self._skeleton, half, points[: len(half)], self._fed, self._joints)
        enhanced = enhance(measured, attached, points).clip
        before, after = self._scores(measured), self._scores(enhanced)
        others = [name for name in self._names if name not in self._fed]
        return EnhancementResult(
            noise=noise,
            fed_points=len(attached),
            groups_cm={
                group: Change(_together(before, names), _together(after, names))
                for group, names in self._groups.items()
            },
            not_fed_cm=Change(_together(before, others), _together(after, others)),
            angle_deg=None
            if truth is None
            else Change(_angle_error_deg(measured, truth), _angle_error_deg(enhanced, truth)),
            steps_deg=Change(_jitter_deg(measured), _jitter_deg(enhanced)),
        )

    def _scores(self, clip: Clip) -> dict[str, float]:
        """Every point's rms deviation from its constant offset, cm."""
        motion = MotionSample.from_frames(
            clip.skeleton, clip.roots, clip.rotations_xyzw, clip.rate_hz
        )
        first = len(motion) // 2
        scores = {}
        for column, (name, joint) in enumerate(self._joints.items()):
            away = self._points[:, column] - motion.positions[:, joint]
            local = np.einsum("tba,tb->ta", motion.rotations[:, joint], away)
            deviations = local[first:] - np.nanmean(local[:first], axis=0)
            scores[name] = 100.0 * math.sqrt(np.nanmean(np.sum(deviations**2, axis=-1)))
        return scores


def _together(scores: dict[str, float], names: Sequence[str]) -> float:
    return math.sqrt(np.mean([scores[name] ** 2 for name in names if name in scores]))


def _half(clip: Clip, points: FloatArray) -> MotionSample:
    """The first half of a take, from which offsets are estimated."""
    frames = len(points) // 2
    return MotionSample.from_frames(
        clip.skeleton, clip.roots[:frames], clip.rotations_xyzw[:frames], clip.rate_hz
    )


def _points_of(clip: Clip, attached: Sequence[AttachedPoint]) -> FloatArray:
    """Where a clip's body carries its points, (T, k, 3) m."""
    body = ForwardKinematics(clip.skeleton)
    points = np.empty((clip.frame_count, len(attached), 3))
    for frame in range(clip.frame_count):
        pose = clip.pose(frame)
        body.update(pose.root, pose.rotations_xyzw)
        points[frame] = [body.point(point.joint, point.offset) for point in attached]
    return points


def _angle_error_deg(clip: Clip, truth: Clip) -> float:
    turns = rotations.log(
        rotations.multiply(rotations.conjugate(truth.rotations_xyzw), clip.rotations_xyzw)
    )
    return math.degrees(math.sqrt(np.mean(np.sum(turns**2, axis=-1))))


def _jitter_deg(clip: Clip) -> float:
    q = clip.rotations_xyzw
    steps = rotations.log(rotations.multiply(rotations.conjugate(q[:-1]), q[1:]))
    return math.degrees(math.sqrt(np.mean(np.sum(np.diff(steps, axis=0) ** 2, axis=-1))))
