"""A character's pose in humanoid bones: every rotation the identity in the T-pose, or as it is.

Rigs differ in how the axes of a joint lie in its bone. Avatars have agreed on axes that do not
depend on the rig: in the T-pose, facing +Z, every bone's axes are those of the world. With K_j the
world rotation of joint j in the T-pose, a bone's world rotation is N_j = G_j K_j^T, which is the
identity there, and its local one N_p^T N_j, p being the bone above it. The `raw` alternative leaves
the rig's own axes, N_j = G_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from understudy.align._kernels.bones import bones_of
from understudy.align.motion import MotionSample
from understudy.align.posture import places_of
from understudy.align.rest_pose import canonical_pose
from understudy.align.roles import RoleMap
from understudy.kinematics import FloatArray, IntArray, Skeleton
from understudy.kinematics.rotations import from_matrix

_HALF_TURN: Final = np.diag([-1.0, 1.0, -1.0])


class HumanoidBones:
    """The pose of a skeleton as rotations of chosen joints, each local to the one `above` it.

    `hips` (3,) m and `rotations_xyzw` (b, 4) are overwritten by every `update`; bone 0 is the hips,
    whose rotation is in the world. `offsets` (b, 3) m: where each bone sits in the one above it at
    rest, in that one's axes.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        joints: Sequence[int],
        above: Sequence[int],
        turns: FloatArray,
        axes: FloatArray,
    ) -> None:
        """`joints` (b,) of the skeleton; `above` (b,): number of the bone above, -1 for the hips.

        `turns` (n, 3, 3): world rotation of every joint in the pose that `offsets` are taken from;
        `axes` (b, 3, 3): joint_from_bone.
        """
        self.hips: FloatArray = np.zeros(3)
        self.rotations_xyzw: FloatArray = np.zeros((len(joints), 4))
        self.offsets = _offsets(skeleton, joints, above, turns, axes)
        self._parents: IntArray = skeleton.parents.copy()
        self._joint_offsets = skeleton.offsets.copy()
        self._joints = np.array(joints, np.int64)
        self._above = np.array(above, np.int64)
        self._axes = np.ascontiguousarray(from_matrix(axes))
        self._world: FloatArray = np.zeros((len(skeleton), 4))
        self._turned: FloatArray = np.zeros((len(joints), 4))

    @classmethod
    def normalised(
        cls, skeleton: Skeleton, joints: Sequence[int], above: Sequence[int], turns: FloatArray
    ) -> HumanoidBones:
        """Bones that are at the identity when joints are turned by `turns`; see `t_pose`."""
        axes = np.swapaxes(turns[list(joints)], 1, 2)
        return cls(skeleton, joints, above, turns, axes)

    @classmethod
    def raw(
        cls, skeleton: Skeleton, joints: Sequence[int], above: Sequence[int], *, turned: bool
    ) -> HumanoidBones:
        """Bones in the rig's own axes; `turned` if the rig's file faces -Z.

        Such a rig was turned about at load, its joints' axes with it; who reads the file mirrors
        those axes the other way, which is the same half turn once more.
        """
        axes = np.tile(_HALF_TURN if turned else np.eye(3), (len(joints), 1, 1))
        return cls(skeleton, joints, above, MotionSample.of_rest(skeleton).rotations[0], axes)

    def update(self, root: FloatArray, rotations_xyzw: FloatArray) -> None:
        """Take a pose of the skeleton: `root` (3,) m, `rotations_xyzw` (n, 4), both writable."""
        bones_of(
            self._parents,
            self._joint_offsets,
            root,
            rotations_xyzw,
            self._joints,
            self._above,
            self._axes,
            self._world,
            self._turned,
            self.hips,
            self.rotations_xyzw,
        )


def t_pose(
    skeleton: Skeleton, body: RoleMap, *, at_rest: bool, motion: MotionSample | None = None
) -> FloatArray:
    """World rotations (n, 3, 3) of the joints in the T-pose, facing +Z.

    `at_rest`: the rest pose is the T-pose by definition. Otherwise limbs are laid out as they
    should be, rolled as `motion` shows if there is some, and what no role is known of keeps its
    rest rotation to its parent.
    """
    if at_rest:
        return np.asarray(MotionSample.of_rest(skeleton).rotations[0])
    return canonical_pose(skeleton, body, motion).turns


def _offsets(
    skeleton: Skeleton,
    joints: Sequence[int],
    above: Sequence[int],
    turns: FloatArray,
    axes: FloatArray,
) -> FloatArray:
    places = places_of(skeleton, turns)
    offsets = np.zeros((len(joints), 3))
    for bone, (joint, parent) in enumerate(zip(joints, above, strict=True)):
        if parent >= 0:
            world_from_bone = turns[joints[parent]] @ axes[parent]
            offsets[bone] = world_from_bone.T @ (places[joint] - places[joints[parent]])
    return offsets
