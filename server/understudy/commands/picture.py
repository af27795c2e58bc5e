"""A picture of a performer and characters side by side, for `understudy inspect --picture`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from understudy.align import RoleMap
from understudy.align.humanoid import side_of
from understudy.characters import Clip, ClipError
from understudy.commands.retarget import retarget
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, ForwardKinematics, Skeleton
from understudy.runtime.casting import body_roles, cast_character, cast_performer
from understudy.runtime.offline import motion_sample

INSTANTS: Final = 5
# Seen from the front and a little from the left of who faces +Z, so that depth shows.
_AZIMUTH_RAD: Final = np.radians(35.0)
_COLOURS: Final = {"left": "#1f77b4", "right": "#d1495b", "": "#333333"}
# Seen from a little above.
_ELEVATION_RAD: Final = np.radians(8.0)
# Parts of the body's height: radius of the head, and how far from the middle a body is drawn.
_HEAD: Final = 0.055
_APART: Final = 0.48


class PictureError(UnderstudyError):
    """A picture that cannot be drawn."""


def draw_pairs(clip: Clip, rigs: Sequence[str], solver: str, path: Path) -> None:
    """Draw performer and character at five instants of a clip into an image file, a row each.

    Left limbs are blue, right ones red, trunk and head grey; both bodies are drawn equally tall, on
    their floors.
    """
    pyplot = _pyplot()
    if clip.frame_count < INSTANTS:
        raise ClipError(f"clip {clip.name!r}: {clip.frame_count} frames; {INSTANTS} are needed")
    _, roles = cast_performer(clip.skeleton, motion=motion_sample(clip))
    performer = _Figure(clip, roles)
    page = pyplot.figure(figsize=(2.4 * INSTANTS, 2.25 * len(rigs)), layout="constrained")
    rows = page.subfigures(len(rigs), 1, squeeze=False)[:, 0]
    try:
        for row, rig in zip(rows, rigs, strict=True):
            body = cast_character(rig)
            result = retarget(clip, body, Path(rig).stem, solver)
            character = _Figure(result.clip, body_roles(body))
            _draw_row(row.subplots(1, INSTANTS), clip, performer, character)
            row.suptitle(
                f"{clip.name} ({performer.height_m:.2f} m, left of each pair) and"
                f" {Path(rig).stem} ({character.height_m:.2f} m)",
                fontsize=11,
            )
        page.savefig(path, dpi=110)
    except (OSError, ValueError) as error:
        raise PictureError(f"{path}: cannot be written: {error}") from None
    finally:
        pyplot.close(page)


def _draw_row(
    panels: Any,  # Any: matplotlib's axes
    clip: Clip,
    performer: _Figure,
    character: _Figure,
) -> None:
    instants = [int(f) for f in np.linspace(0.08, 0.95, INSTANTS) * (clip.frame_count - 1)]
    reaches = performer.reach(instants), character.reach(instants)
    # A body on its feet always looks alike; one that climbs or falls is not cut off.
    lowest = min(-0.16, *(low - 0.1 for low, _ in reaches))
    highest = max(1.28, *(high + 0.15 for _, high in reaches))
    for panel, frame in zip(panels, instants, strict=True):
        performer.draw(panel, frame, -_APART)
        character.draw(panel, frame, _APART)
        panel.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=-9)
        panel.set_xlim(-1.0, 1.0)
        panel.set_ylim(lowest, highest)
        panel.set_aspect("equal")
        panel.axis("off")
        panel.set_title(f"{frame / clip.rate_hz:.2f} s", fontsize=9)


class _Figure:
    """A body whose bones are drawn as lines, as seen from one side."""

    def __init__(self, clip: Clip, roles: RoleMap) -> None:
        self._clip = clip
        self._forward = ForwardKinematics(clip.skeleton)
        self._sides = _bone_sides(clip.skeleton, roles)
        self._hips, self._head = roles.roles["hips"], roles.roles["head"]
        heights = [self._places(frame)[:, 1] for frame in range(0, clip.frame_count, 10)]
        joints = list(roles.roles.values())
        self.height_m = float(max(high[joints].max() - high[joints].min() for high in heights))

    def _places(self, frame: int) -> FloatArray:
        clip = self._clip
        self._forward.update(clip.roots[frame].copy(), clip.rotations_xyzw[frame].copy())
        return self._forward.positions.copy()

    def reach(self, frames: Sequence[int]) -> tuple[float, float]:
        """How low and how high it gets in these frames, the body's height as the unit."""
        drawn = list(self._sides)
        heights = np.array([self._places(frame)[drawn, 1] for frame in frames]) / self.height_m
        return float(heights.min()), float(heights.max())

    def draw(self, panel: Any, frame: int, across: float) -> None:  # Any: matplotlib's axes
        """Draw a frame, the body's height as the unit, the hips `across` from the middle."""
        places = self._places(frame) / self.height_m
        # A body is drawn where its hips are; a place below the floor stays there.
        middle = np.array([places[self._hips, 0], 0.0, places[self._hips, 2]])
        across_body = np.array([np.cos(_AZIMUTH_RAD), 0.0, -np.sin(_AZIMUTH_RAD)])
        to_viewer = np.array([np.sin(_AZIMUTH_RAD), 0.0, np.cos(_AZIMUTH_RAD)])
        depth = (places - middle) @ to_viewer
        seen = np.stack(
            [
                across + (places - middle) @ across_body,
                places[:, 1] * np.cos(_ELEVATION_RAD) - depth * np.sin(_ELEVATION_RAD),
            ],
            axis=1,
        )
        parents = self._clip.skeleton.parents
        for joint, side in self._sides.items():
            line = seen[[int(parents[joint]), joint]]
            panel.plot(
                line[:, 0],
                line[:, 1],
                color=_COLOURS[side],
                linewidth=3.0,
                solid_capstyle="round",
                zorder=2.0 + depth[joint],
            )
        neck, head = seen[int(parents[self._head])], seen[self._head]
        up = head - neck
        centre = head + _HEAD * up / max(float(np.linalg.norm(up)), 1e-6)
        panel.scatter(*centre, s=90.0, color=_COLOURS[""], zorder=2.0 + depth[self._head])


def _bone_sides(skeleton: Skeleton, roles: RoleMap) -> dict[int, str]:
    """The joints whose bones belong to the body, each with its side; not hair, tails or props.

    A bone is on the side of the joint it comes from: what leads to a leg or a shoulder is trunk.
    """
    hips = roles.roles["hips"]
    named = {joint: side_of(role) for role, joint in roles.roles.items()}
    sides: dict[int, str] = {}
    for joint in named:
        # Whatever lies between the hips and a joint of the body is the body's too.
        while joint != hips and skeleton.parents[joint] >= 0:
            above = int(skeleton.parents[joint])
            sides[joint] = named.get(above, "")
            joint = above
    return sides


def _pyplot() -> Any:  # Any: matplotlib is optional, and its types with it
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise PictureError(
            f"pictures need {error.name}; install it with: pip install 'understudy[bench]'"
        ) from None
    return pyplot
