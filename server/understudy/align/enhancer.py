"""The performer's own body, its angles corrected by points that were measured beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from understudy.align._kernels.points import STATE, set_point_goals
from understudy.align.markers import ANGLE_ERROR_RAD, AttachedPoint, MarkerError
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton
from understudy.kinematics.tasks import Effector, Targets

# One step leads to the most probable posture. Corrections would go on until the points are met,
# noise and all.
SOLVER_PARAMETERS: Final[Mapping[str, Mapping[str, float]]] = {"clik": {"corrections": 0}}

# The time in which a point that is lost or found gives up or takes its influence, s.
EASE_S: Final = 0.25
# A point this far from where the angles put it is somebody else's, m.
FARTHEST_M: Final = 0.5
# Offsets of one body agree to this, as numbers of 32 bits do, m.
SAME_M: Final = 1e-4


def check_same_body(source: Skeleton, character: Skeleton) -> None:
    """MarkerError names the first joint in which two bodies differ."""
    if source.names != character.names or not np.array_equal(source.parents, character.parents):
        raise MarkerError(
            f"the performer's body of {len(source)} joints is not the character's of"
            f" {len(character)}; enhancement needs the same body on both sides"
        )
    apart = np.linalg.norm(source.offsets[1:] - character.offsets[1:], axis=-1)
    if np.any(apart > SAME_M):
        joint = 1 + int(apart.argmax())
        raise MarkerError(
            f"joint {source.names[joint]!r} of the performer is {1e3 * apart.max():.1f} mm from the"
            " character's; enhancement needs the same body on both sides"
        )


class Enhancer:
    """The aligner of a body with itself: posture as measured, measured points as goals.

    `effectors` are the points, in the order given. Each yields by the square of its own error over
    `angle_error_rad`, how far off the angles are thought to be (a standard deviation): with
    `SOLVER_PARAMETERS` the solver's answer is then the most probable posture, and a point's noise
    is spread over the joints in proportion instead of becoming jitter.
    """

    contact_names: tuple[str, ...] = ()

    def __init__(
        self,
        skeleton: Skeleton,
        points: Sequence[AttachedPoint],
        *,
        angle_error_rad: float = ANGLE_ERROR_RAD,
    ) -> None:
        if not points:
            raise MarkerError("the body has no markers; enhancement needs at least one")
        self.skeleton = skeleton
        self.effectors = tuple(
            Effector(point.name, point.joint, softness_m2=(point.error_m / angle_error_rad) ** 2)
            for point in points
        )
        self.targets = Targets.allocate(skeleton, self.effectors)
        self._joints = np.array([point.joint for point in points], np.int64)
        self._offsets = np.array([point.offset for point in points], np.float64)
        self._body = ForwardKinematics(skeleton)
        self._measured = np.full((len(points), 3), np.nan)
        self._state = np.zeros((len(points), STATE))
        self._started = False

    @property
    def loose_joints(self) -> frozenset[int]:
        """Joints at the body's ends, which may turn as fast as they like."""
        body = self.skeleton
        return frozenset(j for j in range(len(body)) if not body.children(j))

    call: Final[None] = None
    """Measured points come in by a call of their own, which another kernel cannot make."""

    def reset(self) -> None:
        """Forget the past: the next frame continues nothing."""
        self._measured.fill(np.nan)
        self._started = False

    def measure(self, points: FloatArray) -> None:
        """Take the points (k, 3) m of the frame to be aligned next; NaN where one is not seen."""
        self._measured[:] = points

    def align(
        self, root: FloatArray, rotations_xyzw: FloatArray, dt: float, jump: bool = False
    ) -> Targets:
        """The targets for a pose that comes `dt` seconds after the last, and its points."""
        targets = self.targets
        self._body.update(root, rotations_xyzw)
        set_point_goals(
            self._body.positions,
            self._body.rotations,
            self._joints,
            self._offsets,
            self._measured,
            dt,
            EASE_S,
            FARTHEST_M,
            jump or not self._started,
            self._state,
            targets.goals,
        )
        targets.root[:] = root
        targets.rotations_xyzw[:] = rotations_xyzw
        targets.jump = jump
        self._measured.fill(np.nan)
        self._started = True
        return targets
