"""Smooth curves through keyed values: quintic splines, twice continuously differentiable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from understudy.kinematics.types import FloatArray

Run = Sequence[tuple[float, Any]]  # (time, number or vector), times rising


class Track:
    """A curve that moves through runs of keys and stands still between them.

    Every run starts and ends at rest (velocity and acceleration zero); a run of two keys is the
    minimum-jerk move. The first key of a run repeats the last value of the run before it. Outside
    the runs the curve keeps the nearest end.
    """

    def __init__(self, *runs: Run) -> None:
        self._runs: list[tuple[float, float, BSpline[np.float64]]] = []
        previous: FloatArray | None = None
        for run in runs:
            times = np.array([time for time, _ in run], np.float64)
            values = np.array([value for _, value in run], np.float64)
            if previous is not None and not np.array_equal(previous, values[0]):
                raise ValueError(f"a run starts at {values[0]} where the last one ended {previous}")
            previous = values[-1]
            still = np.zeros(values.shape[1:])
            at_rest = [(1, still), (2, still)]
            spline = make_interp_spline(
                times,
                values,
                k=5,
                bc_type=(at_rest, at_rest),  # type: ignore[arg-type]  # stubs know numbers only
            )
            self._runs.append((float(times[0]), float(times[-1]), spline))

    def __call__(self, time: FloatArray) -> FloatArray:
        """Values at the times (T,): (T,) or (T, width)."""
        start, end, spline = self._runs[0]
        value = spline(np.clip(time, start, end))
        for start, end, spline in self._runs[1:]:
            moving = spline(np.clip(time, start, end))
            later = np.asarray(time >= start)
            value = np.where(later.reshape(later.shape + (1,) * (value.ndim - 1)), moving, value)
        return np.asarray(value, dtype=np.float64)


class Cycle:
    """A periodic curve through keys (phase, value), phases rising within one period of 1."""

    def __init__(self, *keys: tuple[float, Any]) -> None:
        first_phase, first_value = keys[0]
        closed = [*keys, (first_phase + 1.0, first_value)]
        self._start = first_phase
        self._spline = make_interp_spline(
            np.array([phase for phase, _ in closed], np.float64),
            np.array([value for _, value in closed], np.float64),
            k=5,
            bc_type="periodic",
        )

    def __call__(self, phase: FloatArray) -> FloatArray:
        """Values at the phases (T,), which may lie in any period."""
        return np.asarray(self._spline(self._start + (phase - self._start) % 1.0), dtype=np.float64)
