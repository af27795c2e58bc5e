"""The show file: who performs, who is animated, by which solver, at which rate and addresses."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from understudy.errors import UnderstudyError
from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import DEFAULT_CONTROL, DEFAULT_DOWNLINK, DEFAULT_UPLINK
from understudy_protocol.names import check_name

MIN_CLOCK_HZ: Final = 30.0
MAX_CLOCK_HZ: Final = 120.0
DEFAULT_SOLVER: Final = "clik"

ParameterValue = float | int | bool | str

_ADDRESS = re.compile(r"tcp://(\*|\[[0-9A-Fa-f:]+\]|[^\s:/*]+):(\*|\d{1,5})|ipc://\S+")
_UDP_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:]+\]|[^\s:/*\[\]]+):(\*|\d{1,5})")


class ConfigError(UnderstudyError):
    """A show file that cannot be used: `key` is the dotted path of what is wrong."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}" if key else problem)
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Addresses; loopback unless the file says otherwise, `*` as a port means any free one."""

    input: str = DEFAULT_UPLINK
    output: str = DEFAULT_DOWNLINK
    control: str = DEFAULT_CONTROL


@dataclass(frozen=True, slots=True)
class UdpAddress:
    """HOST:PORT of a UDP socket; port 0 is any free one."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class PerformerConfig:
    """How long (s) a performer may be silent, and how long its characters take to ease back.

    A performer who speaks VMC or plain OSC has a UDP address that the server listens at.
    """

    name: str
    stale_after_s: float = 0.25
    ease_s: float = 0.3
    vmc: UdpAddress | None = None
    osc: UdpAddress | None = None


@dataclass(frozen=True, slots=True)
class VmcTarget:
    """A VMC receiver of a character.

    `split_root` sends the way over the floor and the heading in Root; `raw` sends the rig's own
    rotations instead of normalised ones.
    """

    to: UdpAddress
    split_root: bool = False
    raw: bool = False


@dataclass(frozen=True, slots=True)
class CharacterConfig:
    """A character and its body: a built-in one or a file, with a profile if its joints need one.

    `vmc` and `osc` are where its poses go besides ZeroMQ; at `vmc_requests` its VMC receivers may
    ask for a calibration or for fewer messages.
    """

    name: str
    rig: str
    profile: str | None = None
    vmc: tuple[VmcTarget, ...] = ()
    osc: tuple[UdpAddress, ...] = ()
    vmc_requests: UdpAddress | None = None


@dataclass(frozen=True, slots=True)
class SessionConfig:
    """One performer driving one character through one solver.

    `rate_hz` None publishes one pose per frame; a number runs an output clock. `delay_s` is how far
    behind the newest frame the clock samples; None follows the performer's own rate. `profile` is a
    file that says which joint of the performer is which, and how it was calibrated. `enhance`
    corrects the performer's angles by its measured points: the character is its own body.
    """

    performer: str
    character: str
    solver: str = DEFAULT_SOLVER
    rate_hz: float | None = None
    delay_s: float | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    profile: str | None = None
    enhance: bool = False


@dataclass(frozen=True, slots=True)
class Config:
    """A whole show."""

    server: ServerConfig = ServerConfig()
    performers: tuple[PerformerConfig, ...] = ()
    characters: tuple[CharacterConfig, ...] = ()
    sessions: tuple[SessionConfig, ...] = ()

    def performer(self, name: str) -> PerformerConfig:
        """What the file says about a performer; the defaults where it says nothing."""
        return next((p for p in self.performers if p.name == name), PerformerConfig(name))

    def character(self, name: str) -> CharacterConfig:
        """What the file says about a character; one it does not list is a built-in body's name."""
        return next((c for c in self.characters if c.name == name), CharacterConfig(name, name))


