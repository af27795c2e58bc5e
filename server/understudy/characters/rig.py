"""What a character file says about its body, whatever the format."""

from __future__ import annotations

from dataclasses import dataclass

from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Skeleton


class RigError(UnderstudyError):
    """A character file that cannot be used; the text is one line with the reason."""


@dataclass(frozen=True, slots=True, eq=False)
class Rig:
    """A character's skeleton and what else its file tells about it.

    `skeleton` is in metres, Y up, facing +Z where the format says where a character faces;
    its rest pose has every joint where the file's world has it. `humanoid` maps VRM 1 role
    names to joint names and is empty without VRM data. `weights` (n,) is each joint's share of
    the mesh, between 0 and 1; a joint with 0 moves no vertex. `floor_m` is the height of the
    lowest body vertex at rest and 0 without a body mesh; `height_m` counts from there to the
    highest vertex, or joint. `turned` says that the file faces -Z and was turned by half a
    turn about Y; the root's rest rotation contains that turn. `notes` tell a user in plain
    words what was unusual and what was done about it.
    """

    name: str
    format: str
    skeleton: Skeleton
    humanoid: dict[str, str]
    weights: FloatArray
    floor_m: float
    height_m: float
    turned: bool
    notes: tuple[str, ...]
