"""The base of every error the server raises on purpose."""

from __future__ import annotations


class UnderstudyError(Exception):
    """A mistake in what a user gave us: one line: the thing, its value, what is allowed."""
