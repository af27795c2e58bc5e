"""The arrays of a frame-by-frame solver, out of the one table it is called with.

Kernels that need many of them take the table and open it: a call pays for every array it is given,
and what is not used of an opened table costs nothing.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from understudy.kinematics.compiled import part
from understudy.kinematics.tables import (
    cube,
    index_cube,
    index_matrix,
    index_vector,
    matrix,
    tensor5,
    vector,
)

# Places of the targets' arrays, which may be others in every frame, and of a solver's own memory.
HEAD: Final = 7
SOURCE: Final = 8
GOALS: Final = 9
MEMORY: Final = 26


class Work(NamedTuple):
    """What all solvers have, in the table's order: the plan, the targets, state and scratch."""

    joints_i: Any
    joints_f: Any
    effectors_i: Any
    effectors_f: Any
    blocks: Any
    chains: Any
    member: Any
    head: Any
    source: Any
    goals: Any
    extra: Any
    params: Any
    poses: Any
    roots: Any
    marks: Any
    ease: Any
    world: Any
    reached: Any
    free: Any
    bound: Any
    A: Any
    rows: Any
    d: Any
    report: Any
    J: Any
    steps: Any


@part("(i8[:, ::1],)", inline=True)
def opened(arrays):
    """The arrays of a table."""
    return Work(
        index_matrix(arrays, 0),
        matrix(arrays, 1),
        index_matrix(arrays, 2),
        matrix(arrays, 3),
        index_matrix(arrays, 4),
        index_cube(arrays, 5),
        index_cube(arrays, 6),
        vector(arrays, HEAD),
        matrix(arrays, SOURCE),
        matrix(arrays, GOALS),
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
        tensor5(arrays, 24),
        matrix(arrays, 25),
    )
