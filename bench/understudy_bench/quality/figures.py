"""The figures of one retargeted clip, each with one definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy.kinematics import FloatArray, rotations
from understudy_bench.quality.run import Take
from understudy_bench.quality.truth import STRICT_SPEED, WIDE_SPEED, ContactTruth, find_contacts

BoolArray = NDArray[np.bool_]

WARM_UP_S: Final = 0.25
_TEAR_DEG: Final = 25.0  # between neighbouring frames at 120 Hz
_TEAR_FRAMES: Final = 4
_POP_FACTOR: Final = 1.5
_POP_DEG_PER_S: Final = 240.0
_HIGH_HZ: Final = 7.5
_VIOLATION_RAD: Final = np.radians(0.1)
_LIMITED: Final = 4
JUDGED_SHARE: Final = 0.10


@dataclass(frozen=True, slots=True)
class Slide:
    """Planar speed (cm/s) of the pivot points while they are planted; `planted` is their share."""

    mean: float
    p95: float
    source_mean: float
    source_p95: float
    planted: float

    @property
    def judged(self) -> bool:
        """Whether enough of the clip is planted for the figure to say anything."""
        return self.planted >= JUDGED_SHARE


@dataclass(frozen=True, slots=True)
class Figures:
    """Everything measured on one clip, one character and one solver."""

    clip: str
    character: str
    solver: str
    rate_hz: float
    frames: int
    error_mean_cm: float
    error_max_cm: float
    error_limited_max_cm: float
    slide_strict: Slide
    slide_wide: Slide
    penetration_cm: float
    float_cm: float
    jerk_ratio: float
    high_frequency_ratio: float
    deviation_deg: float
    limb_error_deg: float
    pops: int
    pops_at_tears: int
    tears: int
    violations: int
    not_finite: int
    solve_p50_us: float
    solve_p99_us: float


def score(take: Take) -> Figures:
    """All figures of a take; the first quarter of a second is left out of each."""
    rate = take.clip.rate_hz
    first = max(1, int(np.ceil(WARM_UP_S * rate)))
    scored = slice(first, None)
    torn = _near_tears(take)
    calm = ~torn[scored]
    limited = (take.statuses[scored] & _LIMITED) != 0
    errors = 100.0 * take.residuals_m[scored]
    usual = errors[calm & ~limited] if np.any(calm & ~limited) else np.zeros((1, 1))
    bound = errors[calm & limited]
    strict = find_contacts(take.source_points, rate, STRICT_SPEED)
    wide = find_contacts(take.source_points, rate, WIDE_SPEED)
    steps = _steps(take.rotations_xyzw)
    copied = _steps(take.copied_xyzw)
    pops, at_tears = _pops(steps, copied, torn, rate, first)
    violations = 0
    if take.limits is not None:
        excess = take.limits.excess_rad(take.rotations_xyzw[scored])
        violations = int(np.sum(excess > _VIOLATION_RAD))
    planted = wide.planted[scored]
    heights = 100.0 * take.target_points[scored, :, 1]
    ledges = 100.0 * take.alignment.leg_scale * wide.ledges[scored]
    floating = np.maximum(heights - ledges, 0.0)[planted]
    return Figures(
        clip=take.clip.name,
        character=take.character,
        solver=take.solver,
        rate_hz=rate,
        frames=take.clip.frame_count,
        error_mean_cm=float(usual.mean()),
        error_max_cm=float(usual.max()),
        error_limited_max_cm=float(bound.max()) if bound.size else 0.0,
        slide_strict=_slide(take, strict, scored, calm),
        slide_wide=_slide(take, wide, scored, calm),
        penetration_cm=float(max(0.0, -heights.min())),
        float_cm=float(floating.mean()) if floating.size else 0.0,
        jerk_ratio=_jerk(steps[first:]) / max(_jerk(copied[first:]), 1e-12),
        high_frequency_ratio=_high(steps[first:], rate) / max(_high(copied[first:], rate), 1e-12),
        deviation_deg=_deviation(take, scored),
        limb_error_deg=_limb_error(take, scored),
        pops=pops,
        pops_at_tears=at_tears,
        tears=int(np.sum(_torn(take))),
        violations=violations,
        not_finite=int(np.sum(~np.isfinite(take.rotations_xyzw))),
        solve_p50_us=float(np.percentile(take.solve_us[scored], 50)),
        solve_p99_us=float(np.percentile(take.solve_us[scored], 99)),
    )


def _steps(rotations_xyzw: FloatArray) -> FloatArray:
    """Rotation vectors (T - 1, n, 3) rad between neighbouring frames."""
    return rotations.log(
        rotations.multiply(rotations.conjugate(rotations_xyzw[:-1]), rotations_xyzw[1:])
    )


def _torn(take: Take) -> BoolArray:
    """Frames (T,) at which the capture is torn: a joint other than a toe or finger jumps."""
    body = take.alignment.source_body
    skeleton = take.clip.skeleton
    ends = {int(joint) for joint in (*body.toes, *body.hands) if joint >= 0}
    judged = [
        j
        for j in range(len(skeleton))
        if j not in body.toes and not ends.intersection(skeleton.ancestors(j)[:-1])
    ]
    angles = np.linalg.norm(_steps(take.clip.rotations_xyzw), axis=-1)[:, judged]
    limit = np.radians(_TEAR_DEG * 120.0 / take.clip.rate_hz)
    out = np.zeros(take.clip.frame_count, np.bool_)
    out[1:] = angles.max(axis=1) > limit
    out[:2] = False  # the step from an inserted T-pose is no tear
    return out


def _near_tears(take: Take) -> BoolArray:
    torn = _torn(take)
    out = torn.copy()
    for at in np.flatnonzero(torn):
        out[max(0, at - _TEAR_FRAMES) : at + _TEAR_FRAMES + 1] = True
    return out


def _pops(
    steps: FloatArray, copied: FloatArray, torn: BoolArray, rate_hz: float, first: int
) -> tuple[int, int]:
    """Joint-frames that step farther than the source thereabouts: away from tears, at them."""
    size = np.linalg.norm(steps, axis=-1)
    own = np.linalg.norm(copied, axis=-1)
    padded = np.pad(own, ((2, 2), (0, 0)), mode="edge")
    nearby = np.max([padded[k : k + len(own)] for k in range(5)], axis=0)
    limit = _POP_FACTOR * nearby + np.radians(_POP_DEG_PER_S) / rate_hz
    popped = (size > limit).sum(axis=1)
    at_tear = torn[1:]
    popped[:first] = 0
    return int(popped[~at_tear].sum()), int(popped[at_tear].sum())


def _slide(take: Take, truth: ContactTruth, scored: slice, calm: BoolArray) -> Slide:
    rate = take.clip.rate_hz
    pivots = truth.pivots()
    ours: list[FloatArray] = []
    theirs: list[FloatArray] = []
    for foot in range(2):
        for point in (2 * foot, 2 * foot + 1):
            still = (pivots[1:, foot] == point) & (pivots[:-1, foot] == point)
            still[: scored.start - 1] = False
            still[scored.start - 1 :] &= calm
            for points, out in ((take.target_points, ours), (take.source_points, theirs)):
                step = np.diff(points[:, point], axis=0)[still]
                out.append(100.0 * rate * np.hypot(step[:, 0], step[:, 2]))
    mine, source = np.concatenate(ours), np.concatenate(theirs) * take.alignment.leg_scale
    if not mine.size:
        return Slide(0.0, 0.0, 0.0, 0.0, 0.0)
    return Slide(
        float(mine.mean()),
        float(np.percentile(mine, 95)),
        float(source.mean()),
        float(np.percentile(source, 95)),
        float(np.mean(pivots[scored] >= 0)),
    )


def _jerk(steps: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.diff(steps, 2, axis=0) ** 2)))


def _high(steps: FloatArray, rate_hz: float) -> float:
    spectrum = np.abs(np.fft.rfft(steps, axis=0)) ** 2
    high = np.fft.rfftfreq(len(steps), 1.0 / rate_hz) > _HIGH_HZ
    return float(spectrum[high].sum())


def _deviation(take: Take, scored: slice) -> float:
    mapped = take.alignment.source_a >= 0
    difference = rotations.log(
        rotations.multiply(
            rotations.conjugate(take.copied_xyzw[scored][:, mapped]),
            take.rotations_xyzw[scored][:, mapped],
        )
    )
    return float(np.degrees(np.sqrt(np.mean(np.sum(difference**2, axis=-1)))))


def _limb_error(take: Take, scored: slice) -> float:
    dots = np.sum(take.source_limbs[scored] * take.target_limbs[scored], axis=-1)
    present = np.linalg.norm(take.source_limbs[scored], axis=-1) > 0.5
    return float(np.degrees(np.arccos(np.clip(dots[present], -1.0, 1.0))).mean())
