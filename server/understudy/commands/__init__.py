"""The commands of `understudy`, a module each, loaded by name.

A command module has `EXAMPLE` (shown by `--help`), `add_arguments(parser)` and
`run(arguments) -> exit code`.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from understudy.runtime.launch import waiting_notice


def load(name: str) -> ModuleType:
    """The module of a command; says what the wait is for if code is compiled by it."""
    with waiting_notice():
        return importlib.import_module(f"understudy.commands.{name}")
