"""A picture of a performer and a character side by side, for `understudy inspect --picture`."""

from __future__ import annotations

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
_FLOOR_RAD: Final = np.radians(12.0)


class PictureError(UnderstudyError):
    """A picture that cannot be drawn."""


def draw_pair(clip: Clip, rig: str, solver: str, path: Path) -> None:
    """Draw performer and character at five instants of a clip into an image file.

    Left limbs are blue, right ones red; both bodies are drawn equally tall, on their floors.
    """
    pyplot = _pyplot()
    if clip.frame_count < INSTANTS:
        raise ClipError(f"clip {clip.name!r}: {clip.frame_count} frames; {INSTANTS} are needed")
    body = cast_character(rig)
    result = retarget(clip, body, Path(rig).stem, solver)
    _, roles = cast_performer(clip.skeleton, motion=motion_sample(clip))
    performer = _Figure(clip, roles)
    character = _Figure(result.clip, body_roles(body))
    figure, panels = pyplot.subplots(1, INSTANTS, figsize=(3.0 * INSTANTS, 2.9), squeeze=True)
    instants = np.linspace(0.08, 0.95, INSTANTS) * (clip.frame_count - 1)
    for panel, frame in zip(panels, instants.astype(int), strict=True):
        performer.draw(panel, int(frame), -0.5)
        character.draw(panel, int(frame), 0.5)
        panel.axhline(0.0, color="#bbbbbb", linewidth=0.8, zorder=-9)
        panel.set_xlim(-1.1, 1.1)
        panel.set_ylim(-0.12, 1.4)
        panel.set_aspect("equal")
        panel.axis("off")
        panel.set_title(f"{frame / clip.rate_hz:.2f} s", fontsize=9)
    figure.suptitle(
        f"{clip.name} ({performer.height_m:.2f} m, left of each pair) and"
        f" {Path(rig).stem} ({character.height_m:.2f} m)",
        fontsize=11,
    )
    figure.tight_layout()
    try:
        figure.savefig(path, dpi=110)
    except (OSError, ValueError) as error:
        raise PictureError(f"{path}: cannot be written: {error}") from None
    finally:
        pyplot.close(figure)


class _Figure:
    """A body whose bones are drawn as lines, as seen from one side."""

    def __init__(self, clip: Clip, roles: RoleMap) -> None:
        self._clip = clip
        self._forward = ForwardKinematics(clip.skeleton)
        self._sides = _bone_sides(clip.skeleton, roles)
        heights = [self._places(frame)[:, 1] for frame in range(0, clip.frame_count, 10)]
        joints = list(roles.roles.values())
        self.height_m = float(max(high[joints].max() - high[joints].min() for high in heights))

    def _places(self, frame: int) -> FloatArray:
        clip = self._clip
        self._forward.update(clip.roots[frame].copy(), clip.rotations_xyzw[frame].copy())
        return self._forward.positions.copy()

    def draw(self, panel: Any, frame: int, across: float) -> None:  # Any: matplotlib's axes
        """Draw a frame, the body's height as the unit, the hips `across` from the middle."""
        places = self._places(frame) / self.height_m
        skeleton = self._clip.skeleton
        places = places - [places[0, 0], 0.0, places[0, 2]]
        seen = np.stack(
            [
                places[:, 2] * np.sin(_AZIMUTH_RAD) - places[:, 0] * np.cos(_AZIMUTH_RAD),
                places[:, 1],
            ],
            axis=1,
        )
        depth = places[:, 2] * np.cos(_AZIMUTH_RAD) + places[:, 0] * np.sin(_AZIMUTH_RAD)
        seen[:, 1] -= np.sin(_FLOOR_RAD) * depth * 0.5
        seen[:, 0] = across - seen[:, 0]
        for joint, side in self._sides.items():
            line = seen[[int(skeleton.parents[joint]), joint]]
            panel.plot(
                line[:, 0],
                line[:, 1],
                color=_COLOURS[side],
                linewidth=2.4,
                solid_capstyle="round",
                zorder=1.0 + depth[joint],
            )


def _bone_sides(skeleton: Skeleton, roles: RoleMap) -> dict[int, str]:
    """The joints whose bones belong to the body, each with its side; not hair, tails or props."""
    hips = roles.roles["hips"]
    named = {joint: side_of(role) for role, joint in roles.roles.items()}
    sides: dict[int, str] = {}
    for joint, side in named.items():
        # Whatever lies between the hips and a joint of the body is the body's too.
        while joint != hips and skeleton.parents[joint] >= 0:
            sides[joint] = named.get(joint, side)
            joint = int(skeleton.parents[joint])
            side = named.get(joint, side)
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
