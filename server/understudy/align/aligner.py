"""A performer's frame in, the character's targets out: transfer, contacts and goals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final, Literal

import numpy as np

from understudy.align._kernels import contacts as contact_kernels
from understudy.align._kernels import follow as follow_kernel
from understudy.align._kernels import goals as goal_kernels
from understudy.align._kernels import hands as hand_kernels
from understudy.align.alignment import Alignment, Transfer
from understudy.align.motion import MotionSample
from understudy.align.proportions import Proportions
from understudy.align.roles import RoleMap, find_roles
from understudy.kinematics import FloatArray, ForwardKinematics, IntArray, Skeleton
from understudy.kinematics.compiled import Call, direct, entry_of
from understudy.kinematics.tables import ArrayTable
from understudy.kinematics.tasks import Effector, Targets

Stride = Literal["scaled", "performed"]

CONTACT_NAMES: Final = ("leftToe", "leftHeel", "rightToe", "rightHeel")
HAND_CONTACT_NAMES: Final = ("leftHand", "rightHand")

# Squared lengths by which goals yield: feet are firm, hands give in before the body is torn.
FOOT_SOFTNESS_M2: Final = 1e-6
HAND_SOFTNESS_M2: Final = 1e-3

# The angle between thigh and shin of a fully bent knee.
_FOLDED_KNEE_RAD: Final = math.radians(20.0)

# How much (log of their ratio) upper arm and forearm may divide otherwise than the performer's for
# hands to go where the performer's do, and from where on arms are posed as the performer's instead.
_ARMS_ALIKE: Final = 0.3
_ARMS_UNLIKE: Final = 0.7

_follow: Final = direct(follow_kernel.follow)
_ENTRY: Final = entry_of(follow_kernel.follow, "i8(i8, f8, i8)")

# A planted foot may be held this far from the performer's own place, as a share of the leg.
_LARGEST_OFFSET: Final = 0.12 / 0.83


class Aligner:
    """Drives one character with one performer.

    `targets` is filled by every `align`; `effectors` are both hands and both feet, in the order of
    its rows; `contact_names` name its `contacts`. `stride` says whether the character's steps are
    scaled to its legs or as long as the performer's. `hand_contacts`: hands that rest on something
    are held too, and counted among the contacts.
    """

    def __init__(
        self,
        source: Skeleton,
        target: Skeleton,
        *,
        source_roles: RoleMap | None = None,
        target_roles: RoleMap | None = None,
        source_motion: MotionSample | None = None,
        target_humanoid: Mapping[str, str] | None = None,
        target_floor: float | None = None,
        stride: Stride = "scaled",
        lock_feet: bool = True,
        hand_contacts: bool = False,
    ) -> None:
        alignment = Alignment.build(
            source,
            target,
            find_roles(source, motion=source_motion) if source_roles is None else source_roles,
            find_roles(target, humanoid=target_humanoid) if target_roles is None else target_roles,
            source_motion=source_motion,
            target_floor=target_floor,
        )
        self._prepare(alignment, stride, lock_feet, hand_contacts)

    def _prepare(
        self, alignment: Alignment, stride: Stride, lock_feet: bool, hand_contacts: bool
    ) -> None:
        self.alignment = alignment
        source, target = alignment.source, alignment.target
        ours, theirs = alignment.target_body, alignment.source_body
        self._source_joints, self._source_points = _limbs(theirs)
        self._target_joints, self._target_points = _limbs(ours)
        self._sole = np.array([_toe_height(theirs), _toe_height(ours)])
        self.effectors = _effectors(target, self._target_joints)
        self.contact_names = CONTACT_NAMES + (HAND_CONTACT_NAMES if hand_contacts else ())
        self.targets = Targets.allocate(target, self.effectors, len(self.contact_names))
        self._source = ForwardKinematics(source)
        self._target = ForwardKinematics(target)
        self._transfer = Transfer(self.alignment)
        self._settings = _detector_settings()
        self._constants = np.zeros(goal_kernels.CONSTANTS)
        self._constants[goal_kernels.SCALE] = self.alignment.leg_scale
        self._constants[goal_kernels.LEG] = ours.leg_length
        self._constants[goal_kernels.ARM_LEFT : goal_kernels.ARM_RIGHT + 1] = (
            self.alignment.arm_ratios
        )
        self._constants[goal_kernels.POSTURE] = _arm_posture(theirs, ours)
        self._constants[goal_kernels.LARGEST_OFFSET] = _LARGEST_OFFSET * ours.leg_length
        self._constants[goal_kernels.FOLDED] = _folded_leg(target, ours)
        scale = alignment.leg_scale if stride == "scaled" else 1.0
        wider = _excess(_hip_width(target, ours), scale * _hip_width(source, theirs))
        self._constants[goal_kernels.STRIDE] = scale
        self._constants[goal_kernels.WIDER] = 0.5 * wider
        self._constants[goal_kernels.LONGER] = _excess(
            _foot_length(ours), scale * _foot_length(theirs)
        )
        self._constants[goal_kernels.LOCK] = lock_feet
        self._contact_state = np.zeros((4, contact_kernels.POINT_STATE))
        self._feet = np.zeros((2, goal_kernels.FOOT_STATE))
        self._memory = np.zeros(goal_kernels.MEMORY)
        self._points = np.zeros((4, 3))
        self._hand_contacts = np.zeros((2, contact_kernels.POINT_STATE))
        rest = source.rest_pose()
        self._root, self._rotations = rest.root, rest.rotations_xyzw
        self._table = ArrayTable(
            self._root, self._rotations,
            self._source.parents, self._source.offsets,
            self._source.positions, self._source.rotations,
            *self._transfer.arrays,
            self._target.parents, self._target.offsets,
            self._target.positions, self._target.rotations,
            self._source_joints, self._source_points, self._target_joints, self._target_points,
            self._sole, self._settings, self._constants, self._contact_state, self._feet,
            self._memory, self._points, self.targets.head, self.targets.rotations_xyzw,
            self.targets.goals, self.targets.contacts,
            theirs.palms, ours.palms, _hand_settings(),
            self._hand_contacts, np.zeros((2, hand_kernels.HAND_STATE)),
            np.zeros(1), np.zeros((2, 3)),
            np.array([ours.hips], np.int64), np.array([theirs.floor + theirs.ankle_height]),
        )  # fmt: skip

    @property
    def toe_heights(self) -> tuple[float, float]:
        """How high the toe points of flat feet are above the floor, performer and character, m."""
        return float(self._sole[0]), float(self._sole[1])

    @property
    def loose_joints(self) -> frozenset[int]:
        """The performer's toes and fingers: joints that may turn as fast as they like."""
        body, source = self.alignment.source_body, self.alignment.source
        ends = {int(j) for j in (*body.toes, *body.hands) if j >= 0}
        below = {j for j in range(len(source)) if ends.intersection(source.ancestors(j)[:-1])}
        return frozenset(below | {int(j) for j in body.toes if j >= 0})

    def with_settings(self, stride: Stride, lock_feet: bool) -> Aligner:
        """An aligner of the same bodies with other settings, and without a past."""
        other = Aligner.__new__(Aligner)
        hand_contacts = len(self.contact_names) > len(CONTACT_NAMES)
        other._prepare(self.alignment, stride, lock_feet, hand_contacts)
        return other

    def learn_from(self, other: Aligner) -> None:
        """Take over what an aligner of the same bodies has seen of the performer.

        That is the floor, the contacts and the turns of the forearms, up to the last frame, which
        both have aligned. Where its own feet are is not touched.
        """
        self._memory[:] = other._memory
        self._contact_state[:] = other._contact_state
        self._hand_contacts[:] = other._hand_contacts
        self._transfer.twist[:] = other._transfer.twist
        self.targets.contacts[:] = other.targets.contacts

    @property
    def call(self) -> Call | None:
        """What `align` does to a pose in the arrays it was given last, unless that is a jump."""
        if self._memory[goal_kernels.STARTED] == 0.0:
            return None
        return Call(_ENTRY, self._table.address)

    def reset(self) -> None:
        """Forget the past: the next frame continues nothing."""
        self._memory[:] = 0.0
        self._transfer.reset()

    def align(
        self, root: FloatArray, rotations_xyzw: FloatArray, dt: float, jump: bool = False
    ) -> Targets:
        """The targets for a performer's pose that comes `dt` seconds after the last.

        `root` (3,) m and `rotations_xyzw` (n, 4) are writable, C-contiguous float64 arrays. `jump`
        says that the pose does not continue the last one.
        """
        if root is not self._root or rotations_xyzw is not self._rotations:
            self._root, self._rotations = root, rotations_xyzw
            self._table.put(follow_kernel.SOURCE_ROOT, root)
            self._table.put(follow_kernel.SOURCE_Q, rotations_xyzw)
        if jump or self._memory[goal_kernels.STARTED] == 0.0:
            # The floor is not known yet: one look at the pose finds it.
            self._transfer.reset()
            _follow(self._table.address, dt, True)
        _follow(self._table.address, dt, jump)
        return self.targets


