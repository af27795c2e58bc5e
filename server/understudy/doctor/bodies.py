"""Measures of a performer's body from its skeleton and some frames."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from understudy.align import MotionSample, find_roles
from understudy.align.humanoid import REQUIRED_ROLES, SIDES
from understudy.doctor.facts import BodyFacts, BodyShape, Rhythm
from understudy.kinematics import FloatArray, Skeleton
from understudy.kinematics.rotations import conjugate, log, multiply

_ENOUGH = 200


def measure_body(
    skeleton: Skeleton,
    humanoid: Mapping[str, str],
    roots: FloatArray,
    rotations_xyzw: FloatArray,
) -> BodyFacts:
    """Measure a body that moved: roots (t, 3) m, full rotations (t, n, 4)."""
    given = {role: joint for role, joint in humanoid.items() if joint in skeleton}
    step = max(1, len(roots) // _ENOUGH)
    motion = MotionSample.from_frames(skeleton, roots[::step], rotations_xyzw[::step], 30.0)
    body = find_roles(skeleton, humanoid=given, motion=None if given else motion)
    roles = body.roles
    missing = tuple(role for role in REQUIRED_ROLES if role not in roles)
    if missing:
        return BodyFacts(missing=missing, refused=body.refused)
    rest = MotionSample.of_rest(skeleton).positions[0]
    at = {role: rest[joint] for role, joint in roles.items()}
    legs = [
        np.linalg.norm(at[side + "LowerLeg"] - at[side + "UpperLeg"])
        + np.linalg.norm(at[side + "Foot"] - at[side + "LowerLeg"])
        for side in SIDES
    ]
    feet = [
        roles[side + part] for side in SIDES for part in ("Foot", "Toes") if side + part in roles
    ]
    turned = log(multiply(conjugate(rotations_xyzw[0])[None], rotations_xyzw))
    shape = BodyShape(
        leg_m=float(np.mean(legs)),
        left_x=_along(at["leftUpperLeg"] - at["rightUpperLeg"], 0),
        toes_z=_along(at["leftToes"] - at["leftFoot"], 2) if "leftToes" in at else None,
        arms_off_t_deg=_arms_off_t_deg(at),
        lowest_foot_m=float(motion.positions[:, feet, 1].min()),
        moved_deg=float(np.degrees(np.linalg.norm(turned, axis=-1).max())),
    )
    return BodyFacts(problems=body.problems, refused=body.refused, shape=shape)


def measure_rhythm(arrivals_s: FloatArray) -> Rhythm | None:
    """How frames came, from when they did; None for fewer than three."""
    if len(arrivals_s) < 3:
        return None
    steps = np.diff(arrivals_s)
    usual = float(np.median(steps))
    return Rhythm(
        rate_hz=float((len(arrivals_s) - 1) / max(arrivals_s[-1] - arrivals_s[0], 1e-9)),
        jitter_ms=float(np.percentile(np.abs(steps - usual), 95) * 1e3),
        longest_gap_ms=float(steps.max() * 1e3),
    )


def _along(vector: FloatArray, axis: int) -> float | None:
    length = float(np.hypot(vector[0], vector[2]))
    return None if length < 1e-6 else float(vector[axis] / length)


def _arms_off_t_deg(at: Mapping[str, FloatArray]) -> float | None:
    """The larger angle of an upper arm to the line through both shoulders."""
    across = at["leftUpperArm"] - at["rightUpperArm"]
    if np.linalg.norm(across) < 1e-6:
        return None
    worst = 0.0
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        arm = at[side + "LowerArm"] - at[side + "UpperArm"]
        if np.linalg.norm(arm) < 1e-6:
            return None
        cosine = sign * float(arm @ across) / float(np.linalg.norm(arm) * np.linalg.norm(across))
        worst = max(worst, float(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0)))))
    return worst
