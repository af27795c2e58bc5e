"""Viewers of a monitor's page without a browser around them: connections that read everything.

Run as a process of its own, with `python -m understudy_bench.page_viewers URL COUNT`; it says in
one line of JSON when each of them is drawn for, and ends when its standard input is closed.
"""

from __future__ import annotations

import json
import sys
import threading
from importlib.metadata import version
from typing import Final
from urllib.parse import urlsplit

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.typing import Subprotocol

# A page tells first how it looks at the scene; only then is it counted among the viewers.
_CAMERA: Final = {
    "type": "ViewerCameraMessage",
    "wxyz": (1.0, 0.0, 0.0, 0.0),
    "position": (0.0, 1.0, 4.0),
    "fov": 0.7,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 790,
    "image_width": 1440,
    "look_at": (0.0, 1.0, 0.0),
    "up_direction": (0.0, 1.0, 0.0),
}
# Messages with which a page is filled; what comes after them is drawn for it.
_FILLED: Final = 5
_PATIENCE_S: Final = 60.0


def main(url: str, count: int) -> int:
    """Connect, tell, read."""
    reading = [threading.Event() for _ in range(count)]
    for event in reading:
        threading.Thread(target=_read, args=(url, event), daemon=True).start()
    ready = all(event.wait(_PATIENCE_S) for event in reading)
    print(json.dumps({"ready": ready}), flush=True)
    sys.stdin.buffer.read()
    return 0


def _read(url: str, reading: threading.Event) -> None:
    """Take everything that is sent to one viewer."""
    language = Subprotocol(f"viser-v{version('viser')}")
    address = f"ws://{urlsplit(url).netloc}"
    with connect(address, subprotocols=[language], max_size=None, close_timeout=0.1) as page:
        page.send(msgspec.msgpack.encode(_CAMERA))
        taken = 0
        try:
            for _ in page:
                taken += 1
                if taken > _FILLED:
                    reading.set()
        except ConnectionClosed:
            return


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
