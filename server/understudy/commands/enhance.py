"""`understudy retarget --enhance`: a clip corrected by points measured beside it."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

import numpy as np

from understudy.characters import Clip, ClipError, write_bvh
from understudy.characters.c3d import read_c3d
from understudy.commands.terminal import progress
from understudy.kinematics import FloatArray
from understudy.runtime.enhancing import Enhanced, enhance, match

_PROGRESS_FRAMES: Final = 100


def enhance_file(clip: Clip, arguments: argparse.Namespace) -> int:
    """Read the points, correct the clip, write it, tell."""
    if not clip.frame_count:
        raise ClipError(f"clip {clip.name!r}: it has no frames to enhance")
    take = read_c3d(arguments.enhance)
    if arguments.markers is not None:
        take = take.chosen(tuple(arguments.markers.split(",")))
    placement, points = match(clip, take)
    with progress(f"{clip.name} by {take.name}", clip.frame_count) as bar:

        def on_frame(frame: int) -> None:
            if bar is not None and frame % _PROGRESS_FRAMES == 0:
                bar.update(bar.task_ids[0], completed=frame)

        result = enhance(clip, placement.points, points, arguments.solver, on_frame=on_frame)
    write_bvh(arguments.output, result.clip)
    summary = _summary(result, placement.left_out, arguments)
    if arguments.json:
        print(json.dumps(summary))
        return 0
    print(
        f"wrote {arguments.output}: {result.clip.frame_count} frames at {clip.rate_hz:g} Hz,"
        f" {summary['frames_per_s']:,.0f} frames/s with {arguments.solver}"
    )
    print(f"points: {', '.join(point.name for point in result.points)}")
    if placement.left_out:
        print(f"hardly seen, left out: {', '.join(placement.left_out)}")
    print(
        f"distance of the points: {summary['before_rms_mm']:.1f} mm before,"
        f" {summary['after_rms_mm']:.1f} mm after (root mean square)"
    )
    return 0


def _summary(
    result: Enhanced, left_out: tuple[str, ...], arguments: argparse.Namespace
) -> dict[str, Any]:  # Any: JSON
    names = result.clip.skeleton.names
    return {
        "input": str(arguments.clip),
        "points": str(arguments.enhance),
        "output": str(arguments.output),
        "solver": arguments.solver,
        "frames": result.clip.frame_count,
        "frames_per_s": round(result.clip.frame_count / result.seconds, 1),
        "before_rms_mm": _rms_mm(result.before_m),
        "after_rms_mm": _rms_mm(result.after_m),
        "markers": {
            point.name: {
                "bone": names[point.joint],
                "error_mm": round(1e3 * point.error_m, 1),
                "before_rms_mm": _rms_mm(result.before_m[:, column]),
                "after_rms_mm": _rms_mm(result.after_m[:, column]),
            }
            for column, point in enumerate(result.points)
        },
        "left_out": list(left_out),
    }


def _rms_mm(distances_m: FloatArray) -> float:
    return round(1e3 * float(np.sqrt(np.nanmean(distances_m**2))), 3)
