"""Columns of what every frame-by-frame solver has: common parameters, a report, past poses."""

from __future__ import annotations

from typing import Final

from understudy.solvers.base import Status

# What a step says of its frame: bits of `Status`.
LIMITED: Final = int(Status.LIMITED)
OUT_OF_REACH: Final = int(Status.OUT_OF_REACH)
HELD: Final = int(Status.HELD)

# A goal this far from what was reached counts as out of reach, m.
OUT_OF_REACH_M: Final = 0.02

# params: the common ones come first, a solver's own from COMMON on
DT: Final = 0  # s since the last frame
K1: Final = 1  # gain of the effectors' goals, per 1/30 s
ROOT_MOBILITY: Final = 2  # of the root's translation, m^2 (a joint's default is 1 rad^2)
MAX_EFFECTOR_SPEED: Final = 3  # m/s
MAX_JOINT_STEP: Final = 4  # rad a solve
EASE_S: Final = 5  # seconds over which gains rise after a jump or for a new effector
EASE_GAIN: Final = 6  # where they start
MAX_JOINT_LEAD: Final = 7  # rad/s
COMMON: Final = 8

# report (9,)
WORST: Final = 0  # m, the largest distance of a goal from what was reached
CLIPPED: Final = 1  # joints held back by a limit
SMALLEST: Final = 2  # m^2, estimate of the smallest eigenvalue of J P J^T + N
FINITE: Final = 3  # 1 if the result is finite; 0: the last pose was kept
LAST_BASE: Final = 4  # memory: the base of the last frame
FRESH: Final = 5  # memory: after a reset, 1 starts at the first frame's posture, 2 from a pose
LEVENBERG: Final = 6  # memory: how much shorter than Gauss and Newton's the last steps had to be
UNREACHED: Final = 7  # memory: m, what the corrections of the last frame have left
BEFORE: Final = 8  # memory: m, WORST of the frame before the last one
REPORT: Final = 9

# poses (7, n, 4) and roots (7, HEAD_FLOATS)
POSE: Final = 0  # the character's: the last frame's until this one's takes its place
LAST: Final = 1  # the performer's in the last frame
NOW: Final = 2  # the performer's now, or on the way there after a jump
KEPT: Final = 3  # the character's last good one
PRIOR: Final = 4  # what the character would do if no effector had a goal
BEST: Final = 5  # scratch: the best pose so far in this frame
TRACKED: Final = 6  # the performer's, as a filter knows it
POSES: Final = 7

# ease (2, k + 1): how long (s) each effector's goal has been followed, and last the performer's
# posture; how far (m) each effector is from its goal

# marks (4, k, GOAL_FLOATS); WANTED is a solver's own
LAST_GOALS: Final = 0
WANTED: Final = 1
EASED: Final = 2  # goals, short of the given ones by what is left of an old discrepancy
AIMED: Final = 3  # goals, none of them farther away than it could matter
MARKS: Final = 4
