"""What can go wrong on the client's side."""

from __future__ import annotations


class ClientError(Exception):
    """The base of this package's own errors; a wrong message is a `ProtocolError`."""


class ServerUnreachableError(ClientError, TimeoutError):
    """No server answered at an address within the time given."""

    def __init__(self, what: str, address: str, timeout_s: float) -> None:
        super().__init__(f"{what}: no answer from a server at {address} within {timeout_s:g} s")
        self.address = address
        self.timeout_s = timeout_s


class RequestRefusedError(ClientError):
    """The server answered a control request with a refusal.

    `reason` is a short word for programs; the text is the server's line for people.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
