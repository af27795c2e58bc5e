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
from understudy.monitor.colours import DARK, Rgb, Theme, linear
from understudy.monitor.feed import BodyKey, BodyView
from understudy.monitor.figure import Figure

Camera = Literal["three-quarter", "front", "side", "above"]
CAMERAS: Final[tuple[Camera, ...]] = ("three-quarter", "front", "side", "above")

_DIRECTIONS: Final[dict[Camera, tuple[float, float, float]]] = {
    "three-quarter": (0.7, 0.24, 1.0),
    "front": (0.0, 0.08, 1.0),
    "side": (1.0, 0.08, 0.0),
    "above": (0.0, 1.0, 0.05),
}
_FOV_RAD: Final = np.radians(42.0)
# How much of the picture's height or width the bodies take at the most: those of another stride
# leave the middle of the stage.
_FILLED: Final = 0.82
# A window narrower than this, by its height, is a phone's; there the bodies stand this much of the
# height above the middle.
_UPRIGHT_WINDOW: Final = 0.8
_RAISED: Final = 0.28
_RESHAPED: Final = 0.02
_FOLLOW_S: Final = 0.5
_EMPTY_HEIGHT_M: Final = 2.5
SPACING: Final = 0.75


class Stage:
    """Draws what it is given; to be used by one thread, except for the cameras."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._server = server
        self._figures: dict[BodyKey, Figure] = {}
        self._numbers: dict[str, int] = {}  # of the characters, in the order they came
        self._names = 0
        self._home: FloatArray = np.zeros(3)
        self._fixed: dict[int, viser.FrameHandle] = {}
        # Of each viewer: the camera chosen last, and the shape of the window it was aimed for.
        self._looks: dict[int, tuple[Camera, float]] = {}
        self.spacing = SPACING
        self.goals_shown = True
        self.theme = DARK
        self._furnished = DARK
        scene = server.scene
        scene.set_up_direction("+y")
        scene.configure_default_lights(enabled=True, cast_shadow=True)
        # A photographed room would light it as well, but takes seconds without a graphics card.
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(150, 156, 165), intensity=1.8
        )
        self._stage = scene.add_frame("/stage", show_axes=False)
        _furnish(scene, DARK)
        self._ghost = _Ghost(scene, DARK)
        server.initial_camera.fov = _FOV_RAD
        self._aim(server.initial_camera, "three-quarter", 1.4)
        server.on_client_connect(self._welcome)
        server.on_client_disconnect(self._see_off)

    @property
    def empty(self) -> bool:
        """Whether nobody is on it."""
        return not self._figures

    def colour(self, key: BodyKey) -> Rgb:
        """A body's colour; a character keeps its own as long as the page lives."""
        if key.of_performer:
            return self.theme.performer
        number = self._numbers.setdefault(key.name, len(self._numbers))
        return self.theme.characters[number % len(self.theme.characters)]

    def draw(self, views: Sequence[BodyView], dt: float, traced: bool) -> None:
        """Show these bodies, `dt` seconds after the last time; `traced` lengthens the trails."""
        with self._server.atomic():
            if self.theme is not self._furnished:
                self._repaint()
            changed = self._cast(views)
            for view, place in zip(views, self._places(views), strict=True):
                figure = self._figures[view.key]
                figure.stand_at(np.array([place, 0.0, 0.0]))
                figure.show(view, self.goals_shown)
                if traced:
                    figure.trace()
            self._ghost.show(not views)
            if views:
                roots = [self._figures[view.key].root for view in views]
                self._follow(np.mean(roots, axis=0), dt)
        if changed:
            self._aim(self._server.initial_camera, "three-quarter", 1.4)
            for client in self._server.get_clients().values():
                self.look(client, "three-quarter")

    def look(self, client: viser.ClientHandle, camera: Camera) -> None:
        """Move one viewer's camera."""
        aspect = client.camera.aspect
        self._looks[client.client_id] = camera, aspect
        with client.atomic():
            client.camera.fov = _FOV_RAD
            self._aim(client.camera, camera, aspect)

    def _welcome(self, client: viser.ClientHandle) -> None:
        self.look(client, "three-quarter")
        client.camera.on_update(lambda _: self._reframe(client))

    def _see_off(self, client: viser.ClientHandle) -> None:
        self._looks.pop(client.client_id, None)
        self._fixed.pop(client.client_id, None)

    def _reframe(self, client: viser.ClientHandle) -> None:
        """Aim anew if the window has another shape: the panel is docked after the page is there."""
        camera, aspect = self._looks.get(client.client_id, ("three-quarter", client.camera.aspect))
        if abs(client.camera.aspect / aspect - 1.0) > _RESHAPED:
            self.look(client, camera)

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

    def _repaint(self) -> None:
        """Make everything anew, in the colours of the theme; the figures come by themselves."""
        self._furnished = self.theme
        _furnish(self._server.scene, self.theme)
        for figure in self._figures.values():
            figure.remove()
        self._figures = {}
        self._ghost.remove()
        self._ghost = _Ghost(self._server.scene, self.theme)

    def _cast(self, views: Sequence[BodyView]) -> bool:
        """Make the figures that are missing, remove those that are gone; whether there were any."""
        changed = False
        for key in set(self._figures) - {view.key for view in views}:
            self._figures.pop(key).remove()
            changed = True
        for view in views:
            figure = self._figures.get(view.key)
            if figure is not None and figure.skeleton_id == view.message.id:
                continue
            if figure is not None:
                figure.remove()
            self._names += 1
            path = f"/stage/body{self._names}"
            self._figures[view.key] = Figure(
                self._server.scene, path, view, self.colour(view.key), self._furnished
            )
            changed = True
        return changed

    def _places(self, views: Sequence[BodyView]) -> FloatArray:
        """Where bodies stand side by side, the first leftmost as seen from the front (m)."""
        heights = np.array([self._figures[view.key].height for view in views])
        if not len(heights):
            return np.zeros(0)
        steps = self.spacing * (heights[:-1] + heights[1:]) / 2.0
        places = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(places - (places[0] + places[-1]) / 2.0, np.float64)

    def _follow(self, root: FloatArray, dt: float) -> None:
        wanted = np.array([root[0], 0.0, root[2]])
        share = 1.0 - np.exp(-dt / _FOLLOW_S)
        if np.linalg.norm(wanted - self._home) > 2.0:
            share = 1.0  # they began again elsewhere
        self._home = self._home + share * (wanted - self._home)
        self._stage.position = -self._home

    def _aim(
        self,
        camera: viser.CameraHandle | viser.InitialCameraConfig,
        view: Camera,
        aspect: float,
    ) -> None:
        """Point a camera at the stage from just far enough to have everyone in sight."""
        heights = [figure.height for figure in self._figures.values()] or [_EMPTY_HEIGHT_M]
        tallest = max(heights)
        width = self.spacing * (sum(heights) - heights[0] / 2.0 - heights[-1] / 2.0) + 0.7 * tallest
        slope = np.tan(_FOV_RAD / 2.0)
        needed = max(tallest, width / max(0.3, aspect)) / (2.0 * slope * _FILLED)
        direction = np.array(_DIRECTIONS[view])
        middle = np.array([0.0, 0.43 * tallest, 0.0])
        camera.position = middle + needed * direction / np.linalg.norm(direction)
        # On a phone the panel covers the lower part: looking down raises what is to be seen.
        lower = _RAISED * 2.0 * needed * slope if aspect < _UPRIGHT_WINDOW else 0.0
        camera.look_at = middle - np.array([0.0, lower, 0.0])


