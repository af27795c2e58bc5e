"""The monitor put together: sockets in, a page out, drawn at a steady rate while anyone looks."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from understudy.monitor.feed import BodyKey, Feed
from understudy.monitor.link import Link, ServerView
from understudy.monitor.panel import Panel
from understudy.monitor.recorder import Recorder
from understudy.monitor.security import PrivateServer
from understudy.monitor.stage import Stage
from understudy_protocol import DEFAULT_CONTROL, DEFAULT_DOWNLINK, EventMessage

_log = logging.getLogger(__name__)

DEFAULT_HOST: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8080

_DRAW_S: Final = 1.0 / 30.0
_TRACE_EVERY: Final = 3
_PANEL_EVERY: Final = 8
# With nobody looking there is nothing to draw; how soon a new viewer is noticed.
_IDLE_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class MonitorOptions:
    """Where the page is served, which server it watches, where recordings go."""

    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    downlink: str = DEFAULT_DOWNLINK
    control: str = DEFAULT_CONTROL
    takes: Path = Path("takes")


class Monitor:
    """A page that shows a server's show: `with Monitor(options) as monitor` serves it.

    It lives in a process of its own and is one subscriber among others: nothing it does can delay
    a frame. It waits for a server that is not there yet and survives one that goes.
    """

    def __init__(self, options: MonitorOptions) -> None:
        self.page = PrivateServer(options.host, options.port, "understudy")
        self._stopping = threading.Event()
        self.recorder = Recorder(options.takes)
        self.feed = Feed(options.downlink, self.recorder.add, self._take_event)
        self.link = Link(options.control, self._take_view)
        self.stage = Stage(self.page)
        self.panel = Panel(
            self.page, self.stage, self.feed, self.link, self.recorder, options.control
        )
        self._thread = threading.Thread(target=self._draw, name="draw", daemon=True)

    @property
    def url(self) -> str:
        """Where the page is."""
        host = self.page.get_host()
        shown = "127.0.0.1" if host in ("0.0.0.0", "") else host
        return f"http://{f'[{shown}]' if ':' in shown else shown}:{self.page.get_port()}"

    def __enter__(self) -> Self:
        self.feed.start()
        self.link.start()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join()
        self.link.stop()
        self.feed.stop()
        self.recorder.stop()  # a take that still runs is kept
        self.page.stop()

    def _take_event(self, event: EventMessage) -> None:
        self.panel.calibration.hear(event)

    def _take_view(self, view: ServerView) -> None:
        """Bodies that the server does not know any more leave the stage."""
        known: set[BodyKey] = set()
        if view.connected and view.listed is not None:
            known |= {BodyKey(True, str(p["name"])) for p in view.listed["performers"]}
            known |= {BodyKey(False, str(c["name"])) for c in view.listed["characters"]}
        self.feed.keep_only(known)

    def _draw(self) -> None:
        tick = 0
        last = due = time.monotonic()
        complained = -1.0
        while not self._stopping.is_set():
            now = time.monotonic()
            period = _IDLE_S
            if self.page.get_clients():
                period = _DRAW_S
                tick += 1
                try:
                    self.stage.draw(self.feed.bodies(), now - last, tick % _TRACE_EVERY == 0)
                    if tick % _PANEL_EVERY == 1:
                        self.panel.refresh()
                except Exception:
                    # A fault of ours must not end the page; it is told at most once a second.
                    if now - complained > 1.0:
                        complained = now
                        _log.exception("the page could not be drawn")
            last = now
            due = max(due + period, time.monotonic())
            self._stopping.wait(due - time.monotonic())
