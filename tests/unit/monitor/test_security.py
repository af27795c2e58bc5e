"""Who may use the page, against a real server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

pytest.importorskip("viser", reason="viser is not installed", exc_type=ImportError)

from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from understudy.monitor.security import PrivateServer, is_loopback, is_welcome


class _Open:
    def __init__(self) -> None:
        self.server = PrivateServer("127.0.0.1", 0, "test")
        self.host = f"127.0.0.1:{self.server.get_port()}"

    def close(self) -> None:
        self.server.stop()


@pytest.fixture(scope="module")
def page() -> Iterator[_Open]:
    with closing(_Open()) as opened:
        yield opened


def status_for(page: _Open, origin: str | None) -> int:
    """What a connection that says it is from `origin` is answered with; 101 lets it in."""
    try:
        # The version is that of the client's page: without one viser turns everybody away.
        with connect(f"ws://{page.host}", origin=origin, open_timeout=20):  # type: ignore[arg-type]
            return 101
    except InvalidStatus as refused:
        return refused.response.status_code


def test_a_foreign_page_is_refused_by_the_real_server(page: _Open) -> None:
    assert status_for(page, "http://evil.example") == 403
    assert status_for(page, "http://127.0.0.1:1") == 403
    assert status_for(page, "null") == 403


def test_its_own_page_and_programs_without_an_origin_are_let_in(page: _Open) -> None:
    assert status_for(page, f"http://{page.host}") == 101
    assert status_for(page, None) == 101


def test_nobody_can_make_the_page_public(page: _Open) -> None:
    assert page.server.request_share_url() is None


@pytest.mark.parametrize(
    ("origin", "host", "bound", "welcome"),
    [
        (None, "127.0.0.1:8080", "127.0.0.1", True),
        ("http://localhost:8080", "localhost:8080", "127.0.0.1", True),
        ("http://[::1]:8080", "[::1]:8080", "::1", True),
        ("http://localhost:9000", "localhost:9000", "127.0.0.1", True),  # a forwarded port
        ("http://localhost:3000", "localhost:8080", "127.0.0.1", False),  # another local page
        (
            "http://evil.example:8080",
            "evil.example:8080",
            "127.0.0.1",
            False,
        ),  # rebound
        ("http://evil.example:8080", "evil.example:8080", "0.0.0.0", False),
        ("http://192.168.1.5:8080", "192.168.1.5:8080", "0.0.0.0", True),
        ("http://192.168.1.5:8080", "192.168.1.5:8080", "127.0.0.1", False),
        ("http://192.168.1.9:8080", "192.168.1.5:8080", "0.0.0.0", False),
        ("http://stage.lan:8080", "stage.lan:8080", "stage.lan", True),
        ("file://", "", "127.0.0.1", False),
        ("null", "127.0.0.1:8080", "127.0.0.1", False),
    ],
)
def test_a_page_must_have_come_from_here(
    origin: str | None, host: str, bound: str, welcome: bool
) -> None:
    assert is_welcome(origin, host, bound) is welcome


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("lan", False)],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
