"""One table of a show file: its values checked, its errors named by their dotted path."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from typing import cast, get_args

from understudy.config.model import ConfigError, ParameterValue, Stride, UdpAddress
from understudy_protocol.errors import ProtocolError
from understudy_protocol.names import check_name

_ADDRESS = re.compile(r"tcp://(\*|\[[0-9A-Fa-f:]+\]|[^\s:/*]+):(\*|\d{1,5})|ipc://\S+")
_UDP_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[^\s:/*\[\]]+):(\*|\d{1,5})")


def read_udp_address(text: str) -> UdpAddress | None:
    """HOST:PORT as a person writes it, `*` for any free port; None if it is none."""
    match = _UDP_ADDRESS.fullmatch(text)
    if match is None or (match[2] != "*" and int(match[2]) > 65535):
        return None
    return UdpAddress(match[1].strip("[]"), 0 if match[2] == "*" else int(match[2]))


class Table:
    """One table of the file, with the dotted path that its errors name."""

    def __init__(self, path: str, content: object, allowed: tuple[str, ...]) -> None:
        if not isinstance(content, Mapping):
            raise ConfigError(path, f"{_show(content)} is not a table")
        self._path = path
        self._content = content
        for key in content:
            if key not in allowed:
                raise ConfigError(self._key(key), f"is unknown; {_suggest(key, allowed)}")

    def _key(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def table(self, key: str, allowed: tuple[str, ...]) -> Table:
        """The table [key], empty if the file has none."""
        return Table(self._key(key), self._content.get(key, {}), allowed)

    def named(self, key: str, allowed: tuple[str, ...]) -> list[tuple[str, Table]]:
        """The tables [key.NAME], whose names must be fit for a topic."""
        content = self._content.get(key, {})
        if not isinstance(content, Mapping):
            raise ConfigError(self._key(key), f"{_show(content)} is not a table")
        tables = []
        for name, table in content.items():
            path = f"{self._key(key)}.{name}"
            _check_name(path, name)
            tables.append((name, Table(path, table, allowed)))
        return tables

    def list(self, key: str, allowed: tuple[str, ...]) -> list[Table]:
        """The tables [[key]]."""
        content = self._content.get(key, [])
        if not isinstance(content, list):
            raise ConfigError(
                self._key(key), f"is one table; write [[{self._key(key)}]], with two brackets"
            )
        return [Table(f"{self._key(key)}[{i}]", item, allowed) for i, item in enumerate(content)]

    def text(self, key: str, default: str | None = None) -> str:
        """A text that is not empty; without a default it must be there."""
        value = self._content.get(key, default)
        if value is None:
            raise ConfigError(self._key(key), "is missing; allowed: text")
        if not isinstance(value, str) or not value:
            raise ConfigError(self._key(key), f"{_show(value)}; allowed: text")
        return value

    def name(self, key: str) -> str:
        """A text that is fit for a topic."""
        value = self.text(key)
        _check_name(self._key(key), value)
        return value

    def address(self, key: str, default: str) -> str:
        """Where a ZeroMQ socket is bound."""
        value = self.text(key, default)
        match = _ADDRESS.fullmatch(value)
        port = match and match[2]
        if match is None or (port and port != "*" and int(port) > 65535):
            raise ConfigError(
                self._key(key),
                f"{_show(value)}; allowed: tcp://HOST:PORT (PORT * for any free one) or ipc://PATH",
            )
        return value

    def has(self, key: str) -> bool:
        """Whether the file says anything about it."""
        return key in self._content

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._content.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(self._key(key), f"{_show(value)}; allowed: true or false")
        return value

    def stride(self, key: str, default: Stride) -> Stride:
        """One of the words for a stride."""
        value = self._content.get(key, default)
        for word in get_args(Stride):
            if word == value:
                return cast("Stride", word)
        allowed = " or ".join(repr(word) for word in get_args(Stride))
        raise ConfigError(self._key(key), f"{_show(value)}; allowed: {allowed}")

    def udp_input(self, key: str) -> UdpAddress | None:
        """Where to listen, `*` as a port means any free one; None if the file does not say."""
        return self._udp(key, "HOST:PORT (PORT * for any free one)") if self.has(key) else None

    def udp_target(self, key: str) -> UdpAddress:
        """Where to send."""
        address = self._udp(key, "HOST:PORT")
        if not address.port:
            raise ConfigError(self._key(key), f"{_show(self.text(key))}; allowed: HOST:PORT")
        return address

    def _udp(self, key: str, allowed: str) -> UdpAddress:
        address = read_udp_address(self.text(key))
        if address is None:
            raise ConfigError(self._key(key), f"{_show(self.text(key))}; allowed: {allowed}")
        return address

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number from `low` to `high`."""
        value = self._content.get(key, default)
        # A boolean is an int in Python; `rate_hz = true` is still a mistake.
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not low <= value <= high
        ):
            raise ConfigError(
                self._key(key), f"{_show(value)}; allowed: a number from {low:g} to {high:g}"
            )
        return float(value)

    def optional_number(self, key: str, low: float, high: float) -> float | None:
        """A number from `low` to `high`; None if the file does not say."""
        return self.number(key, low, low, high) if key in self._content else None

    def parameters(self, key: str) -> dict[str, ParameterValue]:
        """A solver's parameters by name, their values not checked yet."""
        content = self._content.get(key, {})
        if not isinstance(content, Mapping):
            raise ConfigError(self._key(key), f"{_show(content)} is not a table")
        for name, value in content.items():
            if not isinstance(value, float | int | bool | str):
                raise ConfigError(
                    f"{self._key(key)}.{name}",
                    f"{_show(value)}; allowed: a number, true, false or text",
                )
        return dict(content)


def _check_name(key: str, name: str) -> None:
    try:
        check_name("name", name)
    except ProtocolError as error:
        raise ConfigError(key, str(error)) from None


def _suggest(word: str, allowed: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(word, allowed, 1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"{hint}allowed: {', '.join(allowed)}"


def _show(value: object) -> str:
    """A value as the file would write it, short."""
    spelled: Callable[[object], str] = repr
    text = str(value).lower() if isinstance(value, bool) else spelled(value)
    return text if len(text) <= 60 else text[:57] + "..."
