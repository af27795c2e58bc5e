"""Arrays handed to compiled code as one table."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.kinematics.tables import (
    ArrayTable,
    cube,
    index_cube,
    index_matrix,
    index_vector,
    matrix,
    vector,
)


@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 4)])
def test_compiled_code_finds_every_array_in_its_place_and_writes_to_it(
    shape: tuple[int, ...],
) -> None:
    floats = [np.arange(np.prod(shape), dtype=np.float64).reshape(shape) + i for i in range(3)]
    integers = [np.arange(np.prod(shape), dtype=np.int64).reshape(shape) - i for i in range(3)]
    table = ArrayTable(*floats, *integers)
    as_floats = {1: vector, 2: matrix, 3: cube}[len(shape)]
    as_integers = {1: index_vector, 2: index_matrix, 3: index_cube}[len(shape)]
    for place, array in enumerate(floats):
        found = as_floats(table.rows, place)
        assert found.shape == shape
        assert np.array_equal(found, array)
        found[...] = -1.0
        assert np.all(array == -1.0)
    for place, numbers in enumerate(integers, start=3):
        assert np.array_equal(as_integers(table.rows, place), numbers)


def test_another_array_may_take_a_place() -> None:
    table = ArrayTable(np.zeros(2), np.zeros((1, 3)))
    other = np.array([[1.0, 2.0, 3.0]])
    table.put(1, other)
    assert np.array_equal(matrix(table.rows, 1), other)


@pytest.mark.parametrize("other", [np.zeros((2, 3)), np.zeros(3), np.zeros((1, 3), np.int64)])
def test_an_array_of_another_shape_or_type_may_not(
    other: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
) -> None:
    table = ArrayTable(np.zeros(2), np.zeros((1, 3)))
    with pytest.raises(TypeError, match=r"array 1 is .*; allowed: float64 \(1, 3\)"):
        table.put(1, other)


def test_the_table_keeps_its_arrays_alive() -> None:
    table = ArrayTable(np.full(1000, 7.0))
    np.zeros(1000)  # would take the place of memory that was freed
    assert np.all(vector(table.rows, 0) == 7.0)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((4, 4))[:, :2], "not C-contiguous"),
        (np.zeros(3, np.int32), "int32"),
        (np.zeros((1,) * 6), "6 axes"),
    ],
)
def test_an_array_that_compiled_code_would_misread_is_refused(
    array: np.ndarray[tuple[int, ...], np.dtype[np.float64]], said: str
) -> None:
    with pytest.raises(TypeError, match=said):
        ArrayTable(array)


def test_a_table_has_room_for_so_many_arrays() -> None:
    with pytest.raises(TypeError, match="65 arrays; allowed: up to 64"):
        ArrayTable(*(np.zeros(1) for _ in range(65)))
