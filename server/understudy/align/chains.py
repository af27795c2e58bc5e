"""Trunks and necks with different numbers of joints: who takes which share of the bend."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy.kinematics import FloatArray


@dataclass(frozen=True, slots=True)
class Share:
    """A target joint turns with source joint `a`, or `blend` (0..1) of the way from `a` to `b`."""

    a: int
    b: int
    blend: float


def arc_marks(points: FloatArray) -> FloatArray:
    """How far along its chain each of k points (k, 3) lies: 0 at the first, 1 at the last."""
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    total = float(lengths.sum())
    if total < 1e-9:
        return np.linspace(0.0, 1.0, len(points))
    return np.concatenate([[0.0], np.cumsum(lengths) / total])


def distribute(
    source: Sequence[int], source_points: FloatArray, target_points: FloatArray
) -> list[Share]:
    """What drives each joint of a target chain, from a source chain of joints, ends included.

    Points are rest positions (k, 3) m, from the lower end to the upper one. The ends are driven
    by the ends; a joint in between turns as the source does at the same fraction of its length,
    where a joint stands for the middle of the bone after it.
    """
    source_marks = _bone_middles(source_points)
    shares = [Share(source[0], source[0], 0.0)]
    for mark in _bone_middles(target_points)[1:-1]:
        above = int(np.searchsorted(source_marks, mark, side="right"))
        above = min(max(above, 1), len(source) - 1)
        span = float(source_marks[above] - source_marks[above - 1])
        blend = 0.0 if span < 1e-9 else float((mark - source_marks[above - 1]) / span)
        shares.append(Share(source[above - 1], source[above], min(max(blend, 0.0), 1.0)))
    shares.append(Share(source[-1], source[-1], 0.0))
    return shares


def _bone_middles(points: FloatArray) -> FloatArray:
    marks = arc_marks(points)
    return np.append(0.5 * (marks[:-1] + marks[1:]), 1.0)
