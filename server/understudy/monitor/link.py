"""The control channel, used by one thread: looks at what the server runs, and requests."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from understudy_client import ClientError, Control
from understudy_protocol import ProtocolError

# A look at the server's figures costs it about a millisecond: not more often than this.
_LOOK_S: Final = 1.0
_ANSWER_S: Final = 1.5
# Another solver may have to be compiled first.
_PATIENT_S: Final = 60.0

Fields = Mapping[str, Any]  # what the control channel carries: numbers, texts, lists and maps
OnReply = Callable[[Fields | None, str], None]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number or word of a solver that may be changed while it runs, as the server says it."""

    name: str
    default: float
    low: float
    high: float
    whole: bool
    meaning: str
    choices: tuple[str, ...] = ()

    @property
    def initial(self) -> float | str:
        """What it is if nobody changes it."""
        return self.choices[int(self.default)] if self.choices else self.default

    def as_sent(self, value: float | bool | str) -> float | int | bool | str:
        """A value as a request carries it."""
        return int(value) if self.whole and not self.choices else value


@dataclass(frozen=True, slots=True)
class ServerView:
    """What the server said last: its `hello`, `list` and `stats`; `connected` while it answers."""

    connected: bool = False
    hello: Fields | None = None
    listed: Fields | None = None
    stats: Fields | None = None

    @property
    def sessions(self) -> list[Fields]:
        """The sessions, in the server's order."""
        return [] if self.listed is None else list(self.listed["sessions"])

    def performer_stats(self, name: str) -> Fields:
        """The counters of a performer, empty if there are none."""
        return _named(self.stats, "performers", name)

    def character_stats(self, name: str) -> Fields:
        """The counters of a character, empty if there are none."""
        return _named(self.stats, "characters", name)

    def parameters(self, session: Fields) -> list[Parameter]:
        """What can be changed about a session's solver, empty if the server does not tell."""
        described = {} if self.listed is None else self.listed.get("parameters", {})
        general = described.get(session.get("solver"), [])
        return [
            Parameter(
                str(item["name"]),
                float(item["default"]),
                float(item["low"]),
                float(item["high"]),
                bool(item["whole"]),
                str(item["meaning"]),
                tuple(str(word) for word in item.get("choices", ())),
            )
            for item in (*general, *session.get("parameters", ()))
        ]


class Link:
    """Asks the server every second from `start` to `stop`, and passes on requests in between."""

    def __init__(self, address: str, on_view: Callable[[ServerView], None]) -> None:
        self._address = address
        self._on_view = on_view
        self.view = ServerView()
        self._requests: queue.SimpleQueue[tuple[str, Fields, OnReply] | None] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    def start(self) -> None:
        """Begin to ask; a server may come later."""
        self._thread.start()

    def stop(self) -> None:
        """End; returns when the thread has ended."""
        self._stopping.set()
        self._requests.put(None)
        self._thread.join()

    def request(self, op: str, fields: Fields, on_reply: OnReply) -> None:
        """Have a request sent; `on_reply` gets the reply's fields, or None and what went wrong."""
        self._requests.put((op, fields, on_reply))

    def _run(self) -> None:
        with Control(self._address, _ANSWER_S) as control:
            while not self._stopping.is_set():
                self._look(control)
                self._serve(control)

    def _serve(self, control: Control) -> None:
        """Pass on requests; back when none has come for a second."""
        while True:
            try:
                wanted = self._requests.get(timeout=_LOOK_S)
            except queue.Empty:
                return
            if wanted is None:
                return
            op, fields, on_reply = wanted
            try:
                on_reply(control.request(op, timeout=_PATIENT_S, **fields), "")
            except (ClientError, ProtocolError) as error:
                on_reply(None, str(error))
            if self._requests.empty():
                self._look(control)

    def _look(self, control: Control) -> None:
        try:
            hello = self.view.hello if self.view.connected else control.hello()
            view = ServerView(True, hello, control.request("list"), control.request("stats"))
        except (ClientError, ProtocolError):
            view = ServerView(False, None, self.view.listed, None)
        self.view = view
        self._on_view(view)


def _named(stats: Fields | None, kind: str, name: str) -> Fields:
    entries = [] if stats is None else stats[kind]
    return next((entry for entry in entries if entry["name"] == name), {})
