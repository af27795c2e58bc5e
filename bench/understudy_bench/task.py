"""One task for every solver: a walk on a body with shorter legs and arms, 78 degrees of freedom.

Hands and feet have goals (12 rows), the root is drawn to its place (3 more), and what freedom is
left imitates the performer's angles. Where the body comes from a recording, fingers are left out;
the built-in actor gets three more joints, so that both have 25.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from understudy.align.roles import find_roles
from understudy.characters import BUILTIN_CLIPS, Clip, load_clip
from understudy.kinematics import FloatArray, ForwardKinematics, Joint, Skeleton, rotations
from understudy.kinematics.limits import JointLimits
from understudy.kinematics.tasks import Effector, Targets

THIGH_SCALE: Final = 0.57
SHANK_SCALE: Final = 0.74
ARM_SCALE: Final = 0.8
# A little less than the arms' own scale: the goals stay within reach.
HAND_PATH_SCALE: Final = 0.75
LIMIT_MARGIN_RAD: Final = np.radians(5.0)

EFFECTORS: Final = ("leftHand", "rightHand", "leftFoot", "rightFoot")
_MORE_JOINTS: Final = ("head", "leftUpperLeg", "rightUpperLeg")


@dataclass(frozen=True, slots=True, eq=False)
class SolverTask:
    """T frames at `rate_hz` for a character of n joints.

    `roots` (T, 3) m and `rotations_xyzw` (T, n, 4) are the performer's posture on the character;
    `goals` (T, 4, 3) m where the `points` (4, 3) m of the joints that carry the effectors belong.
    """

    name: str
    rate_hz: float
    skeleton: Skeleton
    effectors: tuple[Effector, ...]
    points: FloatArray
    roots: FloatArray
    rotations_xyzw: FloatArray
    goals: FloatArray
    limits: JointLimits

    @property
    def frame_count(self) -> int:
        """How many frames it has."""
        return len(self.roots)

    @property
    def degrees_of_freedom(self) -> int:
        """Three of every joint and three of the root's place."""
        return 3 + 3 * len(self.skeleton)

    def targets(self) -> Targets:
        """Targets to be filled for each frame."""
        targets = Targets.allocate(self.skeleton, self.effectors)
        targets.points[:] = self.points
        return targets

    def fill(self, frame: int, targets: Targets) -> None:
        """Write a frame's goals."""
        targets.root[:] = self.roots[frame]
        targets.rotations_xyzw[:] = self.rotations_xyzw[frame]
        targets.positions[:] = self.goals[frame]
        targets.jump = frame == 0


def build_task(clip_name: str, rate_hz: float) -> SolverTask:
    """The task for a built-in clip or a file, at a rate."""
    clip = load_clip(clip_name, rate_hz)
    if clip_name in BUILTIN_CLIPS:
        source = _refined(clip)
    else:
        # Recordings often open with a T-pose that is no part of the motion.
        later = Clip(clip.name, clip.skeleton, rate_hz, clip.roots[1:], clip.rotations_xyzw[1:])
        source = _without_fingers(later)
    skeleton = source.skeleton
    roles = find_roles(skeleton).roles
    character = Skeleton.build(_shortened(skeleton, roles))
    joints = [roles[name] for name in EFFECTORS]
    tips = np.stack([_end(skeleton, j) if i < 2 else np.zeros(3) for i, j in enumerate(joints)])
    points = tips * ARM_SCALE
    roots, goals = _goals(source, roles, tips)
    return SolverTask(
        name=clip.name,
        rate_hz=rate_hz,
        skeleton=character,
        effectors=tuple(Effector(n, j) for n, j in zip(EFFECTORS, joints, strict=True)),
        points=points,
        roots=roots,
        rotations_xyzw=source.rotations_xyzw.copy(),
        goals=goals,
        limits=JointLimits.around_motion(character, source.rotations_xyzw, LIMIT_MARGIN_RAD),
    )


