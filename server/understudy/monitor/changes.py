"""What viewers changed about the show, so that it can be taken back: one by one, or all of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Fields = Mapping[str, Any]  # of a `set` request: solver, params, settings

# Changes of one thing that follow each other this fast are one gesture.
_ONE_GESTURE_S: Final = 1.0
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Change:
    """The fields of a `set` request that bring something about a character back."""

    character: str
    what: str
    before: Fields


class Changes:
    """The changes since the page was served, oldest first; the caller tells the time (s)."""

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._last_s = 0.0

    def __bool__(self) -> bool:
        """Whether there is anything to take back."""
        return bool(self._changes)

    def add(self, character: str, what: str, before: Fields, now_s: float) -> None:
        """Note what something was; a slider that is still being dragged was noted already."""
        last = self._changes[-1] if self._changes else None
        dragged = last is not None and (last.character, last.what) == (character, what)
        if not dragged or now_s - self._last_s >= _ONE_GESTURE_S:
            self._changes = [*self._changes, Change(character, what, before)][-_MOST:]
        self._last_s = now_s

    def take_last(self) -> list[Change]:
        """The newest change, no longer noted; none if there is none."""
        return [self._changes.pop()] if self._changes else []

    def take_all(self) -> list[Change]:
        """One change for every character that brings all of it back; nothing is noted any more."""
        together: dict[str, dict[str, Any]] = {}
        for change in reversed(self._changes):
            fields = together.setdefault(change.character, {})
            params = change.before.get("params", {})
            # The parameters of a solver that is left are gone with it.
            kept = {} if "solver" in change.before else fields.get("params", {})
            fields.update(change.before)
            if kept or params:
                fields["params"] = {**kept, **params}
        self._changes = []
        return [Change(character, "everything", fields) for character, fields in together.items()]

    def put_back(self, change: Change) -> None:
        """Note a change again that could not be taken back."""
        self._changes.append(change)
        self._last_s = 0.0
