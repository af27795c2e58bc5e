"""A character's body as the server needs it, whatever kind of file it came from."""

from __future__ import annotations

from dataclasses import dataclass, field

from understudy.kinematics import FloatArray, Skeleton


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """A skeleton and what its file tells about it.

    `humanoid` maps VRM 1 role names to joint names, empty where the file does not say; `weights`
    (n,) is each joint's share of the mesh, `floor_m` the height of the floor at rest, None where
    there is no mesh. `in_t_pose` says that the rest pose is the T-pose by definition, as in VRM;
    `turned` that the file faces -Z and was turned about. `notes` tell people what was unusual.
    """

    skeleton: Skeleton
    humanoid: dict[str, str] = field(default_factory=dict)
    weights: FloatArray | None = None
    floor_m: float | None = None
    in_t_pose: bool = False
    turned: bool = False
    notes: tuple[str, ...] = ()
