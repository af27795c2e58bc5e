"""A real browser for the monitor's page: the system's chromium, headless and cut off."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS: Final = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find_chromium() -> str:
    """The system's chromium; skips the test where it or playwright is missing."""
    pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed", exc_type=ImportError
    )
    executable = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip("no chromium is installed (Debian: apt-get install chromium)")
    return executable


@contextmanager
def browsing(executable: str, width: int = 800, height: int = 500) -> Iterator[BrowserContext]:
    """A browser window of this size, px."""
    from playwright import sync_api

    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=list(_FLAGS))
        context = browser.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(60_000)
        try:
            yield context
        finally:
            browser.close()


def wait_until(page: Page, condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Look ten times a second, while the page lives on."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"{what} did not happen within {seconds:g} s")
