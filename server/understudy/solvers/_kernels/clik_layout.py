"""Columns of the filter's parameters and of its report."""

from __future__ import annotations

# params (15,)
DT = 0
K1 = 1  # gain of the primary task, per 1/30 s
K2 = 2  # gain of the imitation, per 1/30 s
CORRECTIONS = 3
ROOT_MOBILITY = 4  # of the root's translation, m^2 (a joint's default is 1 rad^2)
DAMPING = 5  # largest added damping, m^2
SINGULAR = 6  # squared singular value below which damping sets in, m^2
MAX_EFFECTOR_SPEED = 7  # m/s
MAX_JOINT_STEP = 8  # rad a solve
EASE_S = 9  # seconds over which gains rise after a jump or for a new effector
EASE_GAIN = 10  # where they start
MAX_GOAL_STEP = 11  # m: a longer way of a goal between two frames is walked in substeps
DEXTERITY = 12  # s_min / s_max below which the gains are reduced; 0 leaves them
PAPER = 13  # 1: predict by J^+ dx
ELIMINATE = 14  # 1: the base's six coordinates are eliminated; 0: the body is moved at the end
PARAMS = 15

# report (6,)
WORST = 0  # m, the largest distance of a goal from what was reached
CLIPPED = 1  # joints held back by a limit
SMALLEST = 2  # m^2, estimate of the smallest eigenvalue of J P J^T + N
FINITE = 3  # 1 if the result is finite; 0: the last pose was kept
LAST_BASE = 4  # memory: the base of the last frame
FRESH = 5  # memory: after a reset, 1 starts at the first frame's posture, 2 eases in from a pose
REPORT = 6

MAX_SUBSTEPS = 8
