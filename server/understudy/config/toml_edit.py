"""Values changed in the text of a TOML file: lines are edited, comments and order stay."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

Value = float | int | bool | str
Table = Mapping[str, Any]  # as tomllib gives it: any value of a TOML file

_HEADER = re.compile(r"\s*\[")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


class UneditableError(ValueError):
    """The text is written in a way that is not understood line by line."""


def edit_tables(text: str, name: str, after: Sequence[Table]) -> str:
    """The text with the values of `after` in its tables [[name]], in their order.

    Values are numbers, booleans and texts, or sub-tables of these. Only keys that differ are
    touched. The answer is parsed and compared: UneditableError if it does not say exactly what was
    wanted, and everything else as before.
    """
    before = tomllib.loads(text)
    eol = "\r\n" if "\r\n" in text else "\n"
    lines = text.split(eol)
    header = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
    starts = [i for i, line in enumerate(lines) if header.match(line)]
    tables: list[Table] = before.get(name, [])
    if len(starts) != len(tables) or len(tables) != len(after):
        raise UneditableError
    for start, old, new in reversed(list(zip(starts, tables, after, strict=True))):
        _edit_table(lines, start, name, old, new)
    edited = eol.join(lines)
    try:
        result = tomllib.loads(edited)
    except tomllib.TOMLDecodeError:
        raise UneditableError from None
    if result != {**before, name: list(after)}:
        raise UneditableError
    return edited


def _edit_table(lines: list[str], start: int, name: str, old: Table, new: Table) -> None:
    """Edit the table whose header is lines[start]; sub-tables first, they lie behind it."""
    for key, value in new.items():
        if isinstance(value, Mapping):
            _edit_sub_table(lines, start, name, key, old.get(key, {}), value)
    for key, value in new.items():
        if not isinstance(value, Mapping) and old.get(key) != value:
            _put(lines, start, key, written(value))


def _edit_sub_table(
    lines: list[str], start: int, name: str, key: str, old: Table, new: Table
) -> None:
    if old == new:
        return
    header = re.compile(rf"\s*\[\s*{re.escape(name)}\s*\.\s*{re.escape(key)}\s*\]")
    another = re.compile(rf"\s*\[\[\s*{re.escape(name)}\s*\]\]")
    for i in range(start + 1, len(lines)):
        if another.match(lines[i]):
            break
        if header.match(lines[i]):
            _edit_keys(lines, i, "", old, new)
            return
    if _find(lines, start, key) is not None:
        inside = ", ".join(f"{_key(k)} = {written(v)}" for k, v in new.items())
        _put(lines, start, key, f"{{ {inside} }}" if inside else "{}")
    elif any(_find(lines, start, f"{key}.{_key(k)}") is not None for k in old):
        _edit_keys(lines, start, f"{key}.", old, new)
    else:
        at = _last_content(lines, start) + 1
        lines[at:at] = [
            "",
            f"[{name}.{key}]",
            *(f"{_key(k)} = {written(v)}" for k, v in new.items()),
        ]


def _edit_keys(lines: list[str], start: int, prefix: str, old: Table, new: Table) -> None:
    for key in old:
        if key not in new:
            at = _find(lines, start, prefix + _key(key))
            if at is None:
                raise UneditableError
            del lines[at]
    for key, value in new.items():
        if key not in old or old[key] != value:
            _put(lines, start, prefix + _key(key), written(value))


def _put(lines: list[str], start: int, key: str, value: str) -> None:
    """Set a key of the table whose header is lines[start]; a new one goes behind its last."""
    at = _find(lines, start, key)
    if at is None:
        last = _last_content(lines, start)
        indent = "" if last == start else lines[last][: -len(lines[last].lstrip())]
        lines.insert(last + 1, f"{indent}{key} = {value}")
        return
    left, _, rest = lines[at].partition("=")
    before = rest[: len(rest) - len(rest.lstrip())]
    lines[at] = f"{left}={before}{value}{_behind(rest)}"


def _find(lines: list[str], start: int, key: str) -> int | None:
    """The line that sets `key` in the table whose header is lines[start]."""
    parts = r"\s*\.\s*".join(rf"[\"']?{re.escape(p.strip(chr(34)))}[\"']?" for p in key.split("."))
    pattern = re.compile(rf"\s*{parts}\s*=")
    for i in range(start + 1, _end(lines, start)):
        if pattern.match(lines[i]):
            return i
    return None


def _end(lines: list[str], start: int) -> int:
    """The line behind the table's own keys: the next header, or the end."""
    headers = (i for i in range(start + 1, len(lines)) if _HEADER.match(lines[i]))
    return next(headers, len(lines))


def _last_content(lines: list[str], start: int) -> int:
    """The last line of the table that is neither empty nor a comment; its header if none is."""
    for i in range(_end(lines, start) - 1, start, -1):
        if lines[i].strip() and not lines[i].lstrip().startswith("#"):
            return i
    return start


def _behind(rest: str) -> str:
    """What follows the value in what stands behind an equals sign: a comment, or nothing."""
    for at in [i for i, letter in enumerate(rest) if letter == "#"]:
        try:
            tomllib.loads(f"value = {rest[:at]}")
        except tomllib.TOMLDecodeError:
            continue  # a # inside a text
        return rest[len(rest[:at].rstrip()) :]
    return ""


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)


def written(value: Value) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
