"""Which foot points of a performer are planted: found from the whole clip, for scoring only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_erosion, minimum_filter1d
from scipy.signal import butter, filtfilt

from understudy.kinematics import FloatArray

BoolArray = NDArray[np.bool_]

WIDE_SPEED: Final = 0.15  # m/s
STRICT_SPEED: Final = 0.06
_HEIGHT_M: Final = 0.035
_FLOOR_WINDOW_S: Final = 0.4
_SHORTEST_S: Final = 0.1
_SHAVED_S: Final = 1.0 / 30.0
_CUTOFF_HZ: Final = 10.0
# Captured floors rise and tilt by less than this; what is higher is a step, a stool or a rung.
_LEDGE_M: Final = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class ContactTruth:
    """Planted or not, (T, 4): left toe, left heel, right toe, right heel.

    `ledges` (T, 4) m is how high over the floor lies what a planted point rests on: 0 on the floor
    itself, the point's own height on a step, a stool or a rung.
    """

    planted: BoolArray
    ledges: FloatArray

    def pivots(self) -> NDArray[np.int64]:
        """The point (0 to 3) each foot pivots on, (T, 2): toe if planted, else heel, else -1."""
        out = np.full((len(self.planted), 2), -1, np.int64)
        for foot in range(2):
            toe, heel = 2 * foot, 2 * foot + 1
            out[self.planted[:, heel], foot] = heel
            out[self.planted[:, toe], foot] = toe
        return out


def find_contacts(points: FloatArray, rate_hz: float, speed: float) -> ContactTruth:
    """Truth from sole points (T, 4, 3) m: near the local floor and slower than `speed` (m/s).

    The floor is the lowest foot point within 0.4 s either side, since floors in real captures rise
    and tilt; heights and speeds are low-passed at 10 Hz forward and backward.
    """
    frames = len(points)
    smoothed = _low_passed(points, rate_hz)
    velocity = np.gradient(smoothed, 1.0 / rate_hz, axis=0)
    planar = np.hypot(velocity[..., 0], velocity[..., 2])
    lowest = smoothed[..., 1].min(axis=1)
    window = 2 * round(_FLOOR_WINDOW_S * rate_hz) + 1
    floor = minimum_filter1d(lowest, min(window, 2 * frames - 1))
    near = smoothed[..., 1] - floor[:, None] < _HEIGHT_M
    planted = near & (planar < speed)
    for point in range(points.shape[1]):
        planted[:, point] = _long_runs(planted[:, point], rate_hz)
    return ContactTruth(planted, _ledges(smoothed[..., 1], floor, planted))


def _ledges(heights: FloatArray, standing: FloatArray, planted: BoolArray) -> FloatArray:
    """How high over the floor lies what points at `heights` (T, 4) m rest on while `planted`.

    `standing` (T,) m is the local floor. One that differs little from the last is the same floor,
    risen or tilted; one far above is a ledge, and every point rests on its own part of it.
    """
    out = np.zeros_like(heights)
    floor = np.inf
    for t in np.flatnonzero(planted.any(axis=1)):
        if standing[t] < floor + _LEDGE_M:
            floor = standing[t]
        else:
            out[t] = np.where(planted[t], heights[t] - floor, 0.0)
    return out


def _low_passed(points: FloatArray, rate_hz: float) -> FloatArray:
    if rate_hz <= 2.2 * _CUTOFF_HZ or len(points) < 16:
        return points
    b, a = butter(2, _CUTOFF_HZ, fs=rate_hz)
    return np.asarray(filtfilt(b, a, points, axis=0), np.float64)


def _long_runs(flags: BoolArray, rate_hz: float) -> BoolArray:
    """Runs of at least a tenth of a second, with a thirtieth shaved off each end."""
    out = np.zeros_like(flags)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if end - begin >= _SHORTEST_S * rate_hz:
            out[begin:end] = True
    shave = round(_SHAVED_S * rate_hz)
    if shave == 0:
        return out
    return np.asarray(
        binary_erosion(out, np.ones(2 * shave + 1, np.bool_), border_value=1), np.bool_
    )
