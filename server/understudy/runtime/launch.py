"""Serve until told to stop: signals, the ready line, and a word about the wait for the kernels."""

from __future__ import annotations

import gc
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Final, TextIO, cast

from understudy.config import Config, ShowFile

if TYPE_CHECKING:  # its import loads compiled code
    from understudy.runtime.server import Endpoints

# Loading compiled kernels takes less than this; a first start compiles them.
_PATIENCE_S: Final = 3.0
_WAITING: Final = "compiling kernels: up to a minute, once on this machine"
# On Windows a wait without a time-out would not notice Ctrl-C.
_LOOK_S: Final = 0.2


def _nothing(output: str, control: str) -> AbstractContextManager[None]:
    return nullcontext()


def run(
    config: Config,
    *,
    show_file: ShowFile | None = None,
    as_json: bool = False,
    out: TextIO | None = None,
    beside: Callable[[str, str], AbstractContextManager[None]] = _nothing,
) -> int:
    """Serve `config` until SIGTERM or Ctrl-C; the exit code.

    When frames are accepted one line says so on `out` (standard output), as JSON if asked for;
    `beside` is then entered with the addresses of output and control, and left at the end.
    `show_file` is where settings may be saved. UnderstudyError tells what is wrong with the show.
    To be called by the main thread.
    """
    out = sys.stdout if out is None else out
    stop = threading.Event()
    with _signals(stop), waiting_notice():
        # Compiled code is loaded, or compiled, by this import: not before the notice can be given.
        with scipy_unseen():
            from understudy.runtime.server import Server

        server = Server(config, show_file)
        server.start()
    with _signals(stop):
        try:
            print(_ready_line(server.endpoints, config, as_json), file=out, flush=True)
            with beside(server.endpoints.output, server.endpoints.control):
                while not stop.wait(_LOOK_S):
                    pass
        finally:
            server.stop()
            # The interpreter would look through everything numba loaded before it ends: most of a
            # second, for nothing.
            gc.freeze()
    return 0


@contextmanager
def scipy_unseen() -> Iterator[None]:
    """Let an import in the block do without scipy's linear algebra.

    numba looks for BLAS there before it loads the first kernel, which takes a tenth of a start; no
    kernel of the server calls BLAS.
    """
    name = "scipy.linalg"
    if name in sys.modules:
        yield
        return
    unseen: dict[str, ModuleType | None] = {name: None}
    sys.modules.update(cast(dict[str, ModuleType], unseen))  # None makes an import fail
    try:
        yield
    finally:
        del sys.modules[name]


def _ready_line(endpoints: Endpoints, config: Config, as_json: bool) -> str:
    addresses = {key: str(getattr(endpoints, key)) for key in ("input", "output", "control")}
    if as_json:
        udp = {"udp": endpoints.udp, "requests": endpoints.requests}
        return json.dumps({"ready": True, **addresses, **udp})
    pairs = ", ".join(f"{s.performer} -> {s.character}" for s in config.sessions)
    for name, address in endpoints.udp.items():
        addresses[name] = f"udp {address}"
    for name, address in endpoints.requests.items():
        addresses[f"requests for {name}"] = f"udp {address}"
    places = ", ".join(f"{key} {address}" for key, address in addresses.items())
    return f"ready: {pairs}; {places}"


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    """Set `stop` on SIGTERM, Ctrl-C and, on Windows, Ctrl-Break."""

    def handler(number: int, frame: FrameType | None) -> None:
        stop.set()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    before = [(number, signal.signal(number, handler)) for number in numbers]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, old)


@contextmanager
def waiting_notice() -> Iterator[None]:
    """Say on standard error what the wait is for, if there is one."""
    timer = threading.Timer(_PATIENCE_S, lambda: print(_WAITING, file=sys.stderr, flush=True))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
