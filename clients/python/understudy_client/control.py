"""Requests to a server: what it runs, sessions, figures, its clock."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import zmq

from understudy_client.clock import now_ns
from understudy_client.errors import RequestRefusedError, ServerUnreachableError
from understudy_client.links import Link
from understudy_client.sockets import connect_control
from understudy_protocol import (
    DEFAULT_CONTROL,
    PROTOCOL_VERSION,
    ClockOffset,
    ProtocolError,
    clock_offset,
    decode_reply,
    encode_request,
)


class Control(Link):
    """One request at a time, each with its own time-out; one thread at a time may use it.

    After a time-out the link is dropped and made anew, so a late reply cannot be taken for the
    next one and nothing is left in a queue for a server that comes back.
    """

    def __init__(self, address: str = DEFAULT_CONTROL, timeout: float = 2.0) -> None:
        self._address = address
        self._timeout = timeout
        self._requests = 0
        self._connect()

    def request(self, op: str, *, timeout: float | None = None, **fields: Any) -> Mapping[str, Any]:
        """Send one request and return the fields of its reply.

        `timeout` (s) stands in for the one given at the start. `RequestRefusedError` carries the
        server's reason, `ServerUnreachableError` says that nothing came back in time, and
        `ProtocolError` that the request itself is not allowed.
        """
        self._requests += 1
        body = encode_request(op, self._requests, fields)
        wait = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + wait
        if not self._poll(zmq.POLLOUT, deadline):
            raise self._unreachable(op, wait)
        self._socket.send_multipart((b"", body))  # after the delimiter that a REQ socket would send
        while self._poll(zmq.POLLIN, deadline):
            try:
                reply = decode_reply(self._socket.recv_multipart()[-1])
            except ProtocolError:
                continue  # not a reply at all; the right one may still come
            if reply.id not in (self._requests, None):
                continue
            if reply.refusal is not None:
                raise RequestRefusedError(reply.refusal.reason, reply.refusal.text)
            return reply.fields
        raise self._unreachable(op, wait)

    def hello(self) -> Mapping[str, Any]:
        """Greet the server: which versions it speaks and where its streams are."""
        return self.request("hello", v=PROTOCOL_VERSION)

    def clock_offset(self, exchanges: int = 8) -> ClockOffset:
        """Server clock minus this client's `now_ns`, from the quickest of several exchanges."""
        return min(
            (self._exchange_times() for _ in range(exchanges)),
            key=lambda measured: measured.round_trip_ns,
        )

    def _exchange_times(self) -> ClockOffset:
        sent_ns = now_ns()
        reply = self.request("time", t1=sent_ns)
        return clock_offset(sent_ns, reply["t2"], reply["t3"], now_ns())

    def _poll(self, flag: int, deadline: float) -> bool:
        left_ms = max(0, round((deadline - time.monotonic()) * 1e3))
        return bool(self._socket.poll(left_ms, flag))

    def _unreachable(self, op: str, wait: float) -> ServerUnreachableError:
        self._socket.close()
        self._connect()
        return ServerUnreachableError(f"request {op!r}", self._address, wait)

    def _connect(self) -> None:
        self._socket: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.DEALER)
        connect_control(self._socket, self._address)
