"""What the page says, and that nothing in it can be anything but text."""

from __future__ import annotations

from typing import Any

import numpy as np

from understudy.characters import load_character
from understudy.ingest import message_from_skeleton
from understudy.monitor import markup
from understudy.monitor.feed import BodyKey, BodyView
from understudy.monitor.link import ServerView
from understudy.monitor.words import situation
from understudy.runtime.timing import STAGES
from understudy_protocol import FrameMessage, PoseMessage, status

CONTROL = "tcp://127.0.0.1:5552"
SKELETON = load_character("actor")
MESSAGE = message_from_skeleton(SKELETON)
REST = SKELETON.rest_pose()


def server(**changes: Any) -> ServerView:
    listed = {
        "performers": [],
        "characters": [{"name": "giant"}],
        "sessions": [{"performer": "anna", "character": "giant", "solver": "clik", "params": {}}],
    }
    stats = {"performers": [], "characters": [{"name": "giant", "problem": None}]}
    stats.update(changes)
    return ServerView(True, {"uplink": "tcp://127.0.0.1:5550"}, listed, stats)


def performer(heard_s: float) -> BodyView:
    frame = FrameMessage(1, 0, 0, MESSAGE.id, REST.root, REST.rotations_xyzw)
    return BodyView(BodyKey(True, "anna"), MESSAGE, SKELETON, frame, None, heard_s, 60.0)


def character(flags: int = 0) -> BodyView:
    pose = PoseMessage(
        0, MESSAGE.id, 0, np.zeros(3), REST.rotations_xyzw, None, b"", 0.0, flags, 0, 0, 0
    )
    return BodyView(BodyKey(False, "giant"), MESSAGE, SKELETON, pose, None, 10.0, 60.0)


def test_without_a_server_it_says_where_it_looks_and_how_to_start_one() -> None:
    told = situation(ServerView(), (), CONTROL, 0.0)
    assert told.headline == "Waiting for the server"
    assert CONTROL in told.text
    assert any(command.startswith("understudy serve") for command in told.commands)


def test_without_a_performer_it_gives_the_exact_command() -> None:
    for bodies in ((), (character(),)):
        told = situation(server(), bodies, CONTROL, 0.0)
        assert told.headline == "Waiting for a performer"
        assert told.commands == (
            "understudy play walk --loop --name anna --to tcp://127.0.0.1:5550",
        )


def test_a_live_show_is_told_in_words() -> None:
    told = situation(server(), (performer(10.0), character()), CONTROL, 10.1)
    assert told.headline == "Live: one performer, one character"
    assert "anna is streaming" in told.text


def test_a_silent_performer_is_named() -> None:
    told = situation(server(), (performer(10.0), character(status.STALE)), CONTROL, 15.0)
    assert told.headline == "anna is silent"


def test_trouble_is_told() -> None:
    told = situation(server(), (performer(10.0), character(status.OUT_OF_REACH)), CONTROL, 10.0)
    assert "out of reach" in told.text


def test_a_character_that_cannot_be_driven_says_why() -> None:
    view = server(characters=[{"name": "giant", "problem": "no legs"}])
    told = situation(view, (), CONTROL, 0.0)
    assert (told.headline, told.text) == ("giant cannot be driven", "no legs")


def test_names_are_never_markup() -> None:
    nasty = "<img src=x onerror=alert(1)>\"'"
    for made in (
        markup.card(nasty, nasty, "red"),
        markup.tiles([markup.Tile(nasty, nasty, nasty, nasty)]),
        markup.heading(nasty, nasty, [("red", nasty)]),
        markup.stages([(nasty, 1.0)]),
        markup.body_list([markup.Row("red", nasty, nasty, nasty)]),
        markup.note(nasty),
        markup.commands([nasty]),
    ):
        assert "<img" not in made
        assert "alert(1)>\"'" not in made


def test_every_stage_of_a_frame_has_a_colour_and_a_meaning() -> None:
    assert tuple(markup.STAGE_MEANINGS) == STAGES
    assert len(markup.STAGE_COLOURS) == len(STAGES)
