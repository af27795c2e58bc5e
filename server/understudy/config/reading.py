"""The show file: who performs, who is animated, by which solver, at which rate and addresses."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from understudy.config.model import (
    DEFAULT_SOLVER,
    CharacterConfig,
    Config,
    ConfigError,
    PerformerConfig,
    ServerConfig,
    SessionConfig,
    Settings,
    VmcTarget,
)
from understudy.config.table import Table

MIN_CLOCK_HZ: Final = 30.0
MAX_CLOCK_HZ: Final = 120.0


def load_config(path: str | Path) -> Config:
    """Read a show file; rigs are looked for beside it. ConfigError is one line for the user."""
    path = Path(path)
    return decode_config(read_show(path), path)


def read_show(path: Path) -> bytes:
    """The bytes of a show file; ConfigError is one line for the user."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError("", f"{path}: cannot be read: {error.strerror}") from None


def decode_config(content: bytes, path: Path) -> Config:
    """The show in the bytes of the file at `path`; ConfigError is one line for the user."""
    try:
        document = tomllib.loads(content.decode("utf-8"))
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
    top = Table("", document, ("server", "performers", "characters", "session"))
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
SETTING_KEYS: Final = ("stride", "lock_feet", "smoothing")
SESSION_KEYS: Final = (
    "performer",
    "character",
    "solver",
    "rate_hz",
    "delay_s",
    "parameters",
    "profile",
    "enhance",
    "hand_contacts",
    *SETTING_KEYS,
)


def parse_session(fields: Mapping[str, Any]) -> SessionConfig:
    """One session as it stands in a show file, from elsewhere (a control request)."""
    return _session(Table("session", fields, SESSION_KEYS))


def parse_settings(fields: Mapping[str, Any], before: Settings) -> Settings:
    """Settings as they stand in a show file, from elsewhere; `before` where a field is missing."""
    return _settings(Table("session", fields, SETTING_KEYS), before)


def _server(table: Table) -> ServerConfig:
    default = ServerConfig()
    return ServerConfig(
        input=table.address("input", default.input),
        output=table.address("output", default.output),
        control=table.address("control", default.control),
    )


def _performer(name: str, table: Table) -> PerformerConfig:
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


def _character(name: str, table: Table, folder: Path | None) -> CharacterConfig:
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


def _profile(table: Table, folder: Path | None) -> str | None:
    name = table.text("profile", "") if table.has("profile") else None
    return None if name is None else _beside(folder, name)


def _session(table: Table, folder: Path | None = None) -> SessionConfig:
    return SessionConfig(
        performer=table.name("performer"),
        character=table.name("character"),
        solver=table.text("solver", DEFAULT_SOLVER),
        rate_hz=table.optional_number("rate_hz", MIN_CLOCK_HZ, MAX_CLOCK_HZ),
        delay_s=table.optional_number("delay_s", 0.0, 1.0),
        parameters=table.parameters("parameters"),
        profile=_profile(table, folder),
        enhance=table.flag("enhance", False),
        hand_contacts=table.flag("hand_contacts", False),
        settings=_settings(table, Settings()),
    )


def _settings(table: Table, default: Settings) -> Settings:
    return Settings(
        stride=table.stride("stride", default.stride),
        lock_feet=table.flag("lock_feet", default.lock_feet),
        smoothing=table.number("smoothing", default.smoothing, 0.0, 1.0),
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
        check_settings(f"session[{i}]", session)


def check_settings(key: str, session: SessionConfig) -> None:
    """Refuse settings that the session has no use for."""
    if session.enhance and (session.settings != Settings() or session.hand_contacts):
        refused = ", ".join((*SETTING_KEYS, "hand_contacts"))
        raise ConfigError(key, f"enhances the performer's own body, which takes no {refused}")
