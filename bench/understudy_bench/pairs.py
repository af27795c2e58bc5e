"""How well a performer's posture arrives at a character of another make, under pure copying."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.align import Alignment, MotionSample, RoleMap, Transfer
from understudy.align.evidence import flexion, standing_frames
from understudy.align.humanoid import SIDES
from understudy.align.rest_pose import CanonicalPose, canonical_pose
from understudy.characters import Body, Clip
from understudy.kinematics import FloatArray, ForwardKinematics, IntArray
from understudy.kinematics.rotations import between, matrix
from understudy.runtime.casting import body_roles, cast_performer

_LIMBS: Final = (
    ("UpperArm", "LowerArm"), ("LowerArm", "Hand"),
    ("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"),
)  # fmt: skip
_FEWEST_STANDING: Final = 3
_FLAT_DEG: Final = 5.0
_TILTED_DEG: Final = 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Performance:
    """Frames of a clip, and the body that was found in them."""

    clip: Clip
    motion: MotionSample
    roles: RoleMap

    @classmethod
    def of(cls, clip: Clip, frames: int) -> Performance:
        """About `frames` frames of a clip; the first one, often an inserted T-pose, left out."""
        step = max(1, clip.frame_count // frames)
        chosen = slice(min(1, clip.frame_count - 1), None, step)
        few = Clip(
            clip.name, clip.skeleton, clip.rate_hz / step, clip.roots[chosen],
            clip.rotations_xyzw[chosen],
        )  # fmt: skip
        motion = MotionSample.from_frames(few.skeleton, few.roots, few.rotations_xyzw, few.rate_hz)
        _, roles = cast_performer(few.skeleton, motion=motion)
        return cls(few, motion, roles)


@dataclass(frozen=True, slots=True)
class PairFigures:
    """What copying a clip to a character leaves to be desired.

    `limb_deg`: the furthest any bone of an arm or a leg points from the performer's.
    `flexion_deg`: the furthest the mean axis of a knee or an elbow lies from the one the character
    was made for. `chest_deg`: the furthest the chest is turned from the performer's.
    `trunk_deg`, `neck_deg`: how far the line from between the legs to between the arms, and the one
    from the lowest joint of the neck to the head, point from the performer's, mean. By how much
    they do so in the T-pose is how the bodies are built, and does not count; nor does a neck that
    one of the two lacks. `toe_deg`: how far footprints, from below the ankle to the toe, head from
    the performer's, mean; `ankle_line_deg` the same for the slanting line from the ankle to the toe
    while the performer's foot is flat: on a foot's edge that line swings aside, the more the
    steeper it is. `swung_line_deg`: that line wherever the foot is tilted by less than 30 degrees,
    on the floor or not. `ankle`: distance of a standing ankle from its height, mean, in parts of
    the leg. `standing`: how often a foot stands in the frames looked at; toes and ankles without
    more said are about those.

    A foot's frame has the sole's normal for Y and the toes' heading for Z, and is turned exactly as
    the performer's: what these figures find is where the two were not put alike into their feet.
    """

    limb_deg: float
    flexion_deg: float
    chest_deg: float
    trunk_deg: float
    neck_deg: float
    toe_deg: float
    ankle_line_deg: float
    swung_line_deg: float
    ankle: float
    standing: int


class Pair:
    """A performance copied to a character's body; AlignmentError says why it cannot be."""

    def __init__(self, performance: Performance, body: Body) -> None:
        self.source = performance.motion
        self.source_roles = performance.roles
        self.target_roles = body_roles(body)
        self.alignment = Alignment.build(
            performance.clip.skeleton,
            body.skeleton,
            self.source_roles,
            self.target_roles,
            source_motion=self.source,
            target_floor=body.floor_m,
        )
        self.target = copied(self.alignment, performance)
        self._source_pose = canonical_pose(
            performance.clip.skeleton, self.source_roles, self.source
        )
        self._target_pose = canonical_pose(body.skeleton, self.target_roles)

    def figures(self) -> PairFigures:
        """Measure the pair."""
        return PairFigures(
            limb_deg=self._limb_deg(),
            flexion_deg=self._flexion_deg(),
            chest_deg=self._chest_deg(),
            trunk_deg=self._line_deg(_trunk),
            neck_deg=self._line_deg(_neck) if self._both_have_necks() else 0.0,
            toe_deg=self._footprint_deg(),
            ankle_line_deg=self._ankle_line_deg(),
            swung_line_deg=self._swung_line_deg(),
            ankle=self._ankle(),
            standing=sum(len(frames) for _, frames in self._standing()),
        )

    def _limb_deg(self) -> float:
        worst = 0.0
        for side in SIDES:
            for upper, lower in _LIMBS:
                bones = [
                    sample.positions[:, roles.joint(side + lower)]
                    - sample.positions[:, roles.joint(side + upper)]
                    for sample, roles in (
                        (self.source, self.source_roles),
                        (self.target, self.target_roles),
                    )
                    if roles.joint(side + lower) >= 0
                ]
                if len(bones) == 2:
                    worst = max(worst, float(_angle_deg(*bones).max()))
        return worst

    def _flexion_deg(self) -> float:
        made_for = self._target_pose.turns
        worst = 0.0
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            for parts, axis in (
                (("UpperLeg", "LowerLeg", "Foot"), (1.0, 0.0, 0.0)),
                (("UpperArm", "LowerArm", "Hand"), (0.0, -sign, 0.0)),
            ):
                joints = [self.target_roles.joint(side + part) for part in parts]
                seen = None if -1 in joints else flexion(self.target, *joints)
                if seen is not None:
                    found = made_for[joints[0]] @ seen.upper
                    worst = max(worst, float(_angle_deg(found, np.array(axis))))
        return worst

    def _chest_deg(self) -> float:
        ours = _chests(self.source, self.source_roles, self._source_pose)
        theirs = _chests(self.target, self.target_roles, self._target_pose)
        return float(max(_angle_deg(ours[..., axis], theirs[..., axis]).max() for axis in range(3)))

    def _both_have_necks(self) -> bool:
        return bool(self.source_roles.neck and self.target_roles.neck)

    def _line_deg(self, line: Callable[[FloatArray, RoleMap], FloatArray]) -> float:
        straight = line(self._source_pose.places, self.source_roles)
        built = matrix(between(straight, line(self._target_pose.places, self.target_roles)))
        chests = _chests(self.source, self.source_roles, self._source_pose)
        ours = line(self.source.positions, self.source_roles)
        expected = chests @ built @ np.swapaxes(chests, 1, 2) @ ours[..., None]
        theirs = line(self.target.positions, self.target_roles)
        return float(_angle_deg(expected[..., 0], theirs).mean())

    def _standing(self) -> list[tuple[int, IntArray]]:
        """For each side that stands at all, the frames in which it does."""
        body = self.alignment.source_body
        found = []
        for row, foot in enumerate(body.feet):
            frames = standing_frames(self.source, int(foot), body.leg_length, self._sole(row))
            if len(frames) >= _FEWEST_STANDING:
                found.append((row, frames.astype(np.int64)))
        return found

    def _sole(self, row: int) -> FloatArray:
        """What points up (3,) in a foot of the performer that stands flat."""
        below = self.alignment.source_body.heel_points[row]
        return np.asarray(-below / max(float(np.linalg.norm(below)), 1e-9))

    def _footprint_deg(self) -> float:
        ours, theirs = (
            body.toe_points - body.heel_points
            for body in (self.alignment.source_body, self.alignment.target_body)
        )
        errors = [
            self._headings_deg(row, frames, ours[row], theirs[row])
            for row, frames in self._standing()
        ]
        return _mean(errors)

    def _ankle_line_deg(self) -> float:
        ours, theirs = self.alignment.source_body.toe_points, self.alignment.target_body.toe_points
        errors = []
        for row, frames in self._standing():
            flat = self._level(row, frames, _FLAT_DEG)
            errors.append(self._headings_deg(row, flat, ours[row], theirs[row]))
        return _mean(errors)

    def _swung_line_deg(self) -> float:
        ours, theirs = self.alignment.source_body.toe_points, self.alignment.target_body.toe_points
        errors = []
        for row in range(len(SIDES)):
            level = self._level(row, np.arange(len(self.source)), _TILTED_DEG)
            errors.append(self._headings_deg(row, level, ours[row], theirs[row]))
        return _mean(errors)

    def _level(self, row: int, frames: IntArray, most_deg: float) -> IntArray:
        """Those of `frames` in which a foot of the performer is tilted by less than `most_deg`."""
        foot = self.alignment.source_body.feet[row]
        soles = self.source.rotations[frames, foot] @ self._sole(row)
        return frames[_angle_deg(soles, np.array([0.0, 1.0, 0.0])) < most_deg]

    def _headings_deg(
        self, row: int, frames: IntArray, ours: FloatArray, theirs: FloatArray
    ) -> FloatArray:
        """How far apart two lines head, each (3,) in a foot of its body's own frame."""
        lines = (
            sample.rotations[frames, body.feet[row]] @ line * np.array([1.0, 0.0, 1.0])
            for sample, body, line in (
                (self.source, self.alignment.source_body, ours),
                (self.target, self.alignment.target_body, theirs),
            )
        )
        return _angle_deg(*lines)

    def _ankle(self) -> float:
        ours, theirs = self.alignment.source_body, self.alignment.target_body
        errors = []
        for row, frames in self._standing():
            height = self.source.positions[frames, ours.feet[row], 1]
            above = height - ours.ankle_height - ours.floor
            right = self.alignment.leg_scale * above + theirs.ankle_height
            errors.append(np.abs(self.target.positions[frames, theirs.feet[row], 1] - right))
        return _mean(errors) / theirs.leg_length


