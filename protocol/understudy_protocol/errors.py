"""The one error of this package."""

from __future__ import annotations


class ProtocolError(Exception):
    """Bytes, or a message to be sent, that protocol version 1 does not allow.

    `reason` is a short word for programs and counters; the text is one line for people that names
    the field, its value and what is allowed. The words are listed in the specification.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
