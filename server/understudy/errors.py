"""The base of every error the server raises on purpose."""

from __future__ import annotations


class UnderstudyError(Exception):
    """A mistake in what a user gave us: one line naming the thing, its value and what is allowed."""