class _Ghost:
    """A body at rest that stands for those who have not come yet."""

    def __init__(self, scene: viser.SceneApi, theme: Theme) -> None:
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
                batched_colors=linear(theme.performer),
                opacity=0.28,
                lod="off",
                cast_shadow=False,
                receive_shadow=False,
            )
        self._shown = True

    def remove(self) -> None:
        self._frame.remove()

    def show(self, shown: bool) -> None:
        if shown != self._shown:
            self._frame.visible = self._shown = shown


def _furnish(scene: viser.SceneApi, theme: Theme) -> None:
    """Sky, floor, and a metre to measure by; they take the place of those that were there."""
    scene.set_background_image(_gradient(theme), format="png")
    scene.add_grid(
        "/stage/floor",
        plane="xz",
        infinite_grid=True,
        cell_size=0.25,
        section_size=1.0,
        cell_color=theme.cell,
        section_color=theme.section,
        cell_thickness=0.8,
        section_thickness=1.0,
        fade_distance=22.0,
        plane_color=theme.floor,
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
        theme.ruler,
        thickness=2.5,
        thickness_units="screen",
        position=(-0.8, 0.01, 1.1),
    )
    scene.add_label(
        "/ruler/text", "1 m", position=(0.5, 0.0, 0.12), anchor="top-center", font_screen_scale=0.9
    )


def _gradient(theme: Theme) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """The sky, darker above than at the horizon."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None] ** 1.5
    top, bottom = (np.array(colour, np.float64) for colour in theme.sky)
    rows = top + share * (bottom - top)
    return np.broadcast_to(np.round(rows), (256, 8, 3)).astype(np.uint8)
