"""The subscriber in Node, for tests that want a reader which shares no code with ours."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "conformance" / "node"
INSTALL_TIMEOUT_S = 180.0


def node_subscriber(address: str, character: str, poses: int) -> list[str]:
    """The command that follows `character` for so many poses; skips where Node cannot run it."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("no node and npm on this machine")
    if not _packages_load(node):
        _install(npm)
        if not _packages_load(node):
            pytest.skip("the npm packages zeromq and @msgpack/msgpack do not load here")
    return [node, str(FOLDER / "subscriber.mjs"), address, character, str(poses)]


def parse_lines(text: str) -> list[dict[str, Any]]:
    """What the subscriber printed: maps of `kind` and `content`."""
    return [json.loads(line) for line in text.splitlines()]


def _packages_load(node: str) -> bool:
    script = "await import('zeromq'); await import('@msgpack/msgpack')"
    done = subprocess.run(
        [node, "--input-type=module", "-e", script],
        cwd=FOLDER,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode == 0


def _install(npm: str) -> None:
    """Put the packages into `node_modules` beside the subscriber, which git ignores."""
    try:
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--no-package-lock"],
            cwd=FOLDER,
            capture_output=True,
            text=True,
            timeout=INSTALL_TIMEOUT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        pytest.skip(f"npm install took more than {INSTALL_TIMEOUT_S:g} s")
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        pytest.skip(f"npm install failed: {last}")