def copied(alignment: Alignment, performance: Performance) -> MotionSample:
    """The performance as the character copies it."""
    transfer = Transfer(alignment)
    kinematics = ForwardKinematics(alignment.target)
    rotations, root = np.zeros((len(alignment.target), 4)), np.zeros(3)
    places, turns = [], []
    for points, performed in zip(
        performance.motion.positions, performance.clip.rotations_xyzw, strict=True
    ):
        transfer.run(points.copy(), performed.copy(), rotations, root)
        kinematics.update(root, rotations)
        places.append(kinematics.positions.copy())
        turns.append(kinematics.rotations.copy())
    return MotionSample(np.array(places), np.array(turns), performance.motion.step_s)


def _chests(sample: MotionSample, roles: RoleMap, pose: CanonicalPose) -> FloatArray:
    """How the chest is turned (t, 3, 3) from how it is in the T-pose."""
    chest = roles.spine[-1]
    return np.asarray(sample.rotations[:, chest] @ pose.turns[chest].T)


def _trunk(points: FloatArray, roles: RoleMap) -> FloatArray:
    """The way (..., 3) m from between the legs to between the arms; `points` are (..., n, 3) m."""
    legs, arms = (
        sum(points[..., roles.roles[side + part], :] for side in SIDES)
        for part in ("UpperLeg", "UpperArm")
    )
    return np.asarray(0.5 * (arms - legs))


def _neck(points: FloatArray, roles: RoleMap) -> FloatArray:
    """The way (..., 3) m from the lowest joint of the neck to the head; `points` (..., n, 3) m."""
    return np.asarray(points[..., roles.roles["head"], :] - points[..., roles.neck[0], :])


def _mean(errors: Sequence[FloatArray]) -> float:
    """The mean of all the numbers in `errors`, 0 if there are none."""
    numbers = np.concatenate([np.zeros(0), *errors])
    return float(numbers.mean()) if len(numbers) else 0.0


def _angle_deg(a: FloatArray, b: FloatArray) -> FloatArray:
    """Angles between directions (..., 3), degrees."""
    sine = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.degrees(np.arctan2(sine, np.sum(a * b, axis=-1))))
