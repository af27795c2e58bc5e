"""A character's session on the page: solver, parameters and settings, changed live, and back."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any, Final

import viser

from understudy.monitor import markup
from understudy.monitor.changes import Change, Changes
from understudy.monitor.inputs import Input, Value, add_input, read_input, show_value
from understudy.monitor.link import Fields, Link, Parameter, ServerView

# An input that a viewer has just moved is not set back to what the server said before.
_HANDS_OFF_S: Final = 1.5
_NOBODY: Final = ("none",)
_LAST: Final = 1e9
# A solver that is still being eased in cannot be left: it is tried again with each refresh.
_TRIES: Final = 8

# What one reaches for first, in this order; the rest is folded away.
MAIN: Final = ("alpha", "k1", "k2", "damping", "softness", "corrections", "passes", "form")


class Controls:
    """Inputs for the session of one character at a time, in the tab that is open.

    Callbacks come from the page's threads, replies from the link's; one lock keeps them apart.
    """

    def __init__(self, gui: viser.GuiApi, link: Link) -> None:
        self._gui = gui
        self._link = link
        self._lock = threading.RLock()
        self._changes = Changes()
        self._later: list[tuple[Change, int]] = []  # to be taken back, and how often to try
        self._view = ServerView()
        self._sessions: dict[str, dict[str, Any]] = {}
        self._parameters: dict[str, Parameter] = {}
        self._inputs: dict[str, Input] = {}
        self._touched_s: dict[str, float] = {}
        self._known: dict[str, Value] = {}  # what each input was when it was last looked at
        self._shown: tuple[str, ...] = ()
        self._character = gui.add_dropdown("Character", _NOBODY)
        self._character.on_update(lambda _: self._rebuild())
        self._solver = gui.add_dropdown(
            "Solver", _NOBODY, hint="The character eases over to another one."
        )
        self._solver.on_update(self._solver_chosen)
        self._setting_inputs = self._add_settings(gui)
        self._main = gui.add_folder("Parameters of the solver")
        with self._main:
            self._more = gui.add_folder("More parameters", order=_LAST, expand_by_default=False)
        self._about = gui.add_html("")
        self._undo = gui.add_button("Undo", icon=viser.Icon.ARROW_BACK_UP, disabled=True)
        self._undo.on_click(lambda _: self.undo())
        self._undo_all = gui.add_button(
            "Undo all changes",
            icon=viser.Icon.ARROW_BACK_UP_DOUBLE,
            disabled=True,
            hint="Everything that was changed on this page, of every character.",
        )
        self._undo_all.on_click(lambda _: self.undo_all())
        save = gui.add_button(
            "Save settings",
            icon=viser.Icon.DEVICE_FLOPPY,
            hint="Write them into the show file, for the next time it is served.",
        )
        save.on_click(lambda _: self._link.request("save", {}, self._saved))
        with gui.add_folder("More", expand_by_default=False):
            defaults = gui.add_button(
                "Parameters back to the defaults", icon=viser.Icon.RESTORE, color="gray"
            )
            defaults.on_click(lambda _: self._to_defaults())
            reset = gui.add_button(
                "Reset this character",
                icon=viser.Icon.REFRESH,
                color="gray",
                hint="Solver and contacts forget the past; the next frame starts afresh.",
            )
            reset.on_click(lambda _: self._reset_character())

    def refresh(self, view: ServerView) -> None:
        """Follow what the server says: characters that came or went, values set elsewhere."""
        with self._lock:
            self._view = view
            self._sessions = {
                str(s["character"]): {**s, "params": dict(s["params"])} for s in view.sessions
            }
            names = tuple(self._sessions) or _NOBODY
            if self._character.options != names:
                self._character.options = names
            self._rebuild()
            self._follow()
            self._try_again()

    def undo(self) -> None:
        """Take back the last change, whoever made it."""
        with self._lock:
            self._take_back(self._changes.take_last())

    def undo_all(self) -> None:
        """Take back every change, whoever made it."""
        with self._lock:
            self._take_back(self._changes.take_all())

    @property
    def _session(self) -> dict[str, Any]:
        """The chosen character's session as the server has it, empty if there is none."""
        return self._sessions.get(str(self._character.value), {})

    def _add_settings(self, gui: viser.GuiApi) -> dict[str, Input]:
        inputs: dict[str, Input] = {
            "stride": gui.add_dropdown(
                "Stride",
                ("scaled", "performed"),
                hint="Steps scaled to the character's legs, or as long as the performer's.",
            ),
            "lock_feet": gui.add_checkbox("Lock feet", True, hint="Planted feet are held."),
            "smoothing": gui.add_slider(
                "Smoothing",
                0.0,
                1.0,
                0.05,
                0.0,
                hint="Of the performer's motion, before it is used: 0 not at all. It adds delay.",
            ),
        }
        for name, made in inputs.items():
            made.on_update(partial(self._setting_changed, name))
        return inputs

    def _rebuild(self) -> None:
        """Make the inputs of the character that is chosen, if they are not there."""
        with self._lock:
            character = str(self._character.value)
            solver = str(self._session.get("solver", ""))
            parameters = self._view.parameters(self._session)
            wanted = (character, solver, *(p.name for p in parameters))
            if wanted == self._shown:
                return
            self._shown = wanted
            for name, old in self._inputs.items():
                old.remove()
                self._known.pop(name, None)
            self._inputs, self._touched_s = {}, {}
            self._parameters = {p.name: p for p in parameters}
            self._tell(f"The solver {solver!r} has nothing to set." if not parameters else "")
            values = self._session.get("params", {})
            for p in sorted(parameters, key=_rank):
                with self._main if _rank(p) < len(MAIN) else self._more:
                    # Before the performer is known there is no solver to ask.
                    made = add_input(self._gui, p, values.get(p.name, p.initial))
                    made.on_update(partial(self._parameter_changed, p.name))
                    self._inputs[p.name] = made

    def _follow(self) -> None:
        """Show the server's values where no viewer has just been at work."""
        session, now = self._session, time.monotonic()
        params = session.get("params", {})
        known = () if self._view.listed is None else self._view.listed["solvers"]
        options = tuple(str(name) for name in known) or _NOBODY
        if self._solver.options != options:
            self._solver.options = options
        shown: list[tuple[str, Input, Value | None]] = [
            ("solver", self._solver, session.get("solver")),
            *((name, made, session.get(name)) for name, made in self._setting_inputs.items()),
            *(
                (name, made, params.get(name, self._parameters[name].initial))
                for name, made in self._inputs.items()
            ),
        ]
        for name, made, value in shown:
            if made.value != self._known.get(name, made.value):
                continue  # a viewer changed it, and is about to be heard
            if value is not None and now - self._touched_s.get(name, -1e9) >= _HANDS_OFF_S:
                show_value(made, value)
            self._known[name] = made.value
        self._undo.disabled = self._undo_all.disabled = not self._changes

    def _solver_chosen(self, event: viser.GuiEvent[Any]) -> None:
        with self._lock:
            wanted, session = str(self._solver.value), self._session
            self._known["solver"] = wanted
            # Without a client it was set by us, to what the server says.
            if event.client is not None and session and wanted not in (session["solver"], *_NOBODY):
                before = {"solver": session["solver"], "params": dict(session["params"])}
                self._change("solver", before, {"solver": wanted})

    def _setting_changed(self, name: str, event: viser.GuiEvent[Any]) -> None:
        with self._lock:
            self._known[name] = event.target.value
            before = self._session.get(name)
            if event.client is None or before is None:
                return
            value = read_input(event.target, before)
            if value != before:
                self._change(name, {name: before}, {name: value})

    def _parameter_changed(self, name: str, event: viser.GuiEvent[Any]) -> None:
        with self._lock:
            self._known[name] = event.target.value
            parameter, params = self._parameters.get(name), self._session.get("params")
            if event.client is None or parameter is None or not params:
                return
            before = params.get(name, parameter.initial)
            value = parameter.as_sent(read_input(event.target, before))
            if value != before:
                self._change(name, {"params": {name: before}}, {"params": {name: value}})

    def _to_defaults(self) -> None:
        with self._lock:
            values = self._session.get("params", {})
            changed = {
                p.name: p.as_sent(p.initial)
                for p in self._parameters.values()
                if p.name in values and values[p.name] != p.initial
            }
            if changed:
                before = {name: values[name] for name in changed}
                self._touched_s = {}
                self._change("defaults", {"params": before}, {"params": changed})

    def _change(self, what: str, before: Fields, after: Fields) -> None:
        """Note what was, and have the server change it."""
        character, now = str(self._character.value), time.monotonic()
        self._changes.add(character, what, before, now)
        self._touched_s[what] = now
        self._undo.disabled = self._undo_all.disabled = False
        self._send(character, after, self._take_reply)

    def _take_back(self, changes: list[Change], tries: int = _TRIES) -> None:
        self._touched_s = {}
        for change in changes:

            def answered(reply: Fields | None, error: str, change: Change = change) -> None:
                with self._lock:
                    if reply is None and tries > 1:
                        self._later.append((change, tries - 1))
                    elif reply is None:
                        self._changes.put_back(change)
                if reply is not None or tries == 1:
                    self._take_reply(reply, error)

            self._send(change.character, change.before, answered)
        self._undo.disabled = self._undo_all.disabled = not self._changes

    def _try_again(self) -> None:
        later, self._later = self._later, []
        for change, tries in later:
            self._take_back([change], tries)

    def _send(self, character: str, fields: Fields, on_reply: Any) -> None:
        session = self._sessions.get(character, {})
        # Until the server is heard again, this is what it will say.
        session.update({key: value for key, value in fields.items() if key != "params"})
        session.setdefault("params", {}).update(fields.get("params", {}))
        self._link.request("set", {"character": character, **fields}, on_reply)

    def _reset_character(self) -> None:
        character = str(self._character.value)
        self._link.request("reset", {"character": character}, self._take_reply)

    def _take_reply(self, reply: Fields | None, error: str) -> None:
        if reply is None:
            with self._lock:
                self._touched_s = {}
        self._tell(error)

    def _saved(self, reply: Fields | None, error: str) -> None:
        if reply is None:
            self._tell(f"Not saved: {error}.")
            return
        left_out = ", ".join(reply["left_out"])
        without = f" The file has no session for {left_out}." if left_out else ""
        self._tell(f"Saved {', '.join(reply['saved'])} in {reply['file']}.{without}")

    def _tell(self, text: str) -> None:
        """Say how it went, where the buttons are."""
        self._about.content = markup.note(text, "said")


def _rank(parameter: Parameter) -> int:
    kind = parameter.name.partition(".")[0]  # softness.leftHand
    return MAIN.index(kind) if kind in MAIN else len(MAIN)
