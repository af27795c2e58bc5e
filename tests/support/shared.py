"""Third-party clips, rigs and captures that some tests want and the repository does not hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[2]


def shared_root() -> Path | None:
    """The folder of third-party test material, or None where there is none."""
    candidate = Path(os.environ.get("UNDERSTUDY_SHARED", REPO.parent / "shared"))
    return candidate if (candidate / "data").is_dir() else None


def shared_path(relative: str) -> Path:
    """A file or folder below the shared `data` folder; skips the test where it is missing."""
    root = shared_root()
    if root is None:
        pytest.skip("no third-party test data: set UNDERSTUDY_SHARED to its folder")
    path = root / "data" / relative
    if not path.exists():
        pytest.skip(f"no {relative} in the third-party test data")
    return path


def shared_files(pattern: str) -> list[Path]:
    """Files below the shared `data` folder that match a glob; none where there is no folder."""
    root = shared_root()
    return [] if root is None else sorted((root / "data").glob(pattern))
