"""The arrays of a frame-by-frame solver, out of the one table it is called with."""

from __future__ import annotations

from typing import Final

from understudy.kinematics.compiled import part
from understudy.kinematics.tables import (
    cube,
    index_cube,
    index_matrix,
    index_vector,
    matrix,
    vector,
)

# Places of the targets' arrays, which may be others in every frame, and of a solver's own.
HEAD: Final = 7
SOURCE: Final = 8
GOALS: Final = 9
JACOBIANS: Final = 24
MEMORY: Final = 25
PERFORMED: Final = 26


@part(
    "Tuple((i8[:, ::1], f8[:, ::1], i8[:, ::1], f8[:, ::1], i8[:, ::1], i8[:, :, ::1],"
    " i8[:, :, ::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, :, ::1],"
    " f8[:, ::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[:, ::1], i8[::1],"
    " f8[:, :, ::1], f8[:, ::1], f8[:, ::1], f8[::1]))(i8[:, ::1])",
    inline=True,
)
def opened(arrays):
    """What all solvers have, in this order: the plan, the targets, state and scratch.

    joints_i, joints_f, effectors_i, effectors_f, blocks, chains, member, head, source, goals,
    extra, params, poses, roots, marks, ease, world, reached, free, bound, A, rows, d, report.
    """
    return (
        index_matrix(arrays, 0),
        matrix(arrays, 1),
        index_matrix(arrays, 2),
        matrix(arrays, 3),
        index_matrix(arrays, 4),
        index_cube(arrays, 5),
        index_cube(arrays, 6),
        vector(arrays, 7),
        matrix(arrays, 8),
        matrix(arrays, 9),
        matrix(arrays, 10),
        vector(arrays, 11),
        cube(arrays, 12),
        matrix(arrays, 13),
        cube(arrays, 14),
        matrix(arrays, 15),
        matrix(arrays, 16),
        matrix(arrays, 17),
        matrix(arrays, 18),
        index_vector(arrays, 19),
        cube(arrays, 20),
        matrix(arrays, 21),
        matrix(arrays, 22),
        vector(arrays, 23),
    )
