"""Settings for the whole suite."""

from __future__ import annotations

import gc
import signal

import pytest
from hypothesis import settings

# A suite that is started in the background ignores Ctrl-C, and every process it starts would
# inherit that; some of them are ended this way.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, and no limit on the time of one: machines differ.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(autouse=True)
def what_is_there_stays() -> None:
    """Spare the collector what was made before a test.

    A server looks through everything before it starts, and thousands of tests and compiled kernels
    are a third of a second's worth of it.
    """
    gc.freeze()
