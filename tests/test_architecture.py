"""The direction of imports, checked on the source text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

REPO: Final = Path(__file__).resolve().parents[1]
ROOTS: Final = ("server", "protocol", "clients/python", "bench")
MOST_LINES: Final = 500

# Room -> first-party prefixes it may import besides itself. Every module belongs to a room.
ALLOWED: Final[dict[str, tuple[str, ...]]] = {
    "understudy_protocol": (),
    "understudy_client": ("understudy_protocol",),
    "understudy.errors": (),
    "understudy.config": ("understudy_protocol",),
    "understudy.kinematics": (),
    "understudy.characters": ("understudy.kinematics",),
    "understudy.align": ("understudy.kinematics",),
    "understudy.solvers": ("understudy.kinematics",),
    "understudy.conditioning": ("understudy.kinematics",),
    "understudy.ingest": ("understudy_protocol", "understudy.kinematics"),
    "understudy.transport": (),
    "understudy.runtime": (
        "understudy_protocol",
        "understudy.config",
        "understudy.kinematics",
        "understudy.characters",
        "understudy.align",
        "understudy.solvers",
        "understudy.conditioning",
        "understudy.ingest",
        "understudy.transport",
    ),
    "understudy.doctor": (
        "understudy_protocol",
        "understudy_client",
        "understudy.kinematics",
        "understudy.align",
        "understudy.ingest",
        "understudy.transport",
    ),
    "understudy.takes": (
        "understudy_protocol",
        "understudy.kinematics",
        "understudy.characters",
        "understudy.ingest",
    ),
    "understudy.monitor": (
        "understudy_protocol",
        "understudy_client",
        "understudy.kinematics",
        "understudy.characters",
        "understudy.ingest",
        "understudy.takes",
    ),
    "understudy.commands": (
        "understudy_protocol",
        "understudy_client",
        "understudy.config",
        "understudy.kinematics",
        "understudy.characters",
        "understudy.align",
        "understudy.solvers",
        "understudy.ingest",
        "understudy.runtime",
        "understudy.takes",
        "understudy.monitor",
        "understudy.doctor",
    ),
    "understudy.cli": ("understudy_protocol", "understudy_client", "understudy.commands"),
    "understudy.__main__": ("understudy.cli",),
    "understudy_bench": ("understudy", "understudy_protocol", "understudy_client"),
}
# Open to every room of the server: the base of its errors, and its version.
COMMON: Final = ("understudy.errors", "understudy.__version__")

PURE_ROOMS: Final = (
    "understudy.kinematics",
    "understudy.characters",
    "understudy.align",
    "understudy.solvers",
    "understudy.conditioning",
)
FORBIDDEN_IN_PURE_ROOMS: Final = {"zmq", "socket", "asyncio", "time", "threading", "logging"}

# Third-party package -> the only modules and rooms that may know it.
KEEPERS: Final[dict[str, tuple[str, ...]]] = {
    "numba": ("understudy.kinematics.compiled", "understudy_bench"),
    "zmq": (
        "understudy.transport",
        "understudy.runtime",
        "understudy_client",
        "understudy_bench",
    ),
    "msgpack": ("understudy_protocol.wire", "understudy_bench"),
    "rich": ("understudy.commands", "understudy_bench"),
    "viser": ("understudy.monitor",),
    "websockets": ("understudy.monitor.security", "understudy_bench"),
}


def modules() -> Iterator[tuple[str, Path]]:
    for root in ROOTS:
        for path in sorted((REPO / root).rglob("*.py")):
            parts = path.relative_to(REPO / root).with_suffix("").parts
            yield ".".join(part for part in parts if part != "__init__"), path


def imports(source: str) -> Iterator[str]:
    """Every module named by an import, wherever in the source it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            # All that the package itself holds is its version.
            names = [alias.name for alias in node.names]
            yield from (
                "understudy.__version__" if name == "understudy" else name for name in names
            )
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "." * node.level + (node.module or "")
            elif node.module == "understudy":  # `from understudy import runtime`
                yield from (f"understudy.{alias.name}" for alias in node.names)
            else:
                yield node.module or ""


def inside(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def room_of(module: str) -> str | None:
    return next((room for room in ALLOWED if inside(module, room)), None)


def faults(module: str, source: str) -> Iterator[str]:
    """What is wrong with the imports of a module, a line each."""
    room = room_of(module)
    if room is None:
        yield f"{module} is in no room"
        return
    allowed = (room, *ALLOWED[room], *(COMMON if inside(room, "understudy") else ()))
    for name in imports(source):
        if name.startswith("."):
            yield f"{module} uses a relative import"
        first_party = name.split(".")[0].startswith("understudy")
        if first_party and not any(inside(name, prefix) for prefix in allowed):
            yield f"{module} must not import {name}"
        top = name.split(".")[0]
        if any(inside(module, pure) for pure in PURE_ROOMS) and top in FORBIDDEN_IN_PURE_ROOMS:
            yield f"{module} is pure and must not import {name}"
        keepers = KEEPERS.get(top)
        if keepers is not None and not any(inside(module, keeper) for keeper in keepers):
            yield f"{module} must not import {name}: that is for {', '.join(keepers)}"


MODULES: Final = [
    pytest.param(module, path, id=module) for module, path in modules() if module != "understudy"
]


@pytest.mark.parametrize(("module", "path"), MODULES)
def test_imports_point_one_way(module: str, path: Path) -> None:
    assert list(faults(module, path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(("module", "path"), MODULES)
def test_a_module_is_one_idea(module: str, path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("understudy.solvers.clik", "from understudy.align import Aligner"),
        ("understudy.solvers.clik", "def step():\n    import time"),
        ("understudy.characters.bvh", "import understudy.runtime.server"),
        ("understudy.transport.zmq_input", "import understudy_protocol"),
        ("understudy.runtime.server", "from understudy import commands"),
        ("understudy.align.roles", "from . import names"),
        ("understudy.align.aligner", "import numba"),
        ("understudy_protocol.codec", "from understudy.errors import UnderstudyError"),
        ("understudy_client.performer", "import understudy.ingest"),
        ("understudy.attic", "import math"),
    ],
)
def test_a_wrong_import_is_found(module: str, source: str) -> None:
    assert len(list(faults(module, source))) == 1
