"""Pictures of the worst instants of a take: performer and character side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.figure import Figure

from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton
from understudy.kinematics.rotations import conjugate, log, multiply
from understudy_bench.quality import Take
from understudy_bench.quality.figures import WARM_UP_S
from understudy_bench.quality.truth import WIDE_SPEED, find_contacts

_VIEWS: Final = {"front": (0, 1), "side": (2, 1)}
_TRAIL_S: Final = 0.25
_PERFORMER, _CHARACTER = "#8a8f98", "#c2410c"


def draw_worst_instants(take: Take, folder: Path) -> list[Path]:
    """Draw the frames of largest error, slide and step into `folder`; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for what, (frame, value) in worst_instants(take).items():
        file = folder / f"{take.clip.name}-{take.character}-{take.solver}-{what}.png"
        figure = Figure(figsize=(9.0, 5.0), layout="constrained")
        axes = figure.subplots(1, 2)
        for axis, (view, columns) in zip(axes, _VIEWS.items(), strict=True):
            _draw(axis, take, frame, columns)
            axis.set_title(view)
        figure.suptitle(
            f"{take.clip.name} to {take.character}, {take.solver}: largest {what}, {value},"
            f" frame {frame} at {take.clip.rate_hz:g} Hz"
        )
        figure.savefig(file, dpi=110)
        files.append(file)
    return files


def worst_instants(take: Take) -> dict[str, tuple[int, str]]:
    """The frames that fared worst, each with its value in words."""
    first = int(np.ceil(WARM_UP_S * take.clip.rate_hz))
    errors = take.residuals_m.max(axis=1, initial=0.0)
    slide = _slide_speeds(take)
    turned = take.rotations_xyzw
    steps = np.zeros(len(turned))
    steps[1:] = np.linalg.norm(log(multiply(conjugate(turned[:-1]), turned[1:])), axis=-1).max(1)
    found = {}
    for what, values, unit, scale in (
        ("error", errors, "cm", 100.0),
        ("slide", slide, "cm/s", 100.0),
        ("step", np.degrees(steps), "degrees", 1.0),
    ):
        frame = first + int(np.argmax(values[first:]))
        found[what] = (frame, f"{scale * values[frame]:.2f} {unit}")
    return found


def _slide_speeds(take: Take) -> FloatArray:
    """The fastest planted pivot of every frame, (T,) m/s."""
    pivots = find_contacts(take.source_points, take.clip.rate_hz, WIDE_SPEED).pivots()
    out = np.zeros(len(pivots))
    for foot in range(2):
        for point in (2 * foot, 2 * foot + 1):
            step = np.diff(take.target_points[:, point], axis=0)
            speed = take.clip.rate_hz * np.hypot(step[:, 0], step[:, 2])
            still = (pivots[1:, foot] == point) & (pivots[:-1, foot] == point)
            out[1:] = np.maximum(out[1:], np.where(still, speed, 0.0))
    return out


def _draw(axis: Any, take: Take, frame: int, columns: tuple[int, int]) -> None:
    """Draw both bodies, the character where it is, the performer beside it."""
    theirs = _positions(take.clip.skeleton, take.clip.roots[frame], take.clip.rotations_xyzw[frame])
    ours = _positions(take.target, take.roots[frame], take.rotations_xyzw[frame])
    apart = np.zeros(3)
    apart[columns[0]] = 1.2 + ours[0, columns[0]] - theirs[0, columns[0]]
    for skeleton, places, colour in (
        (take.clip.skeleton, theirs + apart, _PERFORMER),
        (take.target, ours, _CHARACTER),
    ):
        for joint, parent in enumerate(skeleton.parents):
            if parent >= 0:
                pair = places[[parent, joint]]
                axis.plot(pair[:, columns[0]], pair[:, columns[1]], color=colour, lw=2.5)
    begin = max(0, frame - round(_TRAIL_S * take.clip.rate_hz))
    for point in range(take.target_points.shape[1]):
        trail = take.target_points[begin : frame + 1, point]
        axis.plot(trail[:, columns[0]], trail[:, columns[1]], color="#2563eb", lw=1.0)
    axis.axhline(0.0, color="#d4d4d8", lw=1.0, zorder=0)
    axis.set_aspect("equal")


def _positions(skeleton: Skeleton, root: FloatArray, rotations_xyzw: FloatArray) -> FloatArray:
    kinematics = ForwardKinematics(skeleton)
    kinematics.update(root.copy(), rotations_xyzw.copy())
    return kinematics.positions.copy()
