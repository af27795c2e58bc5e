"""Columns of example-guided inverse kinematics' own parameters, after the common ones."""

from __future__ import annotations

from typing import Final

from understudy.solvers._kernels.frame_layout import COMMON

PASSES: Final = COMMON
ALPHA: Final = COMMON + 1
C: Final = COMMON + 2  # rad/m; 0: five radians for the length of all links
VELOCITY: Final = COMMON + 3
ACCELERATION: Final = COMMON + 4
LINKS_M: Final = COMMON + 5  # the length of all links, m; the character's, not the user's
PARAMS: Final = COMMON + 6
