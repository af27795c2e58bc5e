"""Columns of the filter's own parameters, after the common ones."""

from __future__ import annotations

from typing import Final

from understudy.solvers._kernels.frame_layout import COMMON

K2: Final = COMMON  # gain of the imitation, per 1/30 s
CORRECTIONS: Final = COMMON + 1
DAMPING: Final = COMMON + 2  # largest added damping, m^2
SINGULAR: Final = COMMON + 3  # squared singular value below which damping sets in, m^2
MAX_GOAL_STEP: Final = COMMON + 4  # m: a longer way of a goal is walked in substeps
DEXTERITY: Final = COMMON + 5  # s_min / s_max below which the gains are reduced; 0 leaves them
PAPER: Final = COMMON + 6  # 1: predict by J^+ dx
ELIMINATE: Final = COMMON + 7  # 1: the base's coordinates are eliminated; 0: moved to at the end
PARAMS: Final = COMMON + 8

MAX_SUBSTEPS: Final = 8
