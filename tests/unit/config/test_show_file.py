"""Settings of a running show written into its file."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from understudy.config import LiveSession, SaveError, SessionConfig, Settings, ShowFile, load_config

SHOW = """\
[[session]]
performer = "alice"
character = "giant"
solver = "ukf"
smoothing = 0.0

[session.parameters]
passes = 3   # of the filter

[[session]]
performer = "alice"
character = "short-legs"
"""


@pytest.fixture
def show(tmp_path: Path) -> ShowFile:
    path = tmp_path / "show.toml"
    path.write_text(SHOW, encoding="utf-8")
    return ShowFile(path)


def live(config: SessionConfig, **defaults: float) -> LiveSession:
    return LiveSession(replace(config, parameters={**defaults, **config.parameters}), defaults)


def test_a_show_as_it_was_is_not_written(show: ShowFile) -> None:
    before = show.path.stat().st_mtime_ns
    sessions = show.config.sessions
    saved = show.save([live(sessions[0], passes=1, noise=0.5), live(sessions[1], k1=1.0)])
    assert saved == ["giant", "short-legs"]
    assert show.path.read_text(encoding="utf-8") == SHOW
    assert show.path.stat().st_mtime_ns == before


def test_another_solver_s_parameters_leave_the_file(show: ShowFile) -> None:
    giant = replace(show.config.sessions[0], solver="clik", parameters={"k1": 0.5, "k2": 1.0})
    show.save([LiveSession(giant, {"k1": 1.0, "k2": 1.0})])
    saved = load_config(show.path).sessions
    assert (saved[0].solver, saved[0].parameters) == ("clik", {"k1": 0.5})
    assert saved[1] == show.config.sessions[1]


def test_settings_are_saved_again_and_again(show: ShowFile) -> None:
    giant = show.config.sessions[0]
    for smoothing in (0.5, 0.0, 0.25):
        settings = Settings("performed", False, smoothing)
        show.save([LiveSession(replace(giant, settings=settings), {})])
        assert load_config(show.path).sessions[0].settings == settings
    show.save([LiveSession(giant, {})])
    assert load_config(show.path).sessions == show.config.sessions
    assert [path.name for path in show.path.parent.iterdir()] == ["show.toml"]


def test_a_file_that_is_gone_is_named(show: ShowFile) -> None:
    show.path.unlink()
    with pytest.raises(SaveError, match=r"show\.toml cannot be read"):
        show.save([])


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link_and_the_file_keeps_its_mode(show: ShowFile) -> None:
    os.chmod(show.path, 0o640)
    link = show.path.with_name("link.toml")
    link.symlink_to(show.path)
    linked = ShowFile(link)
    giant = replace(linked.config.sessions[0], settings=Settings(smoothing=0.5))
    linked.save([LiveSession(giant, {})])
    assert link.is_symlink()
    assert load_config(show.path).sessions[0].settings.smoothing == 0.5
    assert show.path.stat().st_mode & 0o777 == 0o640


def test_sessions_that_are_not_written_line_by_line_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "show.toml"
    path.write_text('session = [{ performer = "a", character = "giant" }]', encoding="utf-8")
    show = ShowFile(path)
    giant = replace(show.config.sessions[0], settings=Settings(smoothing=0.5))
    with pytest.raises(SaveError, match="by hand"):
        show.save([LiveSession(giant, {})])
