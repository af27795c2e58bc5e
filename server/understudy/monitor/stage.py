"""The stage: floor, light, scale, and every body side by side; each viewer has its own camera."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

import numpy as np
import viser

from understudy.characters import load_character
from understudy.kinematics import FloatArray
from understudy.monitor import meshes
from understudy.monitor.bodies import Body
from understudy.monitor.colours import CHARACTERS, PERFORMER, Rgb, linear
from understudy.monitor.feed import BodyKey, BodyView
from understudy.monitor.figure import Figure

Camera = Literal["three-quarter", "front", "side", "above"]
CAMERAS: Final[tuple[Camera, ...]] = ("three-quarter", "front", "side", "above")

_DIRECTIONS: Final[dict[Camera, tuple[float, float, float]]] = {
    "three-quarter": (0.55, 0.22, 1.0),
    "front": (0.0, 0.08, 1.0),
    "side": (1.0, 0.08, 0.0),
    "above": (0.0, 1.0, 0.05),
}
_FLOOR: Final = (58, 64, 71)
_CELL: Final = (70, 77, 85)
_SECTION: Final = (120, 130, 140)
_SKY: Final = ((12, 13, 15), (30, 34, 39))
_LOOK_AT_M: Final = 0.92
_DISTANCE_M: Final = 4.3
_FOLLOW_S: Final = 0.5
SPACING_M: Final = 1.25


class Stage:
    """Draws what it is given; to be used by one thread, except for the cameras."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._figures: dict[BodyKey, Figure] = {}
        self._colours: dict[str, Rgb] = {}
        self._names = 0
        self._home: FloatArray = np.zeros(3)
        self._fixed: dict[int, viser.FrameHandle] = {}
        self.spacing_m = SPACING_M
        self.goals_shown = True
        scene = server.scene
        scene.set_up_direction("+y")
        scene.set_background_image(_gradient(), format="png")
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        self._stage = scene.add_frame("/stage", show_axes=False)
        _furnish(scene)
        self._ghost = _Ghost(scene)
        server.initial_camera.fov = np.radians(42.0)
        self._aim(server.initial_camera, "three-quarter", 1, 1.7)

    @property
    def empty(self) -> bool:
        """Whether nobody is on it."""
        return not self._figures

    def colour(self, key: BodyKey) -> Rgb:
        """A body's colour; a character keeps its own as long as the page lives."""
        if key.of_performer:
            return PERFORMER
        return self._colours.setdefault(key.name, CHARACTERS[len(self._colours) % len(CHARACTERS)])

    def draw(self, views: Sequence[BodyView], dt: float, traced: bool) -> None:
        """Show these bodies, `dt` seconds after the last time; `traced` lengthens the trails."""
        with self._server.atomic():
            for key in set(self._figures) - {view.key for view in views}:
                self._figures.pop(key).remove()
            for place, view in enumerate(views):
                figure = self._figure(view)
                figure.stand_at(self._offset(place, len(views)))
                figure.show(view, self.goals_shown)
                if traced:
                    figure.trace()
            self._ghost.show(not views)
            if views:
                self._follow(self._figures[views[0].key].root, dt)

    def look(self, client: viser.ClientHandle, camera: Camera) -> None:
        """Move one viewer's camera."""
        with client.atomic():
            self._aim(client.camera, camera, max(1, len(self._figures)), client.camera.aspect)

    def set_following(self, client: viser.ClientHandle, follow: bool) -> None:
        """Whether the stage moves with the performer, for one viewer."""
        fixed = self._fixed.pop(client.client_id, None)
        if fixed is not None:
            fixed.remove()
        if not follow:
            # A node of the viewer's own stands in for the shared one, which moves on.
            self._fixed[client.client_id] = client.scene.add_frame(
                "/stage", show_axes=False, position=-self._home
            )

    def _figure(self, view: BodyView) -> Figure:
        figure = self._figures.get(view.key)
        if figure is None or figure.skeleton_id != view.message.id:
            if figure is not None:
                figure.remove()
            self._names += 1
            figure = Figure(
                self._server.scene, f"/stage/body{self._names}", view, self.colour(view.key)
            )
            self._figures[view.key] = figure
        return figure

    def _offset(self, place: int, count: int) -> FloatArray:
        """Bodies stand beside each other, the first leftmost as seen from the front."""
        return np.array([(place - (count - 1) / 2.0) * self.spacing_m, 0.0, 0.0])

    def _follow(self, root: FloatArray, dt: float) -> None:
        wanted = np.array([root[0], 0.0, root[2]])
        share = 1.0 - np.exp(-dt / _FOLLOW_S)
        if np.linalg.norm(wanted - self._home) > 2.0:
            share = 1.0  # the performer began again elsewhere
        self._home = self._home + share * (wanted - self._home)
        self._stage.position = -self._home

    def _aim(
        self,
        camera: viser.CameraHandle | viser.InitialCameraConfig,
        view: Camera,
        bodies: int,
        aspect: float,
    ) -> None:
        """Point a camera at the stage from far enough to have everyone in sight."""
        direction = np.array(_DIRECTIONS[view])
        width = (bodies - 1) * self.spacing_m
        distance = _DISTANCE_M + 0.55 * width + max(0.0, 1.2 - aspect) * 4.0
        aim = np.array([0.0, _LOOK_AT_M, 0.0])
        camera.position = aim + distance * direction / np.linalg.norm(direction)
        camera.look_at = aim


