"""What the page makes of the events of a calibration."""

from __future__ import annotations

import pytest

pytest.importorskip("viser", reason="viser is not installed", exc_type=ImportError)

from understudy.monitor.calibration import Told, told_by
from understudy_protocol import EventMessage


def event(kind: str, text: str, **data: float) -> EventMessage:
    return EventMessage(kind, text, 0, {"performer": "anna", **data})


def test_a_countdown_ends_when_the_server_says() -> None:
    told = told_by(event("calibrating", "T- or A-pose, please: 3 s to go", seconds=3.0), 100.0)
    assert told == Told("anna", "T- or A-pose, please", 103.0)
    assert told_by(event("calibrating", "hold still", seconds=1), 103.0) == Told(
        "anna", "Hold still", 104.0
    )


def test_the_outcome_is_a_sentence() -> None:
    assert told_by(event("calibrated", "60 frames of a still pose"), 0.0) == Told(
        "anna", "anna is calibrated, from 60 frames of a still pose."
    )
    assert told_by(event("calibration-failed", "leftHand moved"), 0.0) == Told(
        "anna", "anna was not calibrated: leftHand moved."
    )


def test_other_events_say_nothing_about_it() -> None:
    assert told_by(event("stale", "silent"), 0.0) is None
