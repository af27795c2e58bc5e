"""The page's server, closed to strangers: no foreign page may use it, no tunnel makes it public."""

from __future__ import annotations

import contextlib
import http
import io
import ipaddress
import socket
import threading
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

LOOPBACK_NAMES: Final = frozenset({"127.0.0.1", "localhost", "::1"})

_construction = threading.Lock()

ProcessRequest = Callable[[ServerConnection, Request], Response | None]


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine can reach a server bound to `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_welcome(origin: str | None, host_header: str, bound_host: str) -> bool:
    """Whether a page from `origin` may open a connection that was addressed to `host_header`.

    Programs that are no browser send no origin and are welcome. A page must have come from this
    very server, under a name nobody else can give it: a foreign site may have its own name lead
    here, but neither `localhost` nor a number nor this machine's name.
    """
    if origin is None:
        return True
    parts = urlsplit(origin)
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host_header.lower():
        return False
    name = (parts.hostname or "").lower()
    if name in LOOPBACK_NAMES or name == bound_host.lower():
        return True
    return not is_loopback(bound_host) and (_is_number(name) or name in _own_names())


class PrivateServer(viser.ViserServer):
    """A viser server that serves its own page alone."""

    def __init__(self, host: str, port: int, label: str) -> None:
        serve = websockets.asyncio.server.serve

        def guarded(*arguments: Any, **options: Any) -> Any:  # Any: passed on as they are
            inner: ProcessRequest = options["process_request"]

            def process_request(connection: ServerConnection, request: Request) -> Response | None:
                headers = request.headers
                if not is_welcome(headers.get("Origin"), headers.get("Host", ""), host):
                    return connection.respond(
                        http.HTTPStatus.FORBIDDEN, "this page may not use the monitor\n"
                    )
                return inner(connection, request)

            options["process_request"] = process_request
            return serve(*arguments, **options)

        # viser has no option for this; it calls `serve` once, while it is constructed.
        # It also prints a table, where one line of ours will do.
        with _construction, contextlib.redirect_stdout(io.StringIO()):
            websockets.asyncio.server.serve = guarded  # type: ignore[assignment,misc]
            try:
                super().__init__(host=host, port=port, label=label, verbose=False)
            finally:
                websockets.asyncio.server.serve = serve  # type: ignore[misc]

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any viewer could otherwise ask for a public address, button or not."""
        return None

    def stop(self) -> None:
        """Stop serving, without a word."""
        with contextlib.redirect_stdout(io.StringIO()):
            super().stop()


def _is_number(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _own_names() -> set[str]:
    return {socket.gethostname().lower(), socket.getfqdn().lower()}
