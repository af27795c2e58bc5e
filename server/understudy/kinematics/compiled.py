"""How every hot loop of the project is compiled: one decorator, one set of options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba as nb
from numba.extending import intrinsic
from numba.np import numpy_support

# Reordering and fused operations are allowed; NaN and infinity keep their meaning, because bad
# input must be seen and refused rather than optimised away (ask `_kernels.is_finite`).
_FAST = {"contract", "reassoc", "arcp", "nsz"}


def kernel(
    signature: str, *, inline: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for exactly `signature`; it releases the GIL and is cached on disk.

    An explicit signature compiles at import (or loads from the cache) and refuses any other array
    at once; a lazy one would recompile in mid-stream for a read-only or strided array. `inline`
    puts a small function into its callers: a call with five arrays costs about 100 ns.
    """
    compiled: Callable[[Callable[..., Any]], Callable[..., Any]] = nb.njit(
        signature,
        cache=True,
        nogil=True,
        error_model="numpy",
        fastmath=_FAST,
        forceinline=inline,
    )
    return compiled


def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(nb.types.voidptr))

    return nb.types.voidptr(nb.types.int64), generate


pointer: Any = intrinsic(_pointer)
"""In compiled code: an address (i8) as a pointer, for `carray`."""

carray: Any = numpy_support.carray
"""In compiled code: an array over memory that something else keeps."""