def _refined(clip: Clip) -> Clip:
    """A body with one more joint on the way to the head and to each leg.

    It takes half of the turn of the joint that follows, so that no joint stands still.
    """
    joints: list[Joint] = []
    for joint in clip.skeleton.joints():
        if joint.name in _MORE_JOINTS:
            half = 0.5 * np.asarray(joint.offset)
            between = Joint(f"{joint.name}Root", joint.parent, half)
            joints += [between, replace(joint, parent=between.name, offset=half)]
        else:
            joints.append(joint)
    skeleton = Skeleton.build(joints)
    local = np.tile(skeleton.rest_xyzw, (clip.frame_count, 1, 1))
    for j, name in enumerate(clip.skeleton.names):
        turned = clip.rotations_xyzw[:, j]
        if name in _MORE_JOINTS:
            turned = rotations.exp(0.5 * rotations.log(turned))
            local[:, skeleton.index(f"{name}Root")] = turned
        local[:, skeleton.index(name)] = turned
    return Clip(clip.name, skeleton, clip.rate_hz, clip.roots, local)


def _without_fingers(clip: Clip) -> Clip:
    skeleton = clip.skeleton
    roles = find_roles(skeleton).roles
    hands = {roles["leftHand"], roles["rightHand"]}
    kept = [j for j in range(len(skeleton)) if not hands & set(skeleton.ancestors(j)[:-1])]
    ends = {j: _end(skeleton, j) for j in hands}
    joints = skeleton.joints()
    pruned = Skeleton.build(
        replace(joints[j], tip=ends[j]) if j in hands else joints[j] for j in kept
    )
    return Clip(clip.name, pruned, clip.rate_hz, clip.roots, clip.rotations_xyzw[:, kept])


def _end(skeleton: Skeleton, joint: int) -> FloatArray:
    """Where the bone of a joint ends, in its frame: its tip, or its farthest child."""
    if skeleton.has_tip[joint]:
        return np.array(skeleton.tips[joint], np.float64)
    ends = [skeleton.offsets[child] for child in skeleton.children(joint)]
    farthest = max(ends, key=lambda end: float(np.linalg.norm(end)), default=np.zeros(3))
    return np.array(farthest, np.float64)


def _shortened(skeleton: Skeleton, roles: Mapping[str, int]) -> list[Joint]:
    scales = np.ones(len(skeleton))
    for side in ("left", "right"):
        scales[roles[f"{side}LowerLeg"]] = THIGH_SCALE
        scales[roles[f"{side}Foot"]] = SHANK_SCALE
        scales[roles[f"{side}LowerArm"]] = scales[roles[f"{side}Hand"]] = ARM_SCALE
    return [
        replace(joint, offset=scale * np.asarray(joint.offset))
        for joint, scale in zip(skeleton.joints(), scales, strict=True)
    ]


def _goals(
    source: Clip, roles: Mapping[str, int], tips: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where root (T, 3) and effectors (T, 4, 3) belong: paths scaled with the legs and arms."""
    skeleton = source.skeleton
    thigh = float(np.linalg.norm(skeleton.offsets[roles["leftLowerLeg"]]))
    shank = float(np.linalg.norm(skeleton.offsets[roles["leftFoot"]]))
    ratio = (THIGH_SCALE * thigh + SHANK_SCALE * shank) / (thigh + shank)
    kinematics = ForwardKinematics(skeleton)
    rest = skeleton.rest_pose()
    kinematics.update(rest.root, rest.rotations_xyzw)
    # The path of the hip joints is scaled; the root stays as far above them as it was.
    rise = np.zeros(3)
    rise[1] = kinematics.positions[0, 1] - kinematics.positions[roles["leftUpperLeg"], 1]
    roots = ratio * (source.roots - rise) + rise
    goals = np.zeros((source.frame_count, len(EFFECTORS), 3))
    for t in range(source.frame_count):
        pose = source.pose(t)
        kinematics.update(pose.root, pose.rotations_xyzw)
        for i, name in enumerate(EFFECTORS):
            reached = kinematics.point(roles[name], tips[i])
            if name.endswith("Foot"):
                goals[t, i] = ratio * reached
            else:
                shoulder = kinematics.positions[roles[name.replace("Hand", "UpperArm")]]
                arm = reached - shoulder
                goals[t, i] = roots[t] + shoulder - pose.root + HAND_PATH_SCALE * arm
    return roots, goals
