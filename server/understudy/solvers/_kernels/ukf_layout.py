"""Columns of the Kalman sweep's own parameters, after the common ones."""

from __future__ import annotations

from typing import Final

from understudy.solvers._kernels.frame_layout import COMMON

PASSES: Final = COMMON
FORM: Final = COMMON + 1  # 0: iterated, 1: as published
SIGMA_RAD: Final = COMMON + 2  # the sigma points' step, rad
KAPPA: Final = COMMON + 3  # of the published form
CARRY: Final = COMMON + 4  # 1: the performer is tracked, covariance and all
AGILITY: Final = COMMON + 5  # rad/s^1.5 and m/s^1.5: root of the density of accelerations
NOISE_RAD: Final = COMMON + 6
NOISE_M: Final = COMMON + 7
PARAMS: Final = COMMON + 8
