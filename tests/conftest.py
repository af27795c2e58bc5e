"""Settings for the whole suite."""

from __future__ import annotations

from hypothesis import settings

# The same examples on every run, and no limit on the time of one: machines differ.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