def _limbs(body: Proportions) -> tuple[IntArray, FloatArray]:
    """Joints (9,): hands, upper arms, feet, upper legs, hips; points (6, 3): wrists, toes, heels.

    The wrist is what the arm reaches with: hands differ in length more than arms do, and the palm
    follows by the hand's own rotation.
    """
    hands = np.where(body.hands >= 0, body.hands, body.lower_arms)
    joints = np.concatenate(
        [hands, body.upper_arms, body.feet, body.upper_legs, np.array([body.hips])]
    )
    wrists = np.where(body.hands[:, None] >= 0, 0.0, body.palms)
    points = np.concatenate([wrists, body.toe_points, body.heel_points])
    return np.ascontiguousarray(joints, np.int64), np.ascontiguousarray(points)


def _toe_height(body: Proportions) -> float:
    """How high the toe point of a flat foot is above the floor, m."""
    heights = []
    for toe, heel in zip(body.toe_points, body.heel_points, strict=True):
        down = float(np.linalg.norm(heel))
        heights.append(0.0 if down < 1e-6 else float((toe - heel) @ -heel) / down)
    return float(np.mean(heights))


def _folded_leg(target: Skeleton, body: Proportions) -> float:
    """The distance from hip to ankle with the knee fully bent, m."""
    rest = MotionSample.of_rest(target).positions[0]
    thigh = float(np.linalg.norm(rest[body.lower_legs[0]] - rest[body.upper_legs[0]]))
    shin = float(np.linalg.norm(rest[body.feet[0]] - rest[body.lower_legs[0]]))
    return math.sqrt(thigh**2 + shin**2 - 2.0 * thigh * shin * math.cos(_FOLDED_KNEE_RAD))


