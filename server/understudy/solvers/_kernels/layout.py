"""Columns of the packed arrays that the compiled solvers share.

A call into compiled code pays for every array it is given (about 80 ns each), so what belongs to a
joint, an effector or a block of rows lies in one row of one array.
"""

from __future__ import annotations

from typing import Final

# joints_i (n, 4): the tree, and what a joint may do
PARENT: Final = 0
EXACT: Final = 1  # effector whose orientation this joint meets in closed form, or -1
LIMITED: Final = 2  # 1 where swing and twist are limited
FREEDOM: Final = 3  # 0 ball, 1 hinge, 2 fixed
JOINT_INTS: Final = 4

# joints_f (n, 42)
OFFSET: Final = 0  # 3: m, in the parent's frame
MOBILITY: Final = 3  # how readily the joint leaves the performer's angle (rad^2)
AXIS: Final = 4  # 3: a hinge's axis in its own frame
CENTRE: Final = 7  # 4: the middle of a limited joint's range, parent_from_joint
BASIS: Final = 11  # 9: rows e1, e2 (swing) and a (twist, along the bone) in the joint's frame
LOW: Final = 20  # 3: sin(half swing) about e1 and e2, tan(half twist) about a
HIGH: Final = 23  # 3
RANGE: Final = 26  # 4 x 4: from parent_from_joint to the turn from CENTRE in the axes of BASIS
JOINT_FLOATS: Final = 42

# effectors_i (k, 4)
JOINT: Final = 0
POSITION_BLOCK: Final = 1  # number of its block of position rows, or -1
ORIENTATION_BLOCK: Final = 2  # number of its block of orientation rows, or -1
PLAIN: Final = 3  # 1 where all three world axes count, so that SELECT is the identity
EFFECTOR_INTS: Final = 4

# effectors_f (k, 12)
SELECT: Final = 0  # 9: rows are the axes that count, in the world; zero rows do not count
SOFTNESS: Final = 9  # m^2
ARM: Final = 10  # m for one radian of orientation error
FARTHEST: Final = 11  # m: a goal farther from the root's place counts as one this far
EFFECTOR_FLOATS: Final = 12

# blocks (b, 3): three rows of the Jacobian each
BLOCK_EFFECTOR: Final = 0
BLOCK_TURNS: Final = 1  # 1 for orientation rows
BLOCK_INTS: Final = 2

# chains (1 + k, b, 1 + 2 * depth): count, joints, signs; table 0 without a base, 1 + e with base e
# world (n, 12): position, then world_from_joint row by row
POSITION: Final = 0
ROTATION: Final = 3

# head (6,) of the targets
ROOT: Final = 0
BASE: Final = 3
BASE_HOLD: Final = 4
JUMP: Final = 5
HEAD_FLOATS: Final = 6

# goals (k, 12) of the targets
POINT: Final = 0
GOAL: Final = 3
TURN: Final = 6
STRENGTH: Final = 10
PLANTED: Final = 11
GOAL_FLOATS: Final = 12
