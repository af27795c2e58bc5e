"""A bare echo: what comes in on a SUB socket leaves by a PUB socket, byte for byte.

It is the least that a server on sockets of libzmq can cost. Run as a process of its own, with
`python -m understudy_bench.echo`; it says where it is bound, in one line of JSON, and ends when its
standard input is closed.
"""

from __future__ import annotations

import gc
import json
import sys
import threading

import zmq

ANY_PORT = "tcp://127.0.0.1:*"


def main() -> int:
    """Bind, tell, echo."""
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    source = context.socket(zmq.SUB)
    source.setsockopt(zmq.SUBSCRIBE, b"")
    sink = context.socket(zmq.PUB)
    for socket in (source, sink):
        socket.setsockopt(zmq.LINGER, 0)
        socket.bind(ANY_PORT)
    ends = {
        "input": source.getsockopt_string(zmq.LAST_ENDPOINT),
        "output": sink.getsockopt_string(zmq.LAST_ENDPOINT),
    }
    gc.collect()
    gc.freeze()
    # The echo may sit in `recv` for ever, so it is the one that is left behind at the end.
    threading.Thread(target=_echo, args=(source, sink), daemon=True).start()
    print(json.dumps({"ready": True, **ends}), flush=True)
    sys.stdin.buffer.read()
    return 0


def _echo(source: zmq.Socket[bytes], sink: zmq.Socket[bytes]) -> None:
    while True:
        sink.send_multipart(source.recv_multipart())


if __name__ == "__main__":
    sys.exit(main())
