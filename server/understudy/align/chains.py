"""Trunks and necks with different numbers of joints: who takes which share of the bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.align.humanoid import SIDES
from understudy.align.rest_pose import CanonicalPose
from understudy.align.roles import RoleMap
from understudy.kinematics import FloatArray


@dataclass(frozen=True, slots=True)
class Share:
    """A target joint turns with source joint `a`, or `blend` (0..1) of the way from `a` to `b`."""

    a: int
    b: int
    blend: float

    @classmethod
    def whole(cls, joint: int) -> Share:
        """All of one source joint's turn."""
        return cls(joint, joint, 0.0)


def trunk_shares(
    source: RoleMap, target: RoleMap, source_pose: CanonicalPose, target_pose: CanonicalPose
) -> dict[int, Share]:
    """What drives the target's hips and spine, by how high up the trunk each of them bends it.

    A trunk is the way from between the legs to between the arms: rigs put their hips, chest and
    neck joints in all kinds of places, but not the joints of their limbs.
    """
    ours = (source.roles["hips"], *source.spine)
    theirs = (target.roles["hips"], *target.spine)
    marks = _trunk_marks(source, source_pose), _trunk_marks(target, target_pose)
    shares = dict(zip(theirs, distribute(ours, *marks), strict=True))
    # Legs and arms hang on the ends, which turn exactly as the source's do.
    shares[theirs[0]], shares[theirs[-1]] = Share.whole(ours[0]), Share.whole(ours[-1])
    return shares


def neck_shares(
    source: RoleMap, target: RoleMap, source_pose: CanonicalPose, target_pose: CanonicalPose
) -> dict[int, Share]:
    """What drives the target's neck and head; chest and head share a neck the source lacks."""
    head = source.roles["head"]
    if source.neck:
        ours, marks = source.neck, _neck_marks(source, source_pose)
    else:
        ours, marks = (source.spine[-1], head), np.array([0.0, 1.0])
    found = distribute(ours, marks, _neck_marks(target, target_pose))
    return dict(zip(target.neck, found, strict=True)) | {target.roles["head"]: Share.whole(head)}


def distribute(
    source: Sequence[int], source_marks: FloatArray, target_marks: FloatArray
) -> list[Share]:
    """What drives each joint of a target chain: the source's turn at the same mark.

    Marks, 0 to 1 and rising, say how far along its chain each joint's bone lies. Between two of the
    source's joints their turns are blended; beyond its ends there is nothing to blend with.
    """
    shares = []
    for mark in target_marks:
        above = int(np.searchsorted(source_marks, mark, side="right"))
        if above in (0, len(source)):
            shares.append(Share.whole(source[max(above - 1, 0)]))
            continue
        low, high = source_marks[above - 1 : above + 1]
        shares.append(Share(source[above - 1], source[above], float((mark - low) / (high - low))))
    return shares


def bone_middles(points: FloatArray) -> FloatArray:
    """How far along a chain (0 to 1) the middle of each of its k bones lies.

    `points` (k + 1, 3) m are its joints and the end of its last bone; what counts is how far each
    is on the straight way from the first to the last.
    """
    way = points[-1] - points[0]
    length = float(np.linalg.norm(way))
    if length < 1e-9:
        marks = np.linspace(0.0, 1.0, len(points))
    else:
        marks = np.clip((points - points[0]) @ way / length**2, 0.0, 1.0)
    marks = np.maximum.accumulate(marks)
    return np.asarray(0.5 * (marks[:-1] + marks[1:]))


def _trunk_marks(body: RoleMap, pose: CanonicalPose) -> FloatArray:
    legs, arms = (
        np.mean([pose.places[body.roles[side + part]] for side in SIDES], axis=0)
        for part in ("UpperLeg", "UpperArm")
    )
    return bone_middles(np.array([legs, *pose.places[list(body.spine)], arms]))


def _neck_marks(body: RoleMap, pose: CanonicalPose) -> FloatArray:
    return bone_middles(pose.places[[*body.neck, body.roles["head"]]])
