"""Control requests against a bare ROUTER socket in the server's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest
import zmq

from support.sockets import bound
from understudy_client import Control, RequestRefusedError, ServerUnreachableError, now_ns
from understudy_protocol import ProtocolError, Request, decode_request, encode_refusal, encode_reply

NOBODY = "tcp://127.0.0.1:9"  # the discard port, where no server listens

Answer = Callable[[Request], list[bytes]]


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as executor:
        yield executor


def answer_each(server: zmq.Socket[bytes], *answers: Answer) -> list[Request]:
    """Take one request for each of `answers` and send back what that makes of it."""
    requests = []
    for answer in answers:
        peer, delimiter, body = server.recv_multipart()
        requests.append(decode_request(body))
        for reply in answer(requests[-1]):
            server.send_multipart([peer, delimiter, reply])
    return requests


def test_a_request_is_answered_with_the_fields_of_its_reply(pool: ThreadPoolExecutor) -> None:
    with bound(zmq.ROUTER) as (server, address), Control(address, timeout=10) as control:
        served: Future[list[Request]] = pool.submit(
            answer_each, server, lambda request: [encode_reply(request.id, {"characters": ["x"]})]
        )
        assert control.request("list") == {"characters": ["x"]}
        assert [request.op for request in served.result(10)] == ["list"]


def test_a_refusal_carries_the_reason_and_the_text(pool: ThreadPoolExecutor) -> None:
    with bound(zmq.ROUTER) as (server, address), Control(address, timeout=10) as control:
        pool.submit(
            answer_each,
            server,
            lambda request: [encode_refusal(request.id, "unknown-character", "no character 'x'")],
        )
        with pytest.raises(RequestRefusedError, match="no character 'x'") as caught:
            control.request("close", character="x")
        assert caught.value.reason == "unknown-character"


def test_replies_to_other_requests_and_noise_are_passed_over(pool: ThreadPoolExecutor) -> None:
    def late_noise_and_the_right_one(request: Request) -> list[bytes]:
        late = encode_reply(request.id + 7, {"characters": ["late"]})
        return [late, b"\xc1", encode_reply(request.id, {"characters": []})]

    with bound(zmq.ROUTER) as (server, address), Control(address, timeout=10) as control:
        pool.submit(answer_each, server, late_noise_and_the_right_one)
        assert control.request("list") == {"characters": []}


def test_without_a_server_a_request_ends_with_the_address() -> None:
    with (
        Control(NOBODY, timeout=0.05) as control,
        pytest.raises(ServerUnreachableError, match=r"request 'list': .*:9 within 0.05 s"),
    ):
        control.request("list")


def test_after_an_unanswered_request_the_next_one_is_served(pool: ThreadPoolExecutor) -> None:
    def silence(_: Request) -> list[bytes]:
        return []

    def served(request: Request) -> list[bytes]:
        return [encode_reply(request.id, {"characters": []})]

    with bound(zmq.ROUTER) as (server, address), Control(address, timeout=10) as control:
        both = pool.submit(answer_each, server, silence, served)
        with pytest.raises(ServerUnreachableError):
            control.request("list", timeout=0.2)
        assert control.request("list") == {"characters": []}
        assert [request.op for request in both.result(10)] == ["list", "list"]


def test_the_clock_offset_is_taken_from_the_quickest_exchange(pool: ThreadPoolExecutor) -> None:
    ahead_ns = 3_600_000_000_000

    def clock_ahead(request: Request) -> list[bytes]:
        at_ns = now_ns() + ahead_ns
        return [encode_reply(request.id, {"t1": request.fields["t1"], "t2": at_ns, "t3": at_ns})]

    with bound(zmq.ROUTER) as (server, address), Control(address, timeout=10) as control:
        pool.submit(answer_each, server, *[clock_ahead] * 5)
        measured = control.clock_offset(exchanges=5)
        assert measured.round_trip_ns > 0
        assert abs(measured.offset_ns - ahead_ns) <= measured.round_trip_ns / 2 + 1


def test_a_request_that_is_not_allowed_is_not_sent() -> None:
    with Control(NOBODY) as control:
        with pytest.raises(ProtocolError, match="allowed: hello, list"):
            control.request("dance")
        with pytest.raises(ProtocolError, match="'character'"):
            control.request("close")
