"""The real `understudy` command, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

TIMEOUT_S: Final = 180.0  # a first start compiles
COMMAND: Final = (sys.executable, "-m", "understudy")


def understudy(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=TIMEOUT_S,
        check=False,
        cwd=folder,
    )


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A command at work; ended, if it has not ended by itself, when the block ends."""
    with subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.communicate(timeout=TIMEOUT_S)


def complaints(errors: str) -> list[str]:
    """What was said on standard error, apart from the wait of a first start."""
    return [line for line in errors.splitlines() if not line.startswith("compiling")]
