"""A skeleton as a body one can see: where its bones and joints are, and how thick."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.kinematics import FloatArray, ForwardKinematics, IntArray, Skeleton
from understudy.kinematics.rotations import between, from_matrix, multiply, rotate

# Bones shorter than this share of the body's height are not drawn.
_SHORTEST: Final = 0.008
_HEAD_RADIUS: Final = 0.068
# Thickness was chosen on a body of this many joints; others are drawn as thick.
_USUAL_JOINTS: Final = 38.0
_FORWARD: Final = np.array([0.0, 0.0, 1.0])
_MIN_HEIGHT_M: Final = 0.1

Marks = NDArray[np.bool_]


class Placement(NamedTuple):
    """Where the parts of a body are: places (k, 3) m, rotations (k, 4) as w, x, y, z."""

    bones: FloatArray
    bones_wxyz: FloatArray
    joints: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """The parts of a body of n joints, constant as long as its skeleton is.

    Bones: the joint each starts at, (b,); its vector in that joint's frame, (b, 3) m; its radius,
    (b,) m. Joints and tips, in that order: the joint, the place in its frame, the radius.
    `height` (m) is that of the rest pose.
    """

    skeleton: Skeleton
    height: float
    bone_starts: IntArray
    bone_vectors: FloatArray
    bone_radii: FloatArray
    ball_joints: IntArray
    ball_offsets: FloatArray
    ball_radii: FloatArray

    @property
    def bone_scales(self) -> FloatArray:
        """Sizes (b, 3) of the bone mesh: radius, radius, length."""
        lengths = np.linalg.norm(self.bone_vectors, axis=1)
        return np.stack([self.bone_radii, self.bone_radii, lengths], axis=1)

    @property
    def ball_scales(self) -> FloatArray:
        """Sizes (j, 3) of the ball mesh."""
        return np.repeat(self.ball_radii[:, None], 3, axis=1)


class Body:
    """A shape in motion."""

    def __init__(self, skeleton: Skeleton) -> None:
        self.shape = build_shape(skeleton)
        self.forward = ForwardKinematics(skeleton)
        self._root_from_rest = skeleton.rest_xyzw[0] * np.array([-1.0, -1.0, -1.0, 1.0])
        self._bone_turns = between(
            np.broadcast_to(_FORWARD, self.shape.bone_vectors.shape),
            self.shape.bone_vectors
            / np.linalg.norm(self.shape.bone_vectors, axis=1, keepdims=True),
        )

    def place(self, root: FloatArray, rotations_xyzw: FloatArray) -> Placement:
        """Its parts for a pose: root (3,) m and full local rotations (n, 4)."""
        forward, shape = self.forward, self.shape
        forward.update(root, rotations_xyzw)
        world_xyzw = from_matrix(forward.rotations)
        bones_xyzw = multiply(world_xyzw[shape.bone_starts], self._bone_turns)
        balls = forward.positions[shape.ball_joints] + rotate(
            world_xyzw[shape.ball_joints], shape.ball_offsets
        )
        return Placement(
            forward.positions[shape.bone_starts], np.roll(bones_xyzw, 1, axis=1), balls
        )

    def heading_rad(self, root_xyzw: FloatArray) -> float:
        """The way the body faces: its turn about the vertical from +z towards +x."""
        ahead = rotate(multiply(root_xyzw, self._root_from_rest), _FORWARD)
        return float(np.arctan2(ahead[0], ahead[2]))


def build_shape(skeleton: Skeleton) -> Shape:
    """Bones from every joint to its children and tips, thicker the more hangs on them."""
    rest = skeleton.rest_pose()
    forward = ForwardKinematics(skeleton)
    forward.update(rest.root, rest.rotations_xyzw)
    tips = np.flatnonzero(skeleton.has_tip)
    tip_places = np.array(
        [forward.point(int(i), skeleton.tips[i]) for i in tips], np.float64
    ).reshape(-1, 3)
    places = np.concatenate([forward.positions, tip_places])
    height = max(_MIN_HEIGHT_M, float(np.max(np.ptp(places, axis=0))))
    below = _descendants(skeleton) * (_USUAL_JOINTS / len(skeleton))
    children = np.arange(1, len(skeleton))
    starts = np.concatenate([skeleton.parents[children], tips])
    vectors = np.concatenate([skeleton.offsets[children], skeleton.tips[tips]])
    hanging = np.concatenate([below[children] + 1, np.zeros(len(tips))])
    lengths = np.linalg.norm(vectors, axis=1)
    kept = lengths > _SHORTEST * height
    radii = np.minimum(
        height * (0.0085 + 0.0052 * np.log2(1.0 + hanging)), np.maximum(0.3 * lengths, 1e-3)
    )
    ball_joints = np.concatenate([np.arange(len(skeleton)), tips]).astype(np.int64)
    ball_offsets = np.concatenate([np.zeros((len(skeleton), 3)), skeleton.tips[tips]])
    ball_radii = np.concatenate(
        [height * (0.0075 + 0.0026 * np.log2(1.0 + below)), np.full(len(tips), 0.006 * height)]
    )
    head = _head(skeleton, tips, tip_places)
    if head is not None:
        joint, row = head
        ball_radii[row] = _HEAD_RADIUS * height
        up = skeleton.tips[joint]
        # The ball is the head itself: its crown ends where the bone does.
        ball_offsets[row] = up * max(0.0, 1.0 - _HEAD_RADIUS * height / np.linalg.norm(up))
    return Shape(
        skeleton,
        height,
        starts[kept].astype(np.int64),
        vectors[kept],
        radii[kept],
        ball_joints,
        ball_offsets,
        ball_radii,
    )


def _descendants(skeleton: Skeleton) -> IntArray:
    """How many joints hang on each, directly or not."""
    below = np.zeros(len(skeleton), np.int64)
    for joint in range(len(skeleton) - 1, 0, -1):
        below[skeleton.parents[joint]] += below[joint] + 1
    return below


def _head(skeleton: Skeleton, tips: IntArray, tip_places: FloatArray) -> tuple[int, int] | None:
    """The joint whose tip is the crown, and that tip's row among the balls."""
    named = [k for k, i in enumerate(tips) if "head" in skeleton.names[i].lower()]
    if not named:
        return None
    best = max(named, key=lambda k: float(tip_places[k, 1]))
    return int(tips[best]), len(skeleton) + best
