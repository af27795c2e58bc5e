"""Everything constant about driving one body with another, ready for the compiled transfer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.align._kernels.transfer import transfer
from understudy.align.chains import Share, neck_shares, trunk_shares
from understudy.align.humanoid import ALL_ROLES, SIDES
from understudy.align.motion import MotionSample
from understudy.align.proportions import Proportions, measure
from understudy.align.rest_pose import CanonicalPose, canonical_pose
from understudy.align.roles import RoleMap
from understudy.align.twins import rest_turns, shared_joints
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, IntArray, Skeleton
from understudy.kinematics.rotations import from_matrix

_SHORTEST_LIMB_M = 1e-4


class AlignmentError(UnderstudyError):
    """Two bodies that cannot be aligned; the text says which one lacks what."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """Constants that turn a source's pose into a target's; arrays are writable copies for kernels.

    For n_t target joints: `source_a`, `source_b` (n_t,), the source joints whose world rotations
    drive each target joint (-1: it keeps its rest rotation to its parent), `blend` (n_t,) of the
    way from a to b, `post_a`, `post_b` (n_t, 4) the constants C = K_source^T K_target, so that

        world_from_target = slerp(G_a C_a, G_b C_b, blend).

    `verbatim` (n_t,): the source joint whose parent_from_joint rotation is copied to the bit, or
    -1. `hands` (n_t,): for a forearm that takes half of its hand's twist the hand, else -1, with
    the forearm's bone `forearm_axes` (n_t, 3) and `untwisted_xyzw` (n_t, 4) hand_from_forearm.
    `leg_scale` is target over source, `arm_ratios` (2,) likewise, left and right. `root_to_hips`
    (3,) m leads from the target's root to its hips in the world. `hip_tilt` (0 to 1] is the part of
    the sine of the source's sideways tilt of the hips that the target, if wider there, takes over.
    `twins`: both bodies have the
    same joints and rest pose, so angles are copied as they are. `needs_calibration`: the source's
    rest pose is no posture and no motion was given, so limbs may be rolled about themselves.
    """

    source: Skeleton
    target: Skeleton
    source_body: Proportions
    target_body: Proportions
    source_a: IntArray
    source_b: IntArray
    blend: FloatArray
    post_a: FloatArray
    post_b: FloatArray
    verbatim: IntArray
    hands: IntArray
    forearm_axes: FloatArray
    untwisted_xyzw: FloatArray
    leg_scale: float
    arm_ratios: FloatArray
    root_to_hips: FloatArray
    hip_tilt: float
    twins: bool
    needs_calibration: bool

    @classmethod
    def build(
        cls,
        source: Skeleton,
        target: Skeleton,
        source_roles: RoleMap,
        target_roles: RoleMap,
        *,
        source_motion: MotionSample | None = None,
        target_motion: MotionSample | None = None,
        target_floor: float | None = None,
    ) -> Alignment:
        """Align two bodies; AlignmentError names the body and what it lacks."""
        _check("the performer", source_roles)
        _check("the character", target_roles)
        shared = shared_joints(source, target, source_roles, target_roles)
        source_pose = canonical_pose(source, source_roles, source_motion)
        target_pose = canonical_pose(target, target_roles, target_motion)
        source_body = measure(source, source_roles, source_pose, motion=source_motion)
        target_body = measure(target, target_roles, target_pose, rest_floor=target_floor)
        source_turns, target_turns = source_pose.turns, target_pose.turns
        shares = _shares(source_roles, target_roles, source_pose, target_pose)
        if shared:
            source_turns, target_turns = rest_turns(source), rest_turns(target)
            shares.update((theirs, Share.whole(ours)) for ours, theirs in shared.items())
        _check_limbs("the performer", source_body)
        _check_limbs("the character", target_body)
        n = len(target)
        source_a = np.full(n, -1, np.int64)
        source_b = np.full(n, -1, np.int64)
        blend = np.zeros(n)
        for joint, share in shares.items():
            source_a[joint], source_b[joint], blend[joint] = share.a, share.b, share.blend
        post_a = _constants(source_turns, target_turns, source_a)
        post_b = _constants(source_turns, target_turns, source_b)
        hands, axes, untwisted = _twist_sharing(target, target_roles, target_pose, shares)
        if shared:
            hands[:] = -1
        return cls(
            source=source,
            target=target,
            source_body=source_body,
            target_body=target_body,
            source_a=source_a,
            source_b=source_b,
            blend=blend,
            post_a=post_a,
            post_b=post_b,
            verbatim=_verbatim(source, target, source_a, blend, post_a)
            if shared
            else np.full(n, -1, np.int64),
            hands=hands,
            forearm_axes=axes,
            untwisted_xyzw=untwisted,
            leg_scale=target_body.leg_length / source_body.leg_length,
            arm_ratios=target_body.arm_lengths / source_body.arm_lengths,
            root_to_hips=_root_to_hips(target, target_body.hips),
            hip_tilt=1.0 if shared else _hip_tilt(source_body, target_body),
            twins=bool(shared),
            needs_calibration=source_pose.guessed and not shared,
        )


class Transfer:
    """Applies an alignment frame by frame, in buffers of its own.

    `source_world` (n_s, 4) and `world` (n_t, 4) hold both bodies' world rotations afterwards.
    """

    def __init__(self, alignment: Alignment) -> None:
        self.alignment = alignment
        self.source_world: FloatArray = np.zeros((len(alignment.source), 4))
        self.world: FloatArray = np.zeros((len(alignment.target), 4))
        self.twist: FloatArray = np.full(len(alignment.target), np.nan)
        self._source_parents = alignment.source.parents.copy()
        self._source_legs = alignment.source_body.legs
        self._hips = alignment.target_body.hips
        self._links, self._constants, self._body = _packed(alignment)

    def reset(self) -> None:
        """Forget the last frame: the next one does not continue it."""
        self.twist[:] = np.nan

    @property
    def arrays(self) -> tuple[FloatArray | IntArray, ...]:
        """What the compiled transfer reads and writes besides the two poses, in its order."""
        return (
            self._links, self._constants, self._source_legs, self._body,
            self.twist, self.source_world, self.world,
        )  # fmt: skip

    def run(
        self,
        source_positions: FloatArray,
        source_rotations_xyzw: FloatArray,
        rotations_xyzw: FloatArray,
        root: FloatArray,
    ) -> None:
        """Fill `rotations_xyzw` (n_t, 4) and `root` (3,) from a source pose.

        `source_positions` (n_s, 3) m are world positions, `source_rotations_xyzw` (n_s, 4) full
        parent_from_joint rotations; all are writable, C-contiguous float64 arrays.
        """
        transfer(
            self._source_parents, source_rotations_xyzw, source_positions,
            self._links, self._constants, self._source_legs, self._body, self._hips,
            self.twist, self.source_world, self.world, rotations_xyzw, root,
        )  # fmt: skip


def _packed(a: Alignment) -> tuple[IntArray, FloatArray, FloatArray]:
    """An alignment in the three tables the compiled transfer reads."""
    links = np.stack([a.target.parents, a.source_a, a.source_b, a.verbatim, a.hands], axis=1)
    constants = np.concatenate(
        [
            a.target.rest_xyzw, a.post_a, a.post_b, a.untwisted_xyzw, a.forearm_axes,
            a.blend[:, None],
        ],
        axis=1,
    )  # fmt: skip
    ours, theirs = a.source_body, a.target_body
    body = np.concatenate(
        [
            [ours.leg_length, a.leg_scale, ours.floor + ours.ankle_height, theirs.ankle_height],
            a.root_to_hips, theirs.leg_offsets.ravel(), theirs.leg_bones.ravel(),
            [a.hip_tilt],
        ]
    )  # fmt: skip
    return np.ascontiguousarray(links), np.ascontiguousarray(constants), body


def _check(who: str, body: RoleMap) -> None:
    if body.refused is not None:
        raise AlignmentError(f"{who} cannot be aligned: {body.refused}")


def _check_limbs(who: str, body: Proportions) -> None:
    """A bone without length has no direction, and would divide by zero."""
    for row, side in enumerate(SIDES):
        for length, what in (
            (body.leg_bones[row, 0], "thigh"),
            (body.leg_bones[row, 1], "shin"),
            (body.arm_lengths[row], "arm"),
        ):
            if length < _SHORTEST_LIMB_M:
                raise AlignmentError(f"{who} cannot be aligned: its {side} {what} has no length")


def _shares(
    source: RoleMap, target: RoleMap, source_pose: CanonicalPose, target_pose: CanonicalPose
) -> dict[int, Share]:
    """What drives each target joint: trunk and neck as chains, everything else role to role."""
    shares = trunk_shares(source, target, source_pose, target_pose)
    shares |= neck_shares(source, target, source_pose, target_pose)
    for role in ALL_ROLES:
        joint = target.joint(role)
        if joint < 0 or joint in shares:
            continue
        driver = source.joint(role)
        if driver < 0 and role in ("leftShoulder", "rightShoulder"):
            driver = source.spine[-1]
        if driver >= 0:
            shares[joint] = Share.whole(driver)
    return shares


def _constants(source: FloatArray, target: FloatArray, driver: IntArray) -> FloatArray:
    """C = K_source^T K_target as quaternions (n_t, 4); identity where nothing drives."""
    turns = np.tile(np.eye(3), (len(driver), 1, 1))
    driven = np.flatnonzero(driver >= 0)
    turns[driven] = np.swapaxes(source[driver[driven]], 1, 2) @ target[driven]
    return np.ascontiguousarray(from_matrix(turns))


def _verbatim(
    source: Skeleton,
    target: Skeleton,
    driver: IntArray,
    blend: FloatArray,
    constants: FloatArray,
) -> IntArray:
    """Joints whose own and whose parent's axes are the source's: their rotations are the same."""
    same_axes = (np.abs(constants[:, 3]) > 1.0 - 1e-15) & (blend == 0.0)
    verbatim = np.full(len(target), -1, np.int64)
    for joint, parent in enumerate(target.parents):
        ours = int(driver[joint])
        if ours < 0 or not same_axes[joint]:
            continue
        above = int(source.parents[ours])
        if (parent < 0 and above < 0) or (
            parent >= 0 and above >= 0 and driver[parent] == above and same_axes[parent]
        ):
            verbatim[joint] = ours
    return verbatim


def _twist_sharing(
    target: Skeleton, body: RoleMap, pose: CanonicalPose, shares: dict[int, Share]
) -> tuple[IntArray, FloatArray, FloatArray]:
    n = len(target)
    hands = np.full(n, -1, np.int64)
    axes = np.zeros((n, 3))
    untwisted = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        lower, hand = body.joint(side + "LowerArm"), body.joint(side + "Hand")
        if hand < 0 or lower not in shares or hand not in shares:
            continue
        hands[lower] = hand
        axes[lower] = pose.turns[lower].T @ np.array([sign, 0.0, 0.0])
        untwisted[lower] = from_matrix(pose.turns[hand].T @ pose.turns[lower])
    return hands, axes, untwisted


def _hip_tilt(source: Proportions, target: Proportions) -> float:
    """The source's hips' width over the target's, each in parts of its leg; 1 if that is wider."""
    ours, theirs = (
        float(np.linalg.norm(body.leg_offsets[0] - body.leg_offsets[1])) / body.leg_length
        for body in (source, target)
    )
    return 1.0 if theirs <= ours else ours / theirs


def _root_to_hips(target: Skeleton, hips: int) -> FloatArray:
    rest = MotionSample.of_rest(target)
    return np.ascontiguousarray(rest.positions[0, hips] - rest.positions[0, 0])
