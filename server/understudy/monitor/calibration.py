"""Calibration from the page: a button, a countdown that is read from afar, and how it went."""

from __future__ import annotations

import math
import threading
import time
from dataclasses import dataclass
from typing import Final

import viser

from understudy.monitor import markup
from understudy.monitor.colours import IDLE_BUTTON
from understudy.monitor.link import Fields, Link, ServerView
from understudy_protocol import EventMessage

_NOBODY: Final = ("none",)


@dataclass(frozen=True, slots=True)
class Told:
    """What the server said last about a calibration; `until_s` while it counts, monotonic."""

    performer: str
    text: str
    until_s: float | None = None


def told_by(event: EventMessage, now_s: float) -> Told | None:
    """What an event says about a calibration; None if it is about something else."""
    performer = str(event.data.get("performer", ""))
    if event.kind == "calibrating":
        seconds = event.data.get("seconds")
        until_s = now_s + float(seconds) if isinstance(seconds, int | float) else None
        text = event.text.partition(":")[0]
        return Told(performer, text[:1].upper() + text[1:], until_s)
    if event.kind == "calibrated":
        return Told(performer, f"{performer} is calibrated, from {event.text}.")
    if event.kind == "calibration-failed":
        return Told(performer, f"{performer} was not calibrated: {event.text}.")
    return None


class CalibrationDesk:
    """The button and what it leads to; whoever starts a calibration, everyone sees it."""

    def __init__(self, gui: viser.GuiApi, link: Link) -> None:
        self._link = link
        self._lock = threading.Lock()
        self._told: Told | None = None
        self._performer = gui.add_dropdown(
            "Performer", _NOBODY, visible=False, hint="Whom to calibrate."
        )
        self._button = gui.add_button(
            "Calibrate",
            icon=viser.Icon.STRETCHING,
            color=IDLE_BUTTON,
            hint="The performer stands in a T- or A-pose; the characters follow from there.",
        )
        self._button.on_click(lambda _: self._start())
        self._outcome = gui.add_html("", visible=False)
        self._board = gui.add_panel(visible=False)
        with self._board.add_tab("Calibration", icon=viser.Icon.STRETCHING):
            self._count = gui.add_html("")
        self._board.float(x=40, y=40, width=430)
        self._board_shown = False

    def hear(self, event: EventMessage) -> None:
        """Take an event of a character; may be called from any thread."""
        told = told_by(event, time.monotonic())
        if told is not None:
            with self._lock:
                self._told = told

    def refresh(self, view: ServerView) -> None:
        """Follow what was heard; to be called by the drawing thread."""
        names = tuple(sorted({str(s["performer"]) for s in view.sessions})) or _NOBODY
        if self._performer.options != names:
            self._performer.options = names
            self._performer.visible = len(names) > 1
        with self._lock:
            told = self._told
        left_s = 0.0
        if told is not None and told.until_s is not None:
            left_s = told.until_s - time.monotonic()
            # The word that it is over may never come: the server may be gone.
            if left_s < -2.0:
                told = Told(told.performer, f"Nothing was heard of {told.performer}'s calibration.")
                self._say(told)
        counting = told is not None and told.until_s is not None
        self._button.disabled = counting or not view.connected or names == _NOBODY
        if told is not None and counting:
            self._count.content = markup.countdown(
                str(max(1, math.ceil(left_s))), told.text, told.performer
            )
        if counting != self._board_shown:
            self._board.visible = self._board_shown = counting
        if told is not None and not counting:
            self._outcome.content = markup.note(told.text, "calibration")
        self._outcome.visible = told is not None and not counting

    def _start(self) -> None:
        performer = str(self._performer.value)
        self._link.request("calibrate", {"performer": performer}, self._take_reply)

    def _take_reply(self, reply: Fields | None, error: str) -> None:
        if reply is None:
            performer = str(self._performer.value)
            self._say(Told(performer, f"{performer} was not calibrated: {error}."))

    def _say(self, told: Told) -> None:
        with self._lock:
            self._told = told