def load_config(path: str | Path) -> Config:
    """Read a show file; rigs are looked for beside it. ConfigError is one line for the user."""
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError("", f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError("", f"{path}: is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError("", f"{path}: is not TOML: {error}") from None
    try:
        return parse_config(document, path.parent)
    except ConfigError as error:
        raise ConfigError("", f"{path}: {error}") from None


def parse_config(document: Mapping[str, Any], folder: Path | None = None) -> Config:
    """Check a parsed show file; rigs that are files below `folder` get their full path."""
    top = _Table("", document, ("server", "performers", "characters", "session"))
    config = Config(
        server=_server(top.table("server", ("input", "output", "control"))),
        performers=tuple(
            _performer(name, table) for name, table in top.named("performers", PERFORMER_KEYS)
        ),
        characters=tuple(
            _character(name, table, folder)
            for name, table in top.named("characters", CHARACTER_KEYS)
        ),
        sessions=tuple(_session(table, folder) for table in top.list("session", SESSION_KEYS)),
    )
    _check_sessions(config)
    return config


PERFORMER_KEYS: Final = ("stale_after_s", "ease_s", "vmc", "osc")
CHARACTER_KEYS: Final = ("rig", "profile", "vmc", "osc", "vmc_requests")
SESSION_KEYS: Final = (
    "performer",
    "character",
    "solver",
    "rate_hz",
    "delay_s",
    "parameters",
    "profile",
    "enhance",
)


def parse_session(fields: Mapping[str, Any]) -> SessionConfig:
    """One session as it stands in a show file, from elsewhere (a control request)."""
    return _session(_Table("session", fields, SESSION_KEYS))


def read_udp_address(text: str) -> UdpAddress | None:
    """HOST:PORT as a person writes it, `*` for any free port; None if it is none."""
    match = _UDP_ADDRESS.fullmatch(text)
    if match is None or (match[2] != "*" and int(match[2]) > 65535):
        return None
    return UdpAddress(match[1].strip("[]"), 0 if match[2] == "*" else int(match[2]))


def _server(table: _Table) -> ServerConfig:
    default = ServerConfig()
    return ServerConfig(
        input=table.address("input", default.input),
        output=table.address("output", default.output),
        control=table.address("control", default.control),
    )


def _performer(name: str, table: _Table) -> PerformerConfig:
    default = PerformerConfig(name)
    if table.has("vmc") and table.has("osc"):
        raise ConfigError(f"performers.{name}", "has both vmc and osc; a performer speaks one")
    return PerformerConfig(
        name,
        stale_after_s=table.number("stale_after_s", default.stale_after_s, 0.05, 60.0),
        ease_s=table.number("ease_s", default.ease_s, 0.0, 10.0),
        vmc=table.udp_input("vmc"),
        osc=table.udp_input("osc"),
    )


def _character(name: str, table: _Table, folder: Path | None) -> CharacterConfig:
    return CharacterConfig(
        name,
        rig=_beside(folder, table.text("rig", name)),
        profile=_profile(table, folder),
        vmc=tuple(
            VmcTarget(
                target.udp_target("to"), target.flag("split_root", False), target.flag("raw", False)
            )
            for target in table.list("vmc", ("to", "split_root", "raw"))
        ),
        osc=tuple(target.udp_target("to") for target in table.list("osc", ("to",))),
        vmc_requests=table.udp_input("vmc_requests"),
    )


def _beside(folder: Path | None, name: str) -> str:
    """A file's full path if it lies beside the show file."""
    return str(folder / name) if folder is not None and (folder / name).is_file() else name


def _profile(table: _Table, folder: Path | None) -> str | None:
    name = table.text("profile", "") if table.has("profile") else None
    return None if name is None else _beside(folder, name)


def _session(table: _Table, folder: Path | None = None) -> SessionConfig:
    return SessionConfig(
        performer=table.name("performer"),
        character=table.name("character"),
        solver=table.text("solver", DEFAULT_SOLVER),
        rate_hz=table.optional_number("rate_hz", MIN_CLOCK_HZ, MAX_CLOCK_HZ),
        delay_s=table.optional_number("delay_s", 0.0, 1.0),
        parameters=table.parameters("parameters"),
        profile=_profile(table, folder),
        enhance=table.flag("enhance", False),
    )


def _check_sessions(config: Config) -> None:
    if not config.sessions:
        raise ConfigError("session", "is missing; at least one [[session]] is needed")
    seen: dict[str, int] = {}
    for i, session in enumerate(config.sessions):
        if session.character in seen:
            raise ConfigError(
                f"session[{i}].character",
                f"{session.character!r} is driven by session[{seen[session.character]}] already;"
                " a character has one session",
            )
        seen[session.character] = i
        if session.delay_s is not None and session.rate_hz is None:
            raise ConfigError(
                f"session[{i}].delay_s", "needs rate_hz; a session per frame adds no delay"
            )


class _Table:
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

    def table(self, key: str, allowed: tuple[str, ...]) -> _Table:
        return _Table(self._key(key), self._content.get(key, {}), allowed)

    def named(self, key: str, allowed: tuple[str, ...]) -> list[tuple[str, _Table]]:
        """The tables [key.NAME], whose names must be fit for a topic."""
        content = self._content.get(key, {})
        if not isinstance(content, Mapping):
            raise ConfigError(self._key(key), f"{_show(content)} is not a table")
        tables = []
        for name, table in content.items():
            path = f"{self._key(key)}.{name}"
            _check_name(path, name)
            tables.append((name, _Table(path, table, allowed)))
        return tables

    def list(self, key: str, allowed: tuple[str, ...]) -> list[_Table]:
        """The tables [[key]]."""
        content = self._content.get(key, [])
        if not isinstance(content, list):
            raise ConfigError(
                self._key(key), f"is one table; write [[{self._key(key)}]], with two brackets"
            )
        return [_Table(f"{self._key(key)}[{i}]", item, allowed) for i, item in enumerate(content)]

    def text(self, key: str, default: str | None = None) -> str:
        value = self._content.get(key, default)
        if value is None:
            raise ConfigError(self._key(key), "is missing; allowed: text")
        if not isinstance(value, str) or not value:
            raise ConfigError(self._key(key), f"{_show(value)}; allowed: text")
        return value

    def name(self, key: str) -> str:
        value = self.text(key)
        _check_name(self._key(key), value)
        return value

    def address(self, key: str, default: str) -> str:
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
        return key in self._content

    def flag(self, key: str, default: bool) -> bool:
        value = self._content.get(key, default)
        if not isinstance(value, bool):
            raise ConfigError(self._key(key), f"{_show(value)}; allowed: true or false")
        return value

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
        return self.number(key, low, low, high) if key in self._content else None

    def parameters(self, key: str) -> dict[str, ParameterValue]:
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
