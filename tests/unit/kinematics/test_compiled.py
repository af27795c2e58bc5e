"""What the compiler's liberties must not change: bad numbers are seen, bad arrays refused."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import understudy
from understudy.ingest._kernels import take_in
from understudy.kinematics._kernels import is_finite, turn
from understudy.kinematics.compiled import direct, entry_of, part
from understudy.kinematics.tables import ArrayTable

PACKAGE = Path(understudy.__file__).parent


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -1e300, 1e300, 5e-324])
def test_a_number_is_finite(x: float) -> None:
    assert is_finite(x)


@pytest.mark.parametrize("x", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_not_finite(x: float) -> None:
    assert not is_finite(x)


def test_no_kernel_asks_numpy_whether_a_number_is_finite() -> None:
    """np.isfinite(x) compiles to x - x == 0, which reordering folds to true."""
    kernels = [*PACKAGE.rglob("_kernels.py"), *PACKAGE.rglob("_kernels/*.py")]
    assert len(kernels) > 5
    asking = [
        f"{path.relative_to(PACKAGE)}:{number}"
        for path in kernels
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "np.isfinite(" in line and "`np.isfinite`" not in line
    ]
    assert asking == []


@pytest.mark.parametrize(
    "q",
    [
        np.asfortranarray(np.ones((3, 4))),
        np.ones((3, 8))[:, ::2],
        np.ones((3, 4), np.float32),
        np.ones(4),
        np.frombuffer(np.ones((3, 4)).tobytes()).reshape(3, 4),
    ],
    ids=["column order", "strided", "float32", "one axis", "read-only"],
)
def test_an_array_of_another_kind_is_refused_and_not_compiled_for(q: np.ndarray) -> None:
    with pytest.raises(TypeError, match="No matching definition"):
        turn(q, 0, 0.1, 0.2, 0.3)


def test_a_part_is_compiled_for_its_own_signature_whatever_it_is_first_called_with() -> None:
    @part("f8(f8)")
    def half(number: float) -> float:
        return number // 2

    assert isinstance(half(3), float)  # of an integer's own version it would be one
    with pytest.raises(TypeError, match="No matching definition"):
        half(np.ones(2))


_PART = """
from understudy.kinematics.compiled import part

@part("f8()")
def number():
    return {number}
"""
_KERNEL = """
from understudy.kinematics.compiled import kernel
from understudy.room._kernels.inner import number

@kernel("f8()")
def tell():
    return number()
"""


def test_a_cached_kernel_is_compiled_anew_when_a_part_in_another_file_changes(
    tmp_path: Path,
) -> None:
    kernels = tmp_path / "understudy" / "room" / "_kernels"
    kernels.mkdir(parents=True)
    (tmp_path / "understudy" / "kinematics").mkdir()
    (tmp_path / "understudy" / "__init__.py").touch()
    shutil.copy(PACKAGE / "kinematics" / "compiled.py", tmp_path / "understudy" / "kinematics")
    (kernels / "outer.py").write_text(_KERNEL, encoding="utf-8")
    ask = "from understudy.room._kernels.outer import tell; print(tell())"
    told = []
    for number in ("1.0", "1.0", "23.0"):
        (kernels / "inner.py").write_text(_PART.format(number=number), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", ask],
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        told.append(done.stdout.strip())
    assert told == ["1.0", "1.0", "23.0"]


def test_a_kernel_without_its_check_does_the_same() -> None:
    rotation, root = np.array([[0.0, 0.6, 0.0, 0.8]]), np.zeros(3)
    answers, taken = [], []
    for way in (take_in, direct(take_in)):
        numbers = np.array([0.3, 1.0, -0.2, 0.0, 0.6, 0.0, 0.8], np.float32)
        table = ArrayTable(numbers, np.zeros(3), root.copy(), np.zeros((1, 4)))
        answers.append(way(table.address, 1e-3, 1e6))
        taken.append(table._arrays[3])
    assert answers == [1.0, 1.0]
    for pose in taken:
        np.testing.assert_allclose(pose, rotation, atol=1e-7)


def test_a_kernel_s_entry_is_only_given_for_its_own_signature() -> None:
    assert entry_of(take_in, "f8(i8, f8, f8)") > 0
    with pytest.raises(TypeError, match=r"take_in cannot be called as f8\(i8, f8\)"):
        entry_of(take_in, "f8(i8, f8)")
