"""The change between Unity's axes, which VMC speaks, and ours.

Unity is left-handed, Y up, and faces +Z with the left hand at -X. Ours is right-handed, Y up, and
faces +Z with the left hand at +X. So X is mirrored: a position's x changes sign, and a rotation,
which a mirror turns the other way about the mirrored axis, changes the sign of y and z.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from understudy_protocol.limits import FRAME_UNIT_TOLERANCE, MAX_MAGNITUDE

POSE_BYTES: Final = 7 * 4
"""A pose on the wire: position x y z, quaternion x y z w, big-endian float32."""

MIRROR: Final = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
"""Factors for position x y z and quaternion x y z w, the same both ways."""
MIRROR.setflags(write=False)

# The sums of squares of a pose's position and quaternion, as one product, and their bounds.
_SUMS: Final = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 4)
_LOW: Final = np.array([0.0, (1.0 - FRAME_UNIT_TOLERANCE) ** 2])
_HIGH: Final = np.array([MAX_MAGNITUDE**2, (1.0 + FRAME_UNIT_TOLERANCE) ** 2])


def poses_from_wire(
    wire: Iterable[bytes],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Positions (k, 3) m and unit rotations x y z w (k, 4) in our axes, and which are good (k,).

    A pose is good if it is finite, not absurdly far and its quaternion is about a unit one; the
    numbers of the others are meaningless.
    """
    with np.errstate(invalid="ignore", divide="ignore"):  # NaN, infinity and zero are not good.
        poses = np.frombuffer(b"".join(wire), ">f4").reshape(-1, 7) * MIRROR
        sums = np.square(poses) @ _SUMS
        good = ((sums >= _LOW) & (sums <= _HIGH)).all(axis=1)
        return poses[:, :3].copy(), poses[:, 3:] / np.sqrt(sums[:, 1:]), good
