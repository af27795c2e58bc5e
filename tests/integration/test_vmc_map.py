"""`understudy map`: a map that is printed, saved, edited and used again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.live import serving
from support.shared import shared_path
from understudy.cli import main
from understudy.config import ConfigError


def test_a_map_is_shown_for_both_bodies(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", "walk", "giant"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["role", "walk", "giant"]
    assert ["leftUpperArm", "leftUpperArm", "leftUpperArm"] in [line.split() for line in lines]


def test_a_profile_that_was_written_is_used_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "alice.toml"
    assert main(["map", "walk", "-o", str(profile)]) == 0
    edited = profile.read_text(encoding="utf-8").replace(
        'leftToes = "leftToes"', 'leftToes = "rightToes"'
    )
    profile.write_text(edited, encoding="utf-8")
    capsys.readouterr()
    assert main(["map", "walk", "--profile", str(profile), "--json"]) == 0
    roles = json.loads(capsys.readouterr().out)[0]["roles"]
    assert roles["leftToes"] == {"joint": "rightToes", "confidence": 1.0}


def test_a_profile_reaches_retarget_and_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = tmp_path / "alice.toml"
    profile.write_text('version = 1\n[roles]\nhips = "nobody"\n', encoding="utf-8")
    out = tmp_path / "out.bvh"
    words = ["retarget", "walk", "--to", "giant", "-o", str(out), "--profile", str(profile)]
    assert main(words) == 2
    assert "role 'hips': no joint 'nobody'" in capsys.readouterr().err
    missing = {"performer": "alice", "character": "giant", "profile": str(tmp_path / "none.toml")}
    with pytest.raises(ConfigError, match=r"session\.profile: .*none\.toml"), serving(missing):
        pass


def test_an_animal_is_refused_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["map", str(shared_path("rigs/Fox.glb"))]) == 1
    assert "four-legged" in capsys.readouterr().out
