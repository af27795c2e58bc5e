"""Many arrays handed to compiled code as one: a call pays about 0.2 us for each array it is given.

Python makes an `ArrayTable` once; the kernel takes its `address`, opens it with `table_at` and asks
for the arrays by their place, with the function that fits the array's type and number of axes.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from understudy.kinematics.compiled import carray, part, pointer
from understudy.kinematics.types import IntArray

_MOST_AXES: Final = 5
_MOST_ARRAYS: Final = 64
_TYPES: Final = (np.float64, np.int64, np.float32, np.uint8)


class ArrayTable:
    """The arrays a kernel works on; `rows` (m, 6), at `address`, has address and shape of each.

    The arrays must be C-contiguous. They are kept alive here, and must not be resized.
    """

    def __init__(self, *arrays: np.ndarray[Any, Any]) -> None:
        if len(arrays) > _MOST_ARRAYS:
            raise TypeError(f"{len(arrays)} arrays; allowed: up to {_MOST_ARRAYS}")
        self.rows: IntArray = np.zeros((len(arrays), 1 + _MOST_AXES), np.int64)
        self.address = address_of(self.rows)
        self._arrays = list(arrays)
        for place, array in enumerate(arrays):
            self.put(place, array)

    def put(self, place: int, array: np.ndarray[Any, Any]) -> None:
        """Hand over another array of the same type and shape in this place."""
        known = self._arrays[place]
        if array.dtype != known.dtype or array.shape != known.shape:
            raise TypeError(
                f"array {place} is {array.dtype} {array.shape};"
                f" allowed: {known.dtype} {known.shape}"
            )
        if array.dtype.type not in _TYPES or array.ndim > _MOST_AXES:
            raise TypeError(f"array {place} is {array.dtype} with {array.ndim} axes")
        if not array.flags.c_contiguous:
            raise TypeError(f"array {place} is not C-contiguous")
        self._arrays[place] = array
        self.rows[place, 0] = address_of(array)
        self.rows[place, 1 : 1 + array.ndim] = array.shape


def address_of(array: np.ndarray[Any, Any]) -> int:
    """Where an array's numbers lie."""
    return int(array.__array_interface__["data"][0])


@part("i8[:, ::1](i8)", inline=True)
def table_at(address: int) -> Any:
    """In compiled code: the rows of the table at an address."""
    return carray(pointer(address), (_MOST_ARRAYS, 1 + _MOST_AXES), np.int64)


@part("f8[::1](i8[:, ::1], i8)", inline=True)
def vector(rows: IntArray, place: int) -> Any:
    """In compiled code: the float64 array (n,) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1],), np.float64)


@part("f8[:, ::1](i8[:, ::1], i8)", inline=True)
def matrix(rows: IntArray, place: int) -> Any:
    """In compiled code: the float64 array (n, m) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1], rows[place, 2]), np.float64)


@part("f8[:, :, ::1](i8[:, ::1], i8)", inline=True)
def cube(rows: IntArray, place: int) -> Any:
    """In compiled code: the float64 array (n, m, l) in a place."""
    return carray(
        pointer(rows[place, 0]), (rows[place, 1], rows[place, 2], rows[place, 3]), np.float64
    )


@part("i8[::1](i8[:, ::1], i8)", inline=True)
def index_vector(rows: IntArray, place: int) -> Any:
    """In compiled code: the int64 array (n,) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1],), np.int64)


@part("i8[:, ::1](i8[:, ::1], i8)", inline=True)
def index_matrix(rows: IntArray, place: int) -> Any:
    """In compiled code: the int64 array (n, m) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1], rows[place, 2]), np.int64)


@part("i8[:, :, ::1](i8[:, ::1], i8)", inline=True)
def index_cube(rows: IntArray, place: int) -> Any:
    """In compiled code: the int64 array (n, m, l) in a place."""
    return carray(
        pointer(rows[place, 0]), (rows[place, 1], rows[place, 2], rows[place, 3]), np.int64
    )


@part("f4[::1](i8[:, ::1], i8)", inline=True)
def single_vector(rows: IntArray, place: int) -> Any:
    """In compiled code: the float32 array (n,) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1],), np.float32)


@part("u1[::1](i8[:, ::1], i8)", inline=True)
def byte_vector(rows: IntArray, place: int) -> Any:
    """In compiled code: the uint8 array (n,) in a place."""
    return carray(pointer(rows[place, 0]), (rows[place, 1],), np.uint8)


@part("f8[:, :, :, :, ::1](i8[:, ::1], i8)", inline=True)
def tensor5(rows: IntArray, place: int) -> Any:
    """In compiled code: the float64 array with five axes in a place."""
    shape = (rows[place, 1], rows[place, 2], rows[place, 3], rows[place, 4], rows[place, 5])
    return carray(pointer(rows[place, 0]), shape, np.float64)
