"""What every solver does with its pose, over the table of its arrays: measure, linearise, move.

`goals` (k, 12) are those that count in this stage; `table` is the row of `chains` and `member`:
0, or 1 + e where effector e is the base.
"""

from __future__ import annotations

from understudy.kinematics.compiled import part
from understudy.solvers._kernels.body import errors, forward
from understudy.solvers._kernels.frame_layout import MAX_JOINT_STEP, POSE
from understudy.solvers._kernels.opening import opened
from understudy.solvers._kernels.posture import apply
from understudy.solvers._kernels.rows import add_transposed, gram, jacobian, subtract_rows


@part("i8(i8[:, ::1], f8[:, ::1])")
def place(arrays, goals):
    """world <- where POSE has every joint; says how many exact joints a limit holds back."""
    w = opened(arrays)
    return forward(w.joints_i, w.joints_f, goals, w.roots[POSE], w.poses[POSE], w.world, w.free)


@part("i8(i8[:, ::1], f8[:, ::1])")
def measure(arrays, goals):
    """The same, and how far the effectors are from the goals in rows[0]."""
    w = opened(arrays)
    held = place(arrays, goals)
    errors(w.effectors_i, w.effectors_f, goals, w.blocks, w.world, w.reached, w.rows[0])
    return held


@part("void(i8[:, ::1], i8, f8[:, ::1])")
def linearise(arrays, table, goals):
    """J[0] <- the Jacobian of the measured pose."""
    w = opened(arrays)
    jacobian(
        w.joints_i, w.bound, w.effectors_i, w.effectors_f, goals, w.blocks, w.chains[table],
        w.world, w.reached, w.free, w.J[0],
    )  # fmt: skip


@part("void(i8[:, ::1], i8, f8[:, ::1], f8, f8[:, ::1])")
def weigh(arrays, table, goals, root_mobility, A):
    """A <- J P J^T + N, the normal equations of the linearised pose."""
    w = opened(arrays)
    gram(
        w.joints_f, w.effectors_i, w.effectors_f, goals, w.blocks, w.chains[table],
        w.member[table], root_mobility, w.J[0], A,
    )  # fmt: skip


@part("void(i8[:, ::1], i8, f8, f8[::1])")
def subtract_step(arrays, table, root_mobility, e):
    """e <- e - J d: what the step d leaves of the errors."""
    w = opened(arrays)
    chain = w.chains[table]
    subtract_rows(w.effectors_i, w.effectors_f, w.blocks, chain, root_mobility, w.J[0], w.d, e)


@part("void(i8[:, ::1], i8, f8[:, ::1], f8, f8[::1])")
def add_step(arrays, table, goals, root_mobility, y):
    """d <- d + P J^T y: the step grows by what the forces y on the rows do to the joints."""
    w = opened(arrays)
    add_transposed(
        w.joints_f, w.effectors_i, w.effectors_f, goals, w.blocks, w.chains[table], root_mobility,
        w.J[0], y, w.d,
    )  # fmt: skip


@part("i8(i8[:, ::1], f8[:, ::1])")
def move(arrays, goals):
    """POSE <- moved by d, within the limits; says how many joints they have newly held back."""
    w = opened(arrays)
    return apply(
        w.joints_i, w.joints_f, goals, w.bound, w.free, w.d, w.params[MAX_JOINT_STEP],
        w.roots[POSE], w.poses[POSE],
    )  # fmt: skip
