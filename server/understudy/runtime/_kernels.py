"""The rooms of a pipeline one after the other, compiled."""

from __future__ import annotations

import numpy as np

from understudy.conditioning._kernels import TEAR_RAD_PER_S
from understudy.kinematics.compiled import caller, carray, kernel, pointer

# Rows of a relay's calls (4, 2): the function of each room, and its table.
BRIDGE, ALIGN, SOLVE, CHECK = range(4)

# No status is negative.
TORN = -1

call_bridge = caller("f8(i8, f8)")
call_aligner = caller("i8(i8, f8, i8)")
call_solver = caller("i8(i8, f8)")
call_check = caller("f8(i8)")


@kernel("Tuple((i8, f8))(i8, f8)")
def relay(address, dt):
    """Take a frame through all rooms: the solver's status and the largest residual (m).

    TORN, and nothing is changed, if the frame is torn; a negative residual if the answer was not
    accepted.
    """
    calls = carray(pointer(address), (4, 2), np.int64)
    allowed = TEAR_RAD_PER_S * dt
    if not call_bridge(calls[BRIDGE, 0], calls[BRIDGE, 1], allowed) <= allowed:
        return TORN, 0.0
    call_aligner(calls[ALIGN, 0], calls[ALIGN, 1], dt, 0)
    status = call_solver(calls[SOLVE, 0], calls[SOLVE, 1], dt)
    return status, call_check(calls[CHECK, 0], calls[CHECK, 1])
