"""Settings for the whole suite."""

from __future__ import annotations

import signal

from hypothesis import settings

# A suite that is started in the background ignores Ctrl-C, and every process it starts would
# inherit that; some of them are ended this way.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples on every run, and no limit on the time of one: machines differ.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
