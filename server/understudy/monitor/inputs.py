"""Inputs of the page for numbers, words and switches that the server describes."""

from __future__ import annotations

from typing import Final

import viser

from understudy.monitor.link import Parameter

# A range this many times wider than the default has no use for a slider.
_WIDEST: Final = 200.0
_NOTICEABLE: Final = 1e-9

Value = float | int | bool | str
Input = (
    viser.GuiSliderHandle[float]
    | viser.GuiNumberHandle[float]
    | viser.GuiCheckboxHandle
    | viser.GuiDropdownHandle[str]
)


def add_input(gui: viser.GuiApi, parameter: Parameter, value: Value) -> Input:
    """The input that suits a parameter: words, a switch, a slider or a number to type."""
    p = parameter
    if p.choices:
        return gui.add_dropdown(p.name, p.choices, initial_value=str(value), hint=p.meaning)
    if p.whole and (p.low, p.high) == (0.0, 1.0):
        return gui.add_checkbox(p.name, bool(value), hint=p.meaning)
    number = float(value)
    if p.high - p.low <= _WIDEST * p.default or (p.default == 0.0 and p.high <= 10.0):
        step = 1.0 if p.whole else float(f"{(p.high - p.low) / 100.0:.0e}")
        return gui.add_slider(p.name, p.low, p.high, step, number, hint=p.meaning)
    return gui.add_number(p.name, number, min=p.low, max=p.high, hint=p.meaning)


def read_input(control: Input, like: Value) -> Value:
    """What a viewer chose, of the kind the server has it."""
    value = control.value
    if isinstance(like, bool):
        return bool(value)
    if isinstance(like, str):
        return str(value)
    return int(value) if isinstance(like, int) else float(value)


def show_value(control: Input, value: Value) -> None:
    """Let an input show what the server says, if it does not."""
    wanted: Value
    if isinstance(control, viser.GuiCheckboxHandle):
        wanted = bool(value)
    elif isinstance(control, viser.GuiDropdownHandle):
        wanted = str(value)
        if wanted not in control.options:
            return
    else:
        wanted = float(value)
        if abs(wanted - float(control.value)) <= _NOTICEABLE:
            return
    # viser defines another method between getter and setter, so mypy sees no setter.
    control.value = wanted  # type: ignore[misc]
