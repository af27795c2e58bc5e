"""What a start loads: each thing too many is time before the first frame."""

from __future__ import annotations

import subprocess
import sys

_START = """
import sys
from understudy.runtime.launch import scipy_unseen

with scipy_unseen():
    import understudy.runtime.server
assert "scipy.linalg" not in sys.modules, "scipy.linalg was loaded"

from understudy.solvers._kernels.clik import step
from understudy.solvers._kernels.rows import cholesky
assert step.signatures, "a kernel was not loaded"
assert not cholesky.signatures, "a part of a kernel was loaded by itself"

from scipy.linalg import cholesky
cholesky([[1.0]])
"""


def test_a_start_loads_kernels_but_neither_their_parts_nor_linear_algebra() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _START], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
