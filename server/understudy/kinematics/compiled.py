"""How every hot loop of the project is compiled: one decorator, one set of options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numba as nb
from llvmlite import ir
from numba.core import cgutils, sigutils
from numba.extending import intrinsic
from numba.np import numpy_support

# Reordering and fused operations are allowed; NaN and infinity keep their meaning, because bad
# input must be seen and refused rather than optimised away (ask `_kernels.is_finite`).
_FAST: Final = {"contract", "reassoc", "arcp", "nsz"}
_OPTIONS: Final[dict[str, Any]] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "fastmath": _FAST,
}


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def kernel(signature: str) -> Decorator:
    """Compile a function for exactly `signature`; it releases the GIL and is cached on disk.

    It is compiled at import (or loaded from the cache) and refuses any other array at once; a lazy
    one would recompile in mid-stream for a read-only or strided array.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = _dispatcher(function)
        dispatcher.compile(signature)
        dispatcher.disable_compile()
        compiled: Callable[..., Any] = dispatcher
        return compiled

    return decorate


def direct(compiled: Any) -> Callable[..., Any]:
    """A kernel without the check of what it is given, 0.2 us less a call.

    For callers that hand over the address of an `ArrayTable` and plain numbers, and nothing else:
    what is in the table was checked when it was put there.
    """
    (only,) = compiled.overloads.values()
    entry: Callable[..., Any] = only.entry_point
    return entry


def part(signature: str, *, inline: bool = False) -> Decorator:
    """Compile a piece of kernels, for exactly `signature`, when the first of them is compiled.

    A kernel in the cache has its parts in it, so they are not loaded at all: with ninety of them
    that is most of the time that a start takes. Called from Python a part is loaded by its first
    call. `inline` puts a small one into its callers: a call with five arrays costs about 100 ns.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher = _dispatcher(function, inline=inline)
        compile_for = dispatcher.compile

        def compile_once(*_: object) -> Any:
            compile_for(signature)
            dispatcher.disable_compile()
            return dispatcher

        # Whoever asks first, a kernel that is compiled (`compile`) or Python (`_compile_for_args`),
        # and with whatever types: one signature is compiled, and the types are checked against it.
        dispatcher.compile = dispatcher._compile_for_args = compile_once
        compiled: Callable[..., Any] = dispatcher
        return compiled

    return decorate


def _stamp_of_sources() -> tuple[tuple[str, int, int], ...]:
    """Name, time and size of every file that compiled code is made of."""
    package = Path(__file__).parent.parent
    files = [*package.glob("*/_kernels.py"), *package.glob("*/_kernels/*.py")]
    files += [package / "kinematics" / "tables.py", Path(__file__)]
    stats = [(file.relative_to(package).as_posix(), file.stat()) for file in files if file.exists()]
    return tuple(sorted((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats))


_SOURCES: Final = _stamp_of_sources()


def _dispatcher(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """What numba makes of a function: not compiled yet, and cached until any kernel changes.

    By itself numba goes by the function's own file: after an update a kernel would go on with the
    old code of a part that stands in another.
    """
    dispatcher = nb.njit(forceinline=inline, **_OPTIONS)(function)
    cached = dispatcher._cache._cache_file
    cached._source_stamp = (cached._source_stamp, _SOURCES)
    return dispatcher


def _pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(nb.types.voidptr))

    return nb.types.voidptr(nb.types.int64), generate


pointer: Any = intrinsic(_pointer)
"""In compiled code: an address (i8) as a pointer, for `carray`."""


class Call(NamedTuple):
    """A kernel and the table it is to work on, for compiled code that calls it: addresses."""

    function: int
    table: int


# Numba's own tools have no types.
_read_signature: Any = sigutils.normalize_signature
_star_tuple: Any = nb.types.StarArgTuple
_unpack: Any = cgutils.unpack_tuple


def entry_of(compiled: Any, signature: str) -> int:
    """Where a kernel begins, for compiled code that calls it by the `caller` of that signature."""
    (only,) = compiled.overloads.values()
    arguments, result = _read_signature(signature)
    entry = int(only.library.get_pointer_to_function(only.fndesc.llvm_cfunc_wrapper_name))
    if only.signature.args != arguments or only.signature.return_type != result or not entry:
        raise TypeError(f"{compiled.__name__} cannot be called as {signature}")
    return entry


def caller(signature: str) -> Any:
    """In compiled code: call(function, *arguments) for a kernel of numbers at an address.

    So a kernel can call one that is chosen only when it runs, or that is compiled in a room of its
    own, without having a copy of it inside.
    """
    arguments, result = _read_signature(signature)

    def call(typing_context: Any, function: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            types = [context.get_value_type(each) for each in (result, *arguments)]
            function = ir.FunctionType(types[0], types[1:])
            callee = builder.inttoptr(values[0], function.as_pointer())
            return builder.call(callee, _unpack(builder, values[1]))

        return result(nb.types.int64, _star_tuple(arguments)), generate

    return intrinsic(call)


carray: Any = numpy_support.carray
"""In compiled code: an array over memory that something else keeps."""
