"""The client stands alone."""

from __future__ import annotations

import subprocess
import sys


def test_importing_the_client_loads_neither_compiler_nor_server() -> None:
    program = (
        "import sys, understudy_client;print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert "understudy_client" in loaded
    assert not {"numba", "scipy", "understudy", "rich", "pythonosc"} & set(loaded)