class _Ghost:
    """A body at rest that stands for those who have not come yet."""

    def __init__(self, scene: viser.SceneApi) -> None:
        skeleton = load_character("actor")
        body = Body(skeleton)
        rest = skeleton.rest_pose()
        placed = body.place(rest.root, rest.rotations_xyzw)
        self._frame = scene.add_frame("/ghost", show_axes=False, position=(0.45, 0.0, 0.0))
        for name, mesh, scales, places, turns in (
            ("bones", meshes.bone(), body.shape.bone_scales, placed.bones, placed.bones_wxyz),
            (
                "joints",
                meshes.ball(),
                body.shape.ball_scales,
                placed.joints,
                np.tile([1.0, 0.0, 0.0, 0.0], (len(placed.joints), 1)),
            ),
        ):
            scene.add_batched_meshes_simple(
                f"/ghost/{name}",
                mesh.vertices,
                mesh.faces,
                batched_wxyzs=turns,
                batched_positions=places,
                batched_scales=scales,
                batched_colors=linear(PERFORMER),
                opacity=0.18,
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
        self._shown = True

    def show(self, shown: bool) -> None:
        if shown != self._shown:
            self._frame.visible = self._shown = shown


def _furnish(scene: viser.SceneApi) -> None:
    """Floor, and a metre to measure by."""
    scene.add_grid(
        "/stage/floor",
        plane="xz",
        infinite_grid=True,
        cell_size=0.25,
        section_size=1.0,
        cell_color=_CELL,
        section_color=_SECTION,
        cell_thickness=0.8,
        section_thickness=1.0,
        fade_distance=22.0,
        plane_color=_FLOOR,
        plane_opacity=1.0,
        shadow_opacity=0.9,
    )
    ticks = [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]]
    for k in range(11):
        size = 0.05 if k % 5 == 0 else 0.025
        ticks.append([[k / 10.0, 0.0, 0.0], [k / 10.0, 0.0, size]])
    scene.add_line_segments(
        "/ruler",
        np.array(ticks, np.float32),
        (200, 208, 216),
        thickness=2.5,
        thickness_units="screen",
        position=(-0.5, 0.01, 1.0),
    )
    scene.add_label(
        "/ruler/text", "1 m", position=(0.5, 0.0, 0.12), anchor="top-center", font_screen_scale=0.9
    )


def _gradient() -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """The sky: dark above, lighter at the horizon."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None] ** 1.5
    top, bottom = (np.array(colour, np.float64) for colour in _SKY)
    rows = top + share * (bottom - top)
    return np.broadcast_to(np.round(rows), (256, 8, 3)).astype(np.uint8)
