"""The change between Unity's axes, which VMC speaks, and ours.

Unity is left-handed, Y up, and faces +Z with the left hand at -X. Ours is right-handed, Y up, and
faces +Z with the left hand at +X. So X is mirrored: a position's x changes sign, and a rotation,
which a mirror turns the other way about the mirrored axis, changes the sign of y and z.
"""

from __future__ import annotations

from typing import Final

import numpy as np

POSE_BYTES: Final = 7 * 4
"""A pose on the wire: position x y z, quaternion x y z w, big-endian float32."""

MIRROR: Final = np.array([-1.0, 1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
"""Factors for position x y z and quaternion x y z w, the same both ways."""
MIRROR.setflags(write=False)
