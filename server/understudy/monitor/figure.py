"""One body on the stage: its bones and joints, its name, where it faces, stands and aims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import viser
from numpy.typing import NDArray

from understudy.kinematics import FloatArray, IntArray
from understudy.monitor import meshes
from understudy.monitor.bodies import Body
from understudy.monitor.colours import Rgb, Theme, darker, linear
from understudy.monitor.feed import BodyView
from understudy_protocol import PoseMessage
from understudy_protocol.inspection import GoalsMessage

_BONE: Final = meshes.bone()
_BALL: Final = meshes.ball()
_RING: Final = meshes.facing_ring()
_DISC: Final = meshes.disc()
_TARGET: Final = meshes.target()

_UPRIGHT: Final = np.array([1.0, 0.0, 0.0, 0.0])
_GOAL_M: Final = 0.036
_TRAIL_POINTS: Final = 36
_TRAIL_STEP_M: Final = 0.02
# Flat things lie a little above the floor and above each other.
_RING_HEIGHT_M: Final = 0.004
_TRAIL_HEIGHT_M: Final = 0.008
_DISC_HEIGHT_M: Final = 0.006

# What lies on the floor has all the light.
_FLOOR_SHADE: Final = 0.68

SIDES: Final = ("left", "right")


class Figure:
    """The scene nodes of one body, made once for its skeleton and moved with every pose.

    `/stage/<name>` is where it stands: everything in it is in the world of the capture.
    """

    def __init__(
        self, scene: viser.SceneApi, path: str, view: BodyView, colour: Rgb, theme: Theme
    ) -> None:
        self.skeleton_id = view.message.id
        self.colour = colour
        self._theme = theme
        self.root: FloatArray = np.zeros(3)
        self._body = Body(view.skeleton)
        shape = self._body.shape
        self._frame = scene.add_frame(path, show_axes=False)
        self._bones = _batch(scene, f"{path}/bones", _BONE, shape.bone_scales, colour)
        self._balls = _batch(scene, f"{path}/joints", _BALL, shape.ball_scales, colour)
        self._ring = _batch(
            scene,
            f"{path}/facing",
            _RING,
            np.full((1, 3), 0.21 * shape.height),
            darker(colour, _FLOOR_SHADE),
            flat=True,
        )
        self._discs = _batch(
            scene,
            f"{path}/contacts",
            _DISC,
            np.zeros((len(SIDES), 3)),
            darker(theme.contact, _FLOOR_SHADE),
            flat=True,
        )
        self._targets: viser.BatchedMeshHandle | None = None
        self._errors: viser.LineSegmentsHandle | None = None
        self._trail_points: list[FloatArray] = []
        self._trail = scene.add_line_segments(
            f"{path}/trail",
            np.zeros((_TRAIL_POINTS - 1, 2, 3)),
            _fading(darker(colour, 0.9)),
            thickness=4.0,
            thickness_units="screen",
            visible=False,
        )
        self._label = scene.add_label(
            f"{path}/name", view.key.name, anchor="bottom-center", font_screen_scale=1.1
        )
        self._path = path
        self._scene = scene
        self._lit: tuple[bool, ...] = (False, False)
        self._feet: tuple[IntArray, ...] = ()

    @property
    def height(self) -> float:
        """How tall it is at rest (m)."""
        return self._body.shape.height

    def remove(self) -> None:
        """Take it off the stage."""
        self._frame.remove()

    def stand_at(self, offset: FloatArray) -> None:
        """Where on the stage its world is."""
        self._frame.position = offset

    def show(self, view: BodyView, targets_shown: bool) -> None:
        """Take the newest pose."""
        pose = view.pose
        root = np.array(pose.root, np.float64)
        rotations = np.array(pose.rotations_xyzw, np.float64)
        placed = self._body.place(root, rotations)
        self._bones.batched_positions = placed.bones.astype(np.float32)
        self._bones.batched_wxyzs = placed.bones_wxyz.astype(np.float32)
        self._balls.batched_positions = placed.joints.astype(np.float32)
        self.root = root
        heading = self._body.heading_rad(rotations[0])
        self._ring.batched_positions = np.array([[root[0], _RING_HEIGHT_M, root[2]]])
        self._ring.batched_wxyzs = np.array([[np.cos(heading / 2), 0, np.sin(heading / 2), 0]])
        # Above the body, not above the head: a name that nods is hard to read.
        self._label.position = np.array(
            [root[0], placed.joints[:, 1].max() + 0.1 * self.height, root[2]]
        )
        if isinstance(pose, PoseMessage):
            self._light(view, pose)
            self._aim(view.goals, targets_shown)

    def trace(self) -> None:
        """Add where the root is now to the trail; to be called at most ten times a second."""
        here = np.array([self.root[0], _TRAIL_HEIGHT_M, self.root[2]])
        step = np.linalg.norm(self._trail_points[-1] - here) if self._trail_points else np.inf
        if step < _TRAIL_STEP_M:
            return  # who stands keeps the trail of the way there
        if step > 1.0:
            self._trail_points.clear()
        self._trail_points = [*self._trail_points, here][-_TRAIL_POINTS:]
        points = np.array(self._trail_points)
        missing = _TRAIL_POINTS - len(points)
        points = np.concatenate([np.repeat(points[:1], missing, axis=0), points])
        self._trail.points = np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
        self._trail.visible = True

    def _light(self, view: BodyView, pose: PoseMessage) -> None:
        """Light the feet that are planted."""
        if not self._feet and view.goals is not None:
            self._feet = _feet(view, view.goals)
        if not self._feet:
            return
        names = view.message.contacts
        touching = {name for name, on in zip(names, pose.contacts, strict=False) if on}
        lit = tuple(any(name.lower().startswith(side) for name in touching) for side in SIDES)
        height = self._body.shape.height
        positions = self._body.forward.positions
        places = np.array([positions[foot].mean(axis=0) for foot in self._feet])
        places[:, 1] = _DISC_HEIGHT_M
        self._discs.batched_positions = places
        if lit == self._lit:
            return
        self._lit = lit
        sizes = np.where(np.array(lit)[:, None], 0.05 * height, 0.0) * np.ones(3)
        self._discs.batched_scales = sizes.astype(np.float32)
        self._bones.batched_colors = self._coloured(self._body.shape.bone_starts, lit)
        self._balls.batched_colors = self._coloured(self._body.shape.ball_joints, lit)

    def _coloured(self, joints: IntArray, lit: Sequence[bool]) -> NDArray[np.uint8]:
        colours = np.tile(linear(self.colour), (len(joints), 1))
        for foot, on in zip(self._feet, lit, strict=True):
            if on:
                colours[np.isin(joints, foot)] = linear(self._theme.contact)
        return colours

    def _aim(self, goals: GoalsMessage | None, shown: bool) -> None:
        """Show where effectors should be, and the way they are off."""
        if goals is None:
            return
        if self._targets is None or self._errors is None:
            k = len(goals.joints)
            self._targets = _batch(
                self._scene, f"{self._path}/goals", _TARGET, np.zeros((k, 3)), self._theme.goal
            )
            self._errors = self._scene.add_line_segments(
                f"{self._path}/errors",
                np.zeros((k, 2, 3)),
                self._theme.goal,
                thickness=5.0,
                thickness_units="screen",
            )
        forward = self._body.forward
        wanted = np.asarray(goals.positions, np.float64)
        reached = forward.positions[goals.joints] + np.einsum(
            "kij,kj->ki", forward.rotations[goals.joints], np.asarray(goals.points, np.float64)
        )
        on = shown & (np.asarray(goals.strengths) > 0.01)
        self._targets.batched_scales = np.repeat(np.float32(_GOAL_M) * on[:, None], 3, axis=1)
        self._targets.batched_positions = wanted.astype(np.float32)
        ends = np.where(on[:, None], wanted, reached)
        self._errors.points = np.stack([reached, ends], axis=1).astype(np.float32)


def _feet(view: BodyView, goals: GoalsMessage) -> tuple[IntArray, ...]:
    """The joints of the left and the right foot, from the effectors that steer them."""
    found = []
    for side in SIDES:
        rows = [k for k, name in enumerate(view.message.effectors) if name.lower() == f"{side}foot"]
        if not rows or rows[0] >= len(goals.joints):
            return ()
        ankle = int(goals.joints[rows[0]])
        joints = [ankle]
        for joint in range(ankle + 1, len(view.skeleton)):
            if int(view.skeleton.parents[joint]) in joints:
                joints.append(joint)
        found.append(np.array(joints, np.int64))
    return tuple(found)


def _batch(
    scene: viser.SceneApi,
    name: str,
    mesh: meshes.Mesh,
    scales: FloatArray,
    colour: Rgb,
    *,
    flat: bool = False,
) -> viser.BatchedMeshHandle:
    """One mesh as often as there are `scales` (k, 3); marks on the floor are `flat`."""
    count = len(scales)
    return scene.add_batched_meshes_simple(
        name,
        mesh.vertices,
        mesh.faces,
        batched_wxyzs=np.tile(_UPRIGHT, (count, 1)),
        batched_positions=np.zeros((count, 3)),
        batched_scales=scales,
        batched_colors=np.tile(linear(colour), (count, 1)),
        lod="off",
        side="double" if flat else "front",
        cast_shadow=not flat,
        receive_shadow=False,
    )


def _fading(colour: Rgb) -> NDArray[np.uint8]:
    """Colours (segments, 2, 3) of a trail whose oldest end is dark."""
    share = np.linspace(0.25, 1.0, _TRAIL_POINTS)[:, None] * np.array(colour)
    return np.stack([share[:-1], share[1:]], axis=1).astype(np.uint8)
