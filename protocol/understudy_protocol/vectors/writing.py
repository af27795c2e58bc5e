"""Vectors as files: NAME.bin with the bytes and NAME.json with what they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from understudy_protocol.vectors.invalid import INVALID
from understudy_protocol.vectors.valid import VALID


def write_vectors(folder: Path) -> int:
    """Write every vector below `folder`, the invalid ones into `invalid`; returns their number."""
    (folder / "invalid").mkdir(parents=True, exist_ok=True)
    for valid in VALID:
        twin = {"kind": valid.kind, "about": valid.about, "content": valid.content}
        _write(folder / valid.name, valid.data, twin)
    for invalid in INVALID:
        twin = {"kind": invalid.kind, "about": invalid.about, "reason": invalid.reason}
        _write(folder / "invalid" / invalid.name, invalid.data, twin)
    return len(VALID) + len(INVALID)


def _write(stem: Path, data: bytes, twin: dict[str, Any]) -> None:
    stem.with_suffix(".bin").write_bytes(data)
    # Bytes rather than text: line ends are the same on every system.
    stem.with_suffix(".json").write_bytes(f"{_layout(twin)}\n".encode())


def _layout(value: object, depth: int = 0) -> str:
    """JSON with one key to a line on the two upper levels, so that people can read arrays."""
    if not isinstance(value, dict) or depth > 1:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    indent = "  " * (depth + 1)
    lines = [
        f"{indent}{json.dumps(key)}: {_layout(item, depth + 1)}" for key, item in value.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n" + "  " * depth + "}"
