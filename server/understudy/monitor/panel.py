"""The panel beside the stage: what is going on, the numbers, recording, controls, the view."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Final

import numpy as np
import viser
import viser.uplot

from understudy.kinematics import FloatArray
from understudy.monitor import markup
from understudy.monitor.calibration import CalibrationDesk
from understudy.monitor.colours import BAD, DARK, GOOD, IDLE_BUTTON, LIGHT, WARN, Theme, css
from understudy.monitor.controls import Controls
from understudy.monitor.feed import BodyView, Feed, LatencyView
from understudy.monitor.figures import HISTORY_S
from understudy.monitor.link import Link, ServerView
from understudy.monitor.recorder import MAX_SECONDS, Recorder, Take
from understudy.monitor.stage import CAMERAS, SPACING, Stage
from understudy.monitor.words import SILENT_S, remark, situation
from understudy_protocol import PoseMessage

_BRAND: Final = (46, 196, 182)
_P50: Final = "#2ec4b6"
_P99: Final = "#ffb03a"
_RECORDING: Final = (214, 57, 57)
_WIDTH_PX: Final = 380.0
# An effector this far from its goal is worth a colour, m.
_NEAR_M: Final = 0.01
_FAR_M: Final = 0.05
_LOSS_WINDOW_S: Final = 60.0
_TOPS_MS: Final = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


class Panel:
    """Everything on the page that is not the stage; `refresh` is called by the drawing thread."""

    def __init__(
        self,
        page: viser.ViserServer,
        stage: Stage,
        feed: Feed,
        link: Link,
        recorder: Recorder,
        control: str,
    ) -> None:
        self._stage = stage
        self._feed = feed
        self._link = link
        self._recorder = recorder
        self._control = control
        self._pressing = threading.Lock()
        gui = page.gui
        self._set_theme(gui, DARK)
        gui.set_panel_label("understudy")
        gui.main_panel.dock_right()
        gui.main_panel.set_width(_WIDTH_PX)
        self._status = gui.add_html("")
        self._record = gui.add_button("Record", icon=viser.Icon.CIRCLE, color=IDLE_BUTTON)
        self._record.on_click(lambda _: self._toggle_recording())
        self._recorded = gui.add_html("", visible=False)
        self.calibration = CalibrationDesk(gui, link)
        tabs = gui.add_tab_group()
        with tabs.add_tab("Live", icon=viser.Icon.ACTIVITY):
            self._add_numbers(gui)
        with tabs.add_tab("Controls", icon=viser.Icon.ADJUSTMENTS):
            self.controls = Controls(gui, link)
        with tabs.add_tab("View", icon=viser.Icon.CAMERA):
            self._add_view(gui)
        self._guide = gui.add_panel(visible=False)
        with self._guide.add_tab("How to begin", icon=viser.Icon.INFO_CIRCLE):
            self._guide_text = gui.add_html("")
        self._guide.float(x=40, y=40, width=430)
        self._guide_shown = False

    def refresh(self) -> None:
        """Bring every number up to date."""
        bodies = self._feed.bodies()
        view = self._link.view
        now = situation(view, bodies, self._control, time.monotonic())
        self._status.content = markup.card(now.headline, now.text, now.colour)
        if bool(now.commands) != self._guide_shown:
            self._guide.visible = self._guide_shown = bool(now.commands)
        if now.commands:
            self._guide_text.content = (
                markup.heading(now.headline)
                + markup.note(
                    f"Type {'this' if len(now.commands) == 1 else 'one of these'} in a terminal on"
                    " the machine of the server:"
                )
                + markup.commands(now.commands)
            )
        self._refresh_record()
        self.calibration.refresh(view)
        self._refresh_numbers(view, bodies)
        self.controls.refresh(view)

    def _add_numbers(self, gui: viser.GuiApi) -> None:
        self._tiles = gui.add_html("")
        self._plot_top = 1.0
        self._losses: deque[tuple[float, int]] = deque()
        marks = ((_P50, "p50"), (_P99, "p99"))
        gui.add_html(markup.heading("Time in the server (ms), last 3 minutes", "", marks))
        empty = np.array([-2.0, -1.0]) * HISTORY_S  # outside the axis: nothing to see yet
        self._plot = gui.add_uplot(
            (empty, np.zeros(2), np.zeros(2)),
            (
                viser.uplot.Series(label="s"),
                viser.uplot.Series(label="p50", stroke=_P50, width=2, fill="rgba(46,196,182,.14)"),
                viser.uplot.Series(label="p99", stroke=_P99, width=2),
            ),
            scales=_scales(self._plot_top),
            axes=(
                viser.uplot.Axis(ticks={"show": False}, size=24),
                viser.uplot.Axis(ticks={"show": False}, size=34),
            ),
            legend=viser.uplot.Legend(show=False),
            height=128,
        )
        self._stages = gui.add_html("")
        self._list = gui.add_html("")

    def _add_view(self, gui: viser.GuiApi) -> None:
        camera = gui.add_button_group("Camera", CAMERAS, hint="For this window alone.")

        @camera.on_click
        def _(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            for name in CAMERAS:
                if event.client is not None and event.target.value == name:
                    self._stage.look(event.client, name)

        stay = gui.add_button_group(
            "Stage", ("follow", "stay"), hint="Whether the stage moves with the performer, here."
        )

        @stay.on_click
        def _(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            if event.client is not None:
                self._stage.set_following(event.client, event.target.value == "follow")

        light = gui.add_button_group(
            "Theme", ("dark", "light"), hint="For everyone who looks at this page."
        )

        @light.on_click
        def _(event: viser.GuiEvent[viser.GuiButtonGroupHandle]) -> None:
            self._set_theme(gui, LIGHT if event.target.value == "light" else DARK)

        spacing = gui.add_slider(
            "Spacing", 0.0, 2.0, 0.05, SPACING, hint="0 lays the bodies over each other."
        )
        goals = gui.add_checkbox("Goals and errors", True, hint="Where effectors should be.")

        @spacing.on_update
        def _(_: object) -> None:
            self._stage.spacing = float(spacing.value)

        @goals.on_update
        def _(_: object) -> None:
            self._stage.goals_shown = goals.value

        gui.add_html(
            markup.note(
                "Grey is the performer, each colour a character. A lit foot is planted. Pink rings"
                " are goals, a pink line is how far off an effector is. The ring on the floor shows"
                " where a body faces, the trail where it came from. Small squares are 25 cm."
            )
        )

    def _set_theme(self, gui: viser.GuiApi, theme: Theme) -> None:
        self._stage.theme = theme
        gui.configure_theme(
            dark_mode=theme.dark, show_logo=False, show_share_button=False, brand_color=_BRAND
        )

    def _toggle_recording(self) -> None:
        # Two viewers may press at once: the second finds the work done.
        if not self._pressing.acquire(blocking=False):
            return
        try:
            if self._recorder.seconds is None:
                self._recorder.start()
            else:
                self._finish_recording()
            self._refresh_record()
        finally:
            self._pressing.release()

    def _finish_recording(self) -> None:
        self._record.disabled = True
        try:
            take = self._recorder.stop()
        finally:
            self._record.disabled = False
        if take is not None:
            self._recorded.content = markup.note(_told(take))
            self._recorded.visible = True

    def _refresh_record(self) -> None:
        seconds = self._recorder.seconds
        if seconds is not None and seconds > MAX_SECONDS:
            self._finish_recording()
            seconds = None
        if seconds is None:
            self._record.label, self._record.color = "Record", IDLE_BUTTON
        else:
            clock = f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
            self._record.label, self._record.color = f"Stop recording  {clock}", _RECORDING

    def _refresh_numbers(self, view: ServerView, bodies: Sequence[BodyView]) -> None:
        latency = self._feed.latency()
        self._tiles.content = markup.tiles(
            [*_rates(view, bodies), self._lost(view), *_quality(bodies, latency)]
        )
        ages, p50, p99 = latency.history
        if len(ages) >= 2:
            top = _top(p99)
            if top != self._plot_top:
                self._plot_top = top
                self._plot.scales = _scales(top)
            self._plot.data = (ages / 60.0, p50, p99)
        self._stages.content = _stages(view)
        rows = [self._row(view, body) for body in bodies]
        title = markup.heading("On stage", "distance of the worst effector") if rows else ""
        self._list.content = title + markup.body_list(rows)

    def _lost(self, view: ServerView) -> markup.Tile:
        """Frames that never became a pose, in the last minute and since the server started."""
        entries = [] if view.stats is None else view.stats["performers"]
        total = sum(int(each["lost"]) for each in entries)
        entries = [] if view.stats is None else view.stats["characters"]
        total += sum(int(each["dropped"]) for each in entries)
        now = time.monotonic()
        if self._losses and total < self._losses[-1][1]:
            self._losses.clear()  # another server
        self._losses.append((now, total))
        while now - self._losses[0][0] > _LOSS_WINDOW_S:
            self._losses.popleft()
        recent = total - self._losses[0][1]
        return markup.Tile(
            "Lost last minute",
            str(recent),
            f"{total} in all" if total else "frames",
            "frames of a performer that never became a pose",
            WARN if recent else GOOD,
        )

    def _row(self, view: ServerView, body: BodyView) -> markup.Row:
        colour = css(self._stage.colour(body.key))
        pose = body.pose
        if isinstance(pose, PoseMessage):
            mm = pose.residual_m * 1e3
            tone = "" if pose.residual_m < _NEAR_M else WARN if pose.residual_m < _FAR_M else BAD
            words = remark(body).partition(": ")[2] or f"{body.rate_hz:.0f} poses a second"
            return markup.Row(colour, body.key.name, words, f"{mm:.0f} mm", tone)
        silent = time.monotonic() - body.heard_s > SILENT_S
        rate = view.performer_stats(body.key.name).get("rate_hz", body.rate_hz)
        words = f"performer, {rate:.0f} frames a second"
        return markup.Row(
            colour,
            body.key.name,
            words if not silent else "performer",
            "silent" if silent else "live",
            WARN if silent else GOOD,
        )


def _rates(view: ServerView, bodies: Sequence[BodyView]) -> list[markup.Tile]:
    inputs = [
        float(view.performer_stats(body.key.name).get("rate_hz", 0.0))
        for body in bodies
        if body.key.of_performer
    ]
    outputs = [body.rate_hz for body in bodies if not body.key.of_performer]
    return [
        markup.Tile("Input", _fps(inputs), "fps", "frames a performer sends in a second"),
        markup.Tile("Output", _fps(outputs), "fps", "poses a character is given in a second"),
    ]


def _quality(bodies: Sequence[BodyView], latency: LatencyView) -> list[markup.Tile]:
    residuals = [body.pose.residual_m for body in bodies if isinstance(body.pose, PoseMessage)]
    p50, p99 = ("-", "-") if latency.now is None else (f"{ms:.2f}" for ms in latency.now)
    worst = f"{max(residuals) * 1e3:.0f}" if residuals else "-"
    time_in = "from a frame's arrival to its pose's departure,"
    return [
        markup.Tile("Latency p50", p50, "ms", f"{time_in} for half of the last two seconds' poses"),
        markup.Tile("Latency p99", p99, "ms", f"{time_in} for 99 in 100 of them"),
        markup.Tile("Worst effector", worst, "mm", "how far a hand or foot is from its goal"),
    ]


def _scales(top: float) -> dict[str, viser.uplot.Scale]:
    return {
        # Without a range of its own the axis drifts away from data that moves.
        "x": viser.uplot.Scale(time=False, range=(-HISTORY_S / 60.0, 0.0)),
        "y": viser.uplot.Scale(range=(0.0, 1.08 * top)),  # room for the last number
    }


def _top(p99: FloatArray) -> float:
    """The end of the axis: what nearly all seconds stay below, so that one hitch hides nothing."""
    usual = 1.3 * float(np.percentile(p99, 95.0))
    return next((top for top in _TOPS_MS if top >= usual), float(np.ceil(usual)))


def _fps(rates: Sequence[float]) -> str:
    return f"{max(rates):.1f}" if rates else "-"


def _stages(view: ServerView) -> str:
    """Where the time of the slowest character's frame goes.

    Its stages are those of a few frames that were timed, which take a little longer than others.
    """
    measured = [] if view.stats is None else [c for c in view.stats["characters"] if c["poses"]]
    if not measured:
        return ""
    slowest = max(measured, key=lambda each: float(each["work_us"]["p50"]))
    parts = [
        (str(name), float(value["p50"])) for name, value in slowest.get("stages_us", {}).items()
    ]
    total = f"{float(slowest['work_us']['p50']):.0f} \N{MICRO SIGN}s, {slowest['name']}"
    return markup.heading("Where the time goes", total) + markup.stages(parts)


def _told(take: Take) -> str:
    left_out = "".join(f" Left out: {line}." for line in take.left_out)
    if not take.files:
        return f"Nothing was recorded.{left_out}"
    names = ", ".join(path.name for path in take.files)
    return f"Wrote {names} to {take.folder}.{left_out} Replay with: understudy play FILE"