def _hip_width(skeleton: Skeleton, body: Proportions) -> float:
    """The distance between the upper-leg joints, m."""
    rest = MotionSample.of_rest(skeleton).positions[0]
    left, right = body.upper_legs
    return float(np.linalg.norm(rest[left] - rest[right]))


def _foot_length(body: Proportions) -> float:
    """How far ahead of its heel the toe of a flat foot is, m."""
    lengths = np.linalg.norm(body.toe_points - body.heel_points, axis=1)
    return math.sqrt(max(0.0, float(np.mean(lengths)) ** 2 - _toe_height(body) ** 2))


def _excess(ours: float, expected: float) -> float:
    """How much longer than expected our length is, as a share of it."""
    return (ours - expected) / max(ours, 1e-3)


def _arm_posture(theirs: Proportions, ours: Proportions) -> float:
    """0 for arms that divide into upper arm and forearm as the performer's do, 1 for others."""
    bones = np.log(np.maximum([theirs.arm_bones, ours.arm_bones], 1e-4))
    divided = bones[..., 0] - bones[..., 1]
    differ = float(np.mean(np.abs(divided[1] - divided[0])))
    return min(max((differ - _ARMS_ALIKE) / (_ARMS_UNLIKE - _ARMS_ALIKE), 0.0), 1.0)


def _effectors(target: Skeleton, joints: IntArray) -> tuple[Effector, ...]:
    hands = [
        Effector(f"{side}Hand", int(joint), softness_m2=HAND_SOFTNESS_M2)
        for side, joint in zip(("left", "right"), joints[0:2], strict=True)
    ]
    feet = [
        Effector(
            f"{side}Foot",
            int(joint),
            orientation="exact" if target.kinds[joint] == 0 else "free",
            softness_m2=FOOT_SOFTNESS_M2,
        )
        for side, joint in zip(("left", "right"), joints[4:6], strict=True)
    ]
    return (*hands, *feet)


def _detector_settings() -> FloatArray:
    settings = np.zeros(contact_kernels.SETTINGS)
    settings[contact_kernels.CUTOFF_HZ] = 12.0
    settings[contact_kernels.NEAR] = 0.035
    settings[contact_kernels.FAR] = 0.06
    settings[contact_kernels.SLOW] = 0.20
    settings[contact_kernels.FAST] = 0.30
    settings[contact_kernels.SINKING] = 0.35
    settings[contact_kernels.RISING] = 0.20
    settings[contact_kernels.STILL] = 0.05
    settings[contact_kernels.MOVING] = 0.15
    settings[contact_kernels.ON_S] = 0.02
    settings[contact_kernels.STILL_S] = 0.15
    settings[contact_kernels.RAMP_IN_S] = 0.04
    settings[contact_kernels.RAMP_OUT_S] = 0.08
    settings[contact_kernels.NOISY] = 1.75
    settings[contact_kernels.OFF_S] = 0.02
    settings[contact_kernels.CARRY_S] = 0.04
    settings[contact_kernels.FREE_HZ] = 20.0
    return settings


def _hand_settings() -> FloatArray:
    """As for feet, but a palm that carries is higher: it is a point within the hand."""
    settings = _detector_settings()
    settings[contact_kernels.NEAR] = 0.10
    settings[contact_kernels.FAR] = 0.14
    return settings
