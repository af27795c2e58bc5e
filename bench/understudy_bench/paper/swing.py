"""The bat swing of *Online motion retargetting*: three bodies, nine constraint rows.

The upper body has 42 degrees of freedom: five torso joints, the neck, and shoulder, upper arm,
lower arm and hand of both sides. The pelvis is the base; both hands' positions (six rows) and the
orientation of the topmost torso segment (three) are constrained to the performer's, unmodified.
The torso's joints are not measured: their angles are drawn to zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from understudy.characters.builtin import builtin_character, builtin_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton, rotations
from understudy.kinematics.tasks import Effector, Targets
from understudy.solvers import Clik, ParameterValue

BODIES = ("bat-a", "bat-b", "bat-c")
TORSO = ("spine", "spine2", "chest", "chest2", "upperChest")
_LEFT_OUT = ("Leg", "Foot", "Toes", "head")


@dataclass(frozen=True, slots=True)
class SwingResult:
    """One body's swing.

    `lean_deg`: how far the line from pelvis to neck leans forward of the performer's, mean over
    the swing; `shift_cm`: how far the neck is forward of the performer's; `bend_deg`: mean over
    the swing of the summed bending angles of the torso joints; `twist_deg`: how far the line
    through the shoulders turns against the pelvis over the swing, largest minus smallest. (The top
    of the torso itself is turned as the performer's by a constraint.)
    """

    body: str
    max_error_cm: float
    mean_error_cm: float
    lean_deg: float
    shift_cm: float
    bend_deg: float
    twist_deg: float
    frames: int
    rows: int
    degrees_of_freedom: int


def upper_body(name: str) -> Skeleton:
    """Pelvis, torso, neck and arms of a built-in body."""
    return Skeleton.build(
        j for j in builtin_character(name).joints() if not any(part in j.name for part in _LEFT_OUT)
    )


def run_swing(
    body_name: str, parameters: Mapping[str, ParameterValue], *, rate_hz: float = 30.0
) -> SwingResult:
    """Retarget the swing to one body."""
    clip = builtin_clip("bat-swing", rate_hz)
    source, body = clip.skeleton, upper_body(body_name)
    hands = [body.index("leftHand"), body.index("rightHand")]
    top = body.index("upperChest")
    effectors = [
        Effector("leftHand", hands[0]),
        Effector("rightHand", hands[1]),
        Effector("torso", top, axes=(False, False, False), orientation="rows"),
        Effector("pelvis", 0),
    ]
    solver = Clik(body, effectors, {"eliminate": 1, **parameters})
    targets = Targets.allocate(body, effectors)
    theirs, ours = ForwardKinematics(source), ForwardKinematics(body)
    measured = {
        j: source.index(name)
        for j, name in enumerate(body.names)
        if name not in TORSO and name in source
    }
    errors = np.zeros((clip.frame_count, 2))
    necks = np.zeros((clip.frame_count, 2, 3))
    bends = np.zeros(clip.frame_count)
    twists = np.zeros(clip.frame_count)
    shoulders = [body.index("leftUpperArm"), body.index("rightUpperArm")]
    forward = np.zeros((clip.frame_count, 3))
    neck = (source.index("neck"), body.index("neck"))
    for t in range(clip.frame_count):
        pose = clip.pose(t)
        theirs.update(pose.root, pose.rotations_xyzw)
        targets.root[:] = pose.root
        targets.rotations_xyzw[:] = body.rest_xyzw
        for j, i in measured.items():
            targets.rotations_xyzw[j] = pose.rotations_xyzw[i]
        for side, name in enumerate(("leftHand", "rightHand")):
            targets.positions[side] = theirs.positions[source.index(name)]
        chest = source.index("upperChest")
        targets.orientations_xyzw[2] = rotations.from_matrix(theirs.rotations[chest])
        targets.positions[3] = pose.root
        targets.orientations_xyzw[3] = pose.rotations_xyzw[0]
        targets.strengths[3] = 0.0
        targets.base = 3
        targets.jump = t == 0
        solution = solver.step(targets, 1.0 / rate_hz)
        ours.update(solution.root.copy(), solution.rotations_xyzw)
        errors[t] = np.linalg.norm(ours.positions[hands] - targets.positions[:2], axis=1)
        necks[t] = (
            theirs.positions[neck[0]] - pose.root,
            ours.positions[neck[1]] - solution.root,
        )
        bends[t] = _bend(body, solution.rotations_xyzw)
        line = ours.rotations[0].T @ (ours.positions[shoulders[0]] - ours.positions[shoulders[1]])
        twists[t] = np.arctan2(-line[2], line[0])
        forward[t] = theirs.rotations[0][:, 2]
    scored = slice(max(1, int(0.25 * rate_hz)), None)
    ahead = np.einsum("tbk,tk->tb", necks, forward)
    lean = np.degrees(np.arctan2(ahead, necks[..., 1]))
    return SwingResult(
        body=body_name,
        max_error_cm=100.0 * float(errors[scored].max()),
        mean_error_cm=100.0 * float(errors[scored].mean()),
        lean_deg=float(np.mean(lean[scored, 1] - lean[scored, 0])),
        shift_cm=100.0 * float(np.mean(ahead[scored, 1] - ahead[scored, 0])),
        bend_deg=float(np.degrees(bends[scored].mean())),
        twist_deg=float(np.degrees(np.ptp(np.unwrap(twists)[scored]))),
        frames=clip.frame_count,
        rows=9,
        degrees_of_freedom=3 * (len(body) - 1),
    )


def _bend(body: Skeleton, rotations_xyzw: FloatArray) -> float:
    """Summed angles (rad) by which the torso joints bend the spine (the y axis)."""
    bend = 0.0
    for name in TORSO:
        x, _, z, _ = rotations_xyzw[body.index(name)]
        bend += 2.0 * float(np.arcsin(min(1.0, np.hypot(x, z))))
    return bend
