"""The panel's own pieces of HTML: cards, tiles, bars and lists, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final, NamedTuple

_TEXT: Final = "var(--mantine-color-text)"
_DIM: Final = "var(--mantine-color-dimmed)"
_EDGE: Final = "var(--mantine-color-default-border)"
_FILL: Final = "var(--mantine-color-default)"
_FONT: Final = "font-family:inherit;line-height:1.35;padding:0 .75em"

STAGE_COLOURS: Final = (
    "#64748b", "#5b8def", "#7a8cff", "#9775fa", "#cddc5c", "#26c6b2", "#ffb03a", "#f06292",
)  # fmt: skip

STAGE_MEANINGS: Final = {
    "decode": "from bytes to a message",
    "ingest": "from a message to a checked pose of the performer",
    "wait": "until the character's turn comes",
    "align": "from the performer's pose to the character's goals",
    "solve": "from the goals to the character's joint angles",
    "condition": "checking limits and steps",
    "encode": "from a pose to bytes",
    "send": "to everyone who listens",
}


class Tile(NamedTuple):
    """One number with its unit, and what it means, for the mouse that rests on it.

    `colour` says that it is good or bad, empty that it is neither.
    """

    label: str
    value: str
    unit: str
    meaning: str
    colour: str = ""


class Row(NamedTuple):
    """One body in the list: its colour, name, a remark and a number with a colour."""

    colour: str
    name: str
    remark: str
    value: str
    value_colour: str = ""


def card(headline: str, text: str, colour: str) -> str:
    """The status at the top of the panel."""
    return (
        f'<div style="{_FONT};margin:.5em 0 .55em"><div data-testid="status" style="border:1px'
        f" solid {_EDGE};border-left:5px solid {colour};border-radius:8px;background:{_FILL};"
        f'padding:.65em .85em"><div style="font-weight:600;font-size:1.02em;color:{_TEXT}">'
        f'{escape(headline)}</div><div style="font-size:.85em;color:{_DIM};margin-top:.15em">'
        f"{escape(text)}</div></div></div>"
    )


def tiles(items: Sequence[Tile]) -> str:
    """Numbers, three in a row."""
    cells = "".join(
        f'<div style="border:1px solid {_EDGE};border-radius:8px;background:{_FILL};'
        f'padding:.4em .6em" data-testid="{escape(item.label.lower().replace(" ", "-"))}"'
        f' title="{escape(item.meaning)}">'
        f'<div style="font-size:.72em;color:{_DIM}">{escape(item.label)}</div>'
        f'<div style="white-space:nowrap"><span style="font-size:1.28em;font-weight:600;'
        f'font-variant-numeric:tabular-nums;color:{item.colour or _TEXT}">{escape(item.value)}'
        f'</span> <span style="font-size:.72em;color:{_DIM}">{escape(item.unit)}</span></div></div>'
        for item in items
    )
    return (
        f'<div style="{_FONT}"><div style="display:grid;grid-template-columns:repeat(3,1fr);'
        f'gap:.45em">{cells}</div></div>'
    )


def heading(text: str, right: str = "", marks: Sequence[tuple[str, str]] = ()) -> str:
    """A line above a section, with a remark or coloured marks (colour, text) at its end."""
    legend = "".join(
        f'<span style="margin-left:.8em"><span style="display:inline-block;width:.65em;'
        f'height:.65em;border-radius:2px;background:{colour};margin-right:.35em"></span>'
        f"{escape(label)}</span>"
        for colour, label in marks
    )
    return (
        f'<div style="{_FONT};display:flex;justify-content:space-between;align-items:baseline;'
        f'margin-top:.35em"><span style="font-size:.85em;font-weight:600;color:{_TEXT}">'
        f'{escape(text)}</span><span style="font-size:.76em;color:{_DIM}">{escape(right)}{legend}'
        "</span></div>"
    )


def stages(parts: Sequence[tuple[str, float]]) -> str:
    """Where a frame's time goes: a bar of (stage, microseconds) and its key, with its meaning."""
    total = sum(value for _, value in parts) or 1.0
    bar = "".join(
        f'<div style="width:{100.0 * value / total:.2f}%;background:{colour}"></div>'
        for (_, value), colour in zip(parts, STAGE_COLOURS, strict=False)
    )
    key = "".join(
        f'<div title="{escape(STAGE_MEANINGS.get(name, ""))}"'
        f' style="display:flex;justify-content:space-between;font-size:.75em"><span'
        f' style="color:{_DIM}"><span style="display:inline-block;width:.6em;height:.6em;'
        f'border-radius:2px;background:{colour};margin-right:.4em"></span>{escape(name)}</span>'
        f'<span style="font-variant-numeric:tabular-nums;color:{_TEXT}">{value:.0f}</span></div>'
        for (name, value), colour in zip(parts, STAGE_COLOURS, strict=False)
    )
    return (
        f'<div style="{_FONT}"><div style="display:flex;height:.75em;border-radius:6px;'
        f'overflow:hidden;gap:1px;margin:.25em 0 .35em">{bar}</div><div style="display:grid;'
        f'grid-template-columns:repeat(3,1fr);gap:.1em 1.1em">{key}</div></div>'
    )


def body_list(rows: Sequence[Row]) -> str:
    """Who is on stage."""
    lines = "".join(
        f'<div style="display:flex;align-items:center;gap:.55em;padding:.38em 0;border-top:1px'
        f' solid {_EDGE};font-size:.85em"><span style="flex:none;width:.75em;height:.75em;'
        f'border-radius:50%;background:{row.colour}"></span><span style="font-weight:600;'
        f'color:{_TEXT};white-space:nowrap">{escape(row.name)}</span><span style="color:{_DIM};'
        f'font-size:.88em;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;flex:1">'
        f'{escape(row.remark)}</span><span style="white-space:nowrap;'
        f'font-variant-numeric:tabular-nums;color:{row.value_colour or _TEXT}">'
        f"{escape(row.value)}</span></div>"
        for row in rows
    )
    return f'<div style="{_FONT}">{lines}</div>'


def note(text: str, name: str = "note") -> str:
    """A quiet line; `name` is what a test finds it by."""
    return (
        f'<div data-testid="{escape(name)}" style="{_FONT};font-size:.78em;color:{_DIM}">'
        f"{escape(text)}</div>"
    )


def countdown(number: str, text: str, who: str) -> str:
    """A number that is read from the other end of the room, and what to do meanwhile."""
    return (
        f'<div data-testid="countdown" style="{_FONT};text-align:center;color:{_TEXT}">'
        f'<div style="font-size:1.1em;color:{_DIM};margin-top:.4em">{escape(who)}</div>'
        f'<div style="font-size:9em;font-weight:700;line-height:1;'
        f'font-variant-numeric:tabular-nums">{escape(number)}</div>'
        f'<div style="font-size:1.6em;font-weight:600;margin:.2em 0 .5em">{escape(text)}</div>'
        "</div>"
    )


def commands(lines: Sequence[str]) -> str:
    """What to type, to be copied."""
    boxes = "".join(
        f'<pre style="margin:.4em 0;padding:.55em .7em;border:1px solid {_EDGE};border-radius:6px;'
        f"background:{_FILL};color:{_TEXT};font-size:.82em;white-space:pre-wrap;"
        f'word-break:break-word;user-select:all">{escape(line)}</pre>'
        for line in lines
    )
    return f'<div style="{_FONT}">{boxes}</div>'
