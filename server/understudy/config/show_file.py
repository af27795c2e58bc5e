"""The show file that a server was started with, and how a running show's settings get back into it.

Comments, order and everything that is no setting stay as the user wrote them.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from understudy.config.model import DEFAULT_SOLVER, ParameterValue, SessionConfig, Settings
from understudy.config.reading import decode_config, read_show
from understudy.config.toml_edit import UneditableError, edit_tables
from understudy.errors import UnderstudyError


class SaveError(UnderstudyError):
    """Why the settings could not be written, in one line."""


@dataclass(frozen=True, slots=True)
class LiveSession:
    """A session as it runs: all of its solver's parameters, and what these are by default."""

    config: SessionConfig
    defaults: Mapping[str, ParameterValue]


class ShowFile:
    """A show file as it was read; `save` writes it as long as nobody else has.

    ConfigError tells in one line why it cannot be used.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._content = read_show(self.path)
        self.config = decode_config(self._content, self.path)

    def save(self, sessions: Iterable[LiveSession]) -> list[str]:
        """Write the settings of the sessions that the file has; the names of their characters.

        The file is replaced in one step or not at all.
        """
        live = {session.config.character: session for session in sessions}
        try:
            if self.path.read_bytes() != self._content:
                raise SaveError(
                    f"{self.path} was changed since the server read it; start the server anew"
                )
        except OSError as error:
            raise SaveError(f"{self.path} cannot be read: {error.strerror}") from None
        text = self._content.decode("utf-8")
        tables: Sequence[Mapping[str, Any]] = tomllib.loads(text)["session"]
        names = [str(table["character"]) for table in tables]
        after = [
            _with_settings(table, live[name]) if name in live else table
            for table, name in zip(tables, names, strict=True)
        ]
        try:
            content = edit_tables(text, "session", after).encode("utf-8")
        except UneditableError:
            raise SaveError(
                f"{self.path}: its sessions are not written one key a line under [[session]];"
                " change the settings there by hand"
            ) from None
        if content != self._content:
            _replace(self.path, content)
            self._content = content
        return [name for name in names if name in live]


def _with_settings(table: Mapping[str, Any], live: LiveSession) -> dict[str, Any]:
    """The table [[session]] as it should be: what is the default is only said where it was said."""
    config, result = live.config, dict(table)
    wanted: dict[str, Any] = {"solver": config.solver, **asdict(config.settings)}
    usual: dict[str, Any] = {"solver": DEFAULT_SOLVER, **asdict(Settings())}
    for key, value in wanted.items():
        if key in table or value != usual[key]:
            result[key] = value
    said: Mapping[str, Any] = table.get("parameters", {})
    parameters = {
        # Names that only another solver had are left out: the file could not be read with them.
        **{name: config.parameters[name] for name in said if name in config.parameters},
        **{
            name: value
            for name, value in config.parameters.items()
            if name not in said and value != live.defaults.get(name)
        },
    }
    if parameters or "parameters" in table:
        result["parameters"] = parameters
    return result


def _replace(path: Path, content: bytes) -> None:
    """Put `content` in the place of a file; a reader sees the old one or the new one, whole."""
    target = path.resolve()  # a link stays a link
    draft = ""
    try:
        handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, draft)
        os.replace(draft, target)
    except OSError as error:
        if draft:
            Path(draft).unlink(missing_ok=True)
        raise SaveError(f"{path} cannot be written: {error.strerror}") from None
