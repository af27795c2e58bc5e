"""A bare echo of datagrams: what comes in at a port leaves for one target, byte for byte.

It is the least that a server of VMC can cost, with the same threads: one for each performer. Run as
a process of its own, with `python -m understudy_bench.udp_echo HOST:PORT PERFORMER...`; it says
where it is bound, in one line of JSON, and ends when its standard input is closed.
"""

from __future__ import annotations

import gc
import json
import socket
import sys
import threading
from collections.abc import Sequence
from typing import Final

from understudy_bench.ways import bound_socket

_LARGEST: Final = 1 << 16


def main(words: Sequence[str]) -> int:
    """Bind, tell, echo."""
    host, port = words[0].rsplit(":", 1)
    sources = {performer: bound_socket() for performer in words[1:]}
    gc.collect()
    gc.freeze()
    for source in sources.values():
        # Each sits in `recv` for ever, and is left behind at the end.
        threading.Thread(target=_echo, args=(source, (host, int(port))), daemon=True).start()
    udp = {name: "{}:{}".format(*source.getsockname()) for name, source in sources.items()}
    print(json.dumps({"ready": True, "udp": udp}), flush=True)
    sys.stdin.buffer.read()
    return 0


def _echo(source: socket.socket, target: tuple[str, int]) -> None:
    sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    while True:
        sink.sendto(source.recv(_LARGEST), target)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
