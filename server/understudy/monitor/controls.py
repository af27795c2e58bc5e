"""A character's solver on the page: its parameters, changed live, and the way back."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any, Final

import viser

from understudy.monitor import markup
from understudy.monitor.link import Fields, Link, Parameter, ServerView

# Changes of one parameter that follow each other this fast are one step of the undo.
_ONE_GESTURE_S: Final = 1.0
# A slider that a viewer has just moved is not set back to what the server said before.
_HANDS_OFF_S: Final = 1.5
_MOST_UNDO: Final = 200
# A range this many times wider than the default has no use for a slider.
_WIDEST: Final = 200.0

Input = viser.GuiSliderHandle[float] | viser.GuiNumberHandle[float] | viser.GuiCheckboxHandle


@dataclass(frozen=True, slots=True)
class Change:
    """A parameter, or the whole solver, as it was before a viewer changed it."""

    character: str
    name: str  # of the parameter
    before: float
    solver: str | None = None  # the one to go back to, in place of a parameter


class Controls:
    """Inputs for the parameters of one character at a time, in the tab that is open.

    Callbacks come from the page's threads, replies from the link's; one lock keeps them apart.
    """

    def __init__(self, gui: viser.GuiApi, link: Link) -> None:
        self._gui = gui
        self._link = link
        self._lock = threading.RLock()
        self._undo: list[Change] = []
        self._inputs: dict[str, Input] = {}
        self._touched_s: dict[str, float] = {}
        self._shown: tuple[str, str] | None = None
        self._values: dict[str, dict[str, float]] = {}
        self._solvers: dict[str, str] = {}
        self._parameters: dict[str, Parameter] = {}
        self._character = gui.add_dropdown("Character", ("none",))
        self._character.on_update(lambda _: self._rebuild())
        self._solver = gui.add_dropdown(
            "Solver", ("none",), hint="The character eases over to another one."
        )
        self._solver.on_update(self._solver_chosen)
        self._about = gui.add_html(markup.note(""))
        self._folder = gui.add_folder("Parameters")
        self._undo_button = gui.add_button("Undo", icon=viser.Icon.ARROW_BACK_UP, disabled=True)
        self._undo_button.on_click(lambda _: self.undo())
        self._defaults = gui.add_button(
            "Back to the defaults", icon=viser.Icon.RESTORE, color="gray"
        )
        self._defaults.on_click(lambda _: self._to_defaults())
        self._reset = gui.add_button(
            "Reset this character",
            icon=viser.Icon.REFRESH,
            color="gray",
            hint="Solver and contacts forget the past; the next frame starts afresh.",
        )
        self._reset.on_click(lambda _: self._reset_character())
        self._settings = gui.add_html("")
        self._view = ServerView()

    def refresh(self, view: ServerView) -> None:
        """Follow what the server says: characters that came or went, values set elsewhere."""
        with self._lock:
            self._view = view
            self._values = {
                str(s["character"]): {
                    str(k): float(v)
                    for k, v in s["params"].items()
                    if isinstance(v, int | float | bool)
                }
                for s in view.sessions
            }
            self._solvers = {str(s["character"]): str(s["solver"]) for s in view.sessions}
            names = tuple(self._values) or ("none",)
            if self._character.options != names:
                self._character.options = names
            self._rebuild()
            self._follow_solver()
            self._follow_values()
            self._undo_button.disabled = not self._undo

    def undo(self) -> None:
        """Take back the last change, whoever made it."""
        with self._lock:
            if self._undo:
                change = self._undo.pop()
                self._touched_s.pop(change.name, None)
                if change.solver is not None:
                    self._send_solver(change.character, change.solver)
                else:
                    self._send(change.character, {change.name: change.before})
                self._undo_button.disabled = not self._undo

    def _rebuild(self) -> None:
        """Make the inputs of the character that is chosen, if they are not there."""
        with self._lock:
            character = str(self._character.value)
            solver = self._solvers.get(character, "")
            parameters = self._view.parameters(solver)
            values = self._values.get(character, {})
            wanted = (character, f"{solver}:{','.join(p.name for p in parameters)}")
            if not values and parameters:
                # Before the performer is known there is no solver to ask.
                values = {p.name: p.default for p in parameters}
            if wanted == self._shown:
                return
            self._shown = wanted
            for old in self._inputs.values():
                old.remove()
            self._inputs, self._touched_s = {}, {}
            self._parameters = {p.name: p for p in parameters}
            about = f"{character} is solved by {solver!r}." if solver else "No session runs."
            if solver and not parameters:
                about += " It has nothing to set."
            self._about.content = markup.note(about)
            with self._folder:
                for parameter in parameters:
                    value = values.get(parameter.name, parameter.default)
                    self._inputs[parameter.name] = self._input(parameter, value)

    def _solver_chosen(self, event: viser.GuiEvent[Any]) -> None:
        if event.client is None:
            return  # set by us, to what the server says
        with self._lock:
            character = str(self._character.value)
            before, wanted = self._solvers.get(character), str(self._solver.value)
            if before is not None and wanted != before:
                change = Change(character, "", 0.0, before)
                self._undo = [*self._undo, change][-_MOST_UNDO:]
                self._send_solver(character, wanted)

    def _send_solver(self, character: str, solver: str) -> None:
        self._solvers[character] = solver
        self._link.request("set", {"character": character, "solver": solver}, self._take_reply)

    def _input(self, parameter: Parameter, value: float) -> Input:
        gui, p = self._gui, parameter
        made: Input
        if p.whole and (p.low, p.high) == (0.0, 1.0):
            made = gui.add_checkbox(p.name, bool(value), hint=p.meaning)
        elif p.high - p.low <= _WIDEST * p.default or (p.default == 0.0 and p.high <= 10.0):
            step = 1.0 if p.whole else (p.high - p.low) / 100.0
            step = step if p.whole else float(f"{step:.0e}")
            made = gui.add_slider(p.name, p.low, p.high, step, value, hint=p.meaning)
        else:
            made = gui.add_number(p.name, value, min=p.low, max=p.high, hint=p.meaning)
        made.on_update(lambda event: self._changed(p.name, event))
        return made

    def _changed(self, name: str, event: viser.GuiEvent[Any]) -> None:
        if event.client is None:
            return  # set by us, to what the server says
        with self._lock:
            character = str(self._character.value)
            before = self._values.get(character, {}).get(name)
            now = time.monotonic()
            value = float(event.target.value)
            if before is None or before == value:
                return
            last = self._undo[-1] if self._undo else None
            touched = self._touched_s.get(name, 0.0)
            one_gesture = (
                last is not None
                and (last.character, last.name) == (character, name)
                and now - touched < _ONE_GESTURE_S
            )
            if not one_gesture:
                self._undo = [*self._undo, Change(character, name, before)][-_MOST_UNDO:]
            self._touched_s[name] = now
            self._undo_button.disabled = False
            self._send(character, {name: value})

    def _to_defaults(self) -> None:
        with self._lock:
            character = str(self._character.value)
            values = self._values.get(character, {})
            changed = {
                p.name: p.default
                for p in self._parameters.values()
                if values.get(p.name, p.default) != p.default
            }
            self._undo += [Change(character, name, values[name]) for name in changed]
            self._touched_s = {}
            if changed:
                self._send(character, changed)

    def _reset_character(self) -> None:
        character = str(self._character.value)
        self._link.request("reset", {"character": character}, lambda _, error: self._tell(error))

    def _send(self, character: str, values: dict[str, float]) -> None:
        whole = {name for name, p in self._parameters.items() if p.whole}
        params = {name: int(v) if name in whole else v for name, v in values.items()}
        self._values.setdefault(character, {}).update(values)
        self._link.request("set", {"character": character, "params": params}, self._take_reply)

    def _take_reply(self, reply: Fields | None, error: str) -> None:
        if reply is None:
            with self._lock:
                self._touched_s = {}
        self._tell(error)

    def _tell(self, error: str) -> None:
        if error:
            self._about.content = markup.note(error)

    def _follow_solver(self) -> None:
        solver = self._solvers.get(str(self._character.value))
        known = () if self._view.listed is None else self._view.listed["solvers"]
        options = tuple(str(name) for name in known) or ("none",)
        if self._solver.options != options:
            self._solver.options = options
        if solver in options and self._solver.value != solver:
            self._solver.value = solver  # type: ignore[misc]  # hidden setter

    def _follow_values(self) -> None:
        """Show the server's values where no viewer has just been at work."""
        values = self._values.get(str(self._character.value), {})
        now = time.monotonic()
        for name, control in self._inputs.items():
            if name not in values or now - self._touched_s.get(name, -1e9) < _HANDS_OFF_S:
                continue
            if isinstance(control, viser.GuiCheckboxHandle):
                if control.value != bool(values[name]):
                    control.value = bool(values[name])  # type: ignore[misc]  # hidden setter
            elif abs(float(control.value) - values[name]) > 1e-9:
                control.value = values[name]  # type: ignore[misc]  # hidden setter
        self._settings.content = self._as_toml(values)

    def _as_toml(self, values: dict[str, float]) -> str:
        """The settings that are not the defaults, as the show file takes them."""
        changed = [
            f"{name} = {int(value) if self._parameters[name].whole else value:g}"
            for name, value in values.items()
            if name in self._parameters and value != self._parameters[name].default
        ]
        if not changed:
            return markup.note("Every parameter has its default.")
        lines = "\n".join(["[session.parameters]", *changed])
        return markup.heading("To keep this, put it into the show file") + markup.commands([lines])
