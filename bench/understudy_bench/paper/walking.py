"""The walking experiment of *Online motion retargetting*: the lower body of Table 1.

30 degrees of freedom (eight ball joints and the base), eight constraint rows: the toe tip of the
swing leg (six) and the pelvis in x and z (two). The toe tip of the stance leg is the base. The
performer's own toe tips are the goals, unscaled, so the shorter legs must take bigger steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.characters import builtin_character, builtin_clip
from understudy.characters.builtin.walk import walk_stance
from understudy.kinematics import FloatArray, ForwardKinematics, IntArray, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, ParameterValue

PUBLISHED_MAX_ERROR_CM = 1.0464
LOWER_BODY = (
    "hips",
    "leftUpperLeg",
    "leftLowerLeg",
    "leftFoot",
    "leftToes",
    "rightUpperLeg",
    "rightLowerLeg",
    "rightFoot",
    "rightToes",
)


@dataclass(frozen=True, slots=True)
class WalkingResult:
    """What came of one run: errors and slides in cm, speeds in m/s."""

    max_error_cm: float
    mean_error_cm: float
    worst_frame: int
    stance_slide_cm: float
    largest_switch_step_cm: float
    pelvis_speed_spread: float
    source_pelvis_speed_spread: float
    frames: int
    rows: int
    degrees_of_freedom: int


@dataclass(frozen=True, slots=True, eq=False)
class _Walk:
    """The performer's lower body: local rotations (T, 9, 4), pelvis (T, 3) and toe tips."""

    rate_hz: float
    rotations_xyzw: FloatArray
    pelvis: FloatArray
    toes: FloatArray
    toe_turns_xyzw: FloatArray
    stance: IntArray


def lower_body(name: str) -> Skeleton:
    """Pelvis and legs of a built-in body."""
    kept = set(LOWER_BODY)
    return Skeleton.build(j for j in builtin_character(name).joints() if j.name in kept)


def run_walking(
    parameters: Mapping[str, ParameterValue],
    *,
    rate_hz: float = 30.0,
    hold_pelvis: bool = True,
    character: str = "short-legs",
) -> WalkingResult:
    """Retarget the 13-step walk to the shorter legs."""
    walk = _performed(rate_hz)
    body = lower_body(character)
    toes = [body.index("leftToes"), body.index("rightToes")]
    effectors = [
        Effector("leftToe", toes[0], orientation="rows"),
        Effector("rightToe", toes[1], orientation="rows"),
        Effector("pelvis", 0, axes=(True, False, True)),
    ]
    solver = Clik(body, effectors, {"eliminate": 1, "ease_gain": 1.0, **parameters})
    targets = Targets.allocate(body, effectors)
    kinematics = ForwardKinematics(body)
    frames = len(walk.pelvis)
    errors = np.zeros(frames)
    tips = np.zeros((frames, 2, 3))
    pelvis = np.zeros((frames, 3))
    for t in range(frames):
        stance = int(walk.stance[t])
        targets.root[:] = walk.pelvis[t]
        targets.rotations_xyzw[:] = walk.rotations_xyzw[t]
        for foot in range(2):
            targets.points[foot] = body.tips[toes[foot]]
            targets.positions[foot] = walk.toes[t, foot]
            targets.orientations_xyzw[foot] = walk.toe_turns_xyzw[t, foot]
            targets.strengths[foot] = 0.0 if foot == stance else 1.0
        targets.positions[2] = walk.pelvis[t]
        targets.strengths[2] = float(hold_pelvis)
        targets.base = stance
        targets.planted[:] = 0.0
        targets.planted[stance] = 1.0
        targets.jump = t == 0
        solution = solver.step(targets, 1.0 / rate_hz)
        kinematics.update(solution.root.copy(), solution.rotations_xyzw)
        for foot in range(2):
            tips[t, foot] = kinematics.point(toes[foot], body.tips[toes[foot]])
        pelvis[t] = solution.root
        errors[t] = np.linalg.norm(tips[t, 1 - stance] - walk.toes[t, 1 - stance])
    scored = slice(max(1, int(0.25 * rate_hz)), None)
    steady = np.flatnonzero(walk.stance[1:] == walk.stance[:-1]) + 1
    slides = [np.linalg.norm(tips[t, walk.stance[t]] - tips[t - 1, walk.stance[t]]) for t in steady]
    switches = np.flatnonzero(walk.stance[1:] != walk.stance[:-1]) + 1
    jolts = np.linalg.norm(pelvis[2:] - 2.0 * pelvis[1:-1] + pelvis[:-2], axis=1)
    return WalkingResult(
        max_error_cm=100.0 * float(errors[scored].max()),
        mean_error_cm=100.0 * float(errors[scored].mean()),
        worst_frame=int(np.argmax(errors[scored])) + scored.start,
        stance_slide_cm=100.0 * float(max(slides)),
        largest_switch_step_cm=100.0 * float(max(jolts[t - 1] for t in switches)),
        pelvis_speed_spread=_spread(pelvis, rate_hz),
        source_pelvis_speed_spread=_spread(walk.pelvis, rate_hz),
        frames=frames,
        rows=6 + (2 if hold_pelvis else 0),
        degrees_of_freedom=3 * (len(body) - 1) + 6,
    )


def _performed(rate_hz: float) -> _Walk:
    clip = builtin_clip("walk", rate_hz)
    full = clip.skeleton
    joints = [full.index(name) for name in LOWER_BODY]
    kinematics = ForwardKinematics(full)
    toes = np.zeros((clip.frame_count, 2, 3))
    turns = np.zeros((clip.frame_count, 2, 4))
    for t in range(clip.frame_count):
        pose = clip.pose(t)
        kinematics.update(pose.root, pose.rotations_xyzw)
        for foot, name in enumerate(("leftToes", "rightToes")):
            joint = full.index(name)
            toes[t, foot] = kinematics.point(joint, full.tips[joint])
            turns[t, foot] = rotations.from_matrix(kinematics.rotations[joint])
    return _Walk(
        rate_hz,
        np.ascontiguousarray(clip.rotations_xyzw[:, joints]),
        np.array(clip.roots),
        toes,
        turns,
        walk_stance(rate_hz).astype(np.int64),
    )


def _spread(pelvis: FloatArray, rate_hz: float) -> float:
    """How uneven the pelvis moves along its way: the spread of its speed over the mean."""
    speed = np.linalg.norm(np.diff(pelvis[:, [0, 2]], axis=0), axis=1) * rate_hz
    inner = speed[int(rate_hz) : -int(rate_hz)]
    return float(inner.std() / inner.mean())
