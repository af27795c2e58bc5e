"""The commands as users meet them: help, one-line errors, and what they do."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from support.live import serving
from support.processes import complaints, running, understudy
from understudy import __version__
from understudy.characters import BUILTIN_CHARACTERS, load_clip, read_bvh, write_bvh
from understudy.characters.clip import Clip
from understudy.cli import COMMANDS, build_parser, main
from understudy.runtime.server import Endpoints

OWN_COMMANDS = sorted(set(COMMANDS) - {"bench"})
NOBODY = "tcp://127.0.0.1:9"  # the discard port, where no server listens


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoints]:
    """A real server with two characters and nobody performing yet."""
    clocked = {"performer": "anna", "character": "child", "rate_hz": 60}
    with serving({"performer": "anna", "character": "giant"}, clocked) as live:
        yield live.endpoints


@pytest.mark.parametrize("command", OWN_COMMANDS)
def test_every_command_explains_itself_with_an_example_that_is_right(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([command, "--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    examples = [line for line in shown.splitlines() if line.startswith("example: ")]
    assert examples
    for example in examples:
        program, *words = shlex.split(example.removeprefix("example: "))
        assert program == "understudy"
        assert words[0] == command
        assert build_parser(command).parse_args(words).command == command


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"understudy {__version__}\n"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "required: COMMAND"),
        (["dance"], "invalid choice: 'dance'"),
        (["play"], "required: FILE|BUILTIN"),
        (["play", "walk", "--rate", "fast"], "'fast'; allowed: a number from 1 to 1000 (Hz)"),
        (["play", "walk", "--rate", "nan"], "'nan'; allowed"),
        (["play", "moonwalk"], "clip 'moonwalk' is unknown; allowed: walk"),
        (["play", "none.bvh"], "none.bvh: cannot be read"),
        (["play", "walk", "--to", NOBODY, "--wait", "0.1"], "no answer from a server"),
        (["play", "walk", "--to", "nowhere"], "cannot connect to 'nowhere'"),
        (["play", "walk", "--name", "a/b"], "has a '/'"),
        (["serve", "none.toml"], "none.toml: cannot be read"),
        (["status", "--control", NOBODY, "--wait", "0.1"], "no answer from a server"),
        (["watch", "--control", NOBODY], "no answer from a server"),
        (["record", "giant", "-o", "x.bvh", "--frames", "0"], "'0'; allowed: a whole number"),
        (["record", "giant", "-o", "x.fbx"], "allowed: a name that ends in .bvh"),
        (["record", "giant", "-o", "none/x.bvh"], "its folder does not exist"),
        (["record", "giant", "-o", "x.bvh", "--from", NOBODY, "--wait", "0.1"], "no pose of"),
        (["retarget", "walk", "--to", "elf", "-o", "x.bvh"], "character 'elf' is unknown"),
        (["retarget", "walk", "--to", "giant", "-o", "x.bvh", "--solver", "magic"], "'magic'"),
        (["retarget", "walk", "--to", "giant", "-o", "x.bvh", "--whole"], "only 'egik' solves"),
        (["inspect", "none.bvh"], "none.bvh: cannot be read"),
        (["inspect", "walk", "--up", "sideways"], "'sideways'"),
    ],
    ids=lambda value: " ".join(value) or "nothing" if isinstance(value, list) else "",
)
def test_a_wrong_use_is_told_in_one_line(
    words: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        code: object = main(words)
    except SystemExit as ended:
        code = ended.code
    shown = capsys.readouterr()
    assert code == 2
    assert told in shown.err
    assert shown.err.startswith("understudy")
    assert shown.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_character_that_is_not_there_is_told_with_those_that_are(
    server: Endpoints, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["watch", "elf", "--control", server.control, "--from", server.output]) == 2
    assert "no character 'elf'" in (error := capsys.readouterr().err)
    assert "there are: giant, child" in error


def test_a_performance_is_played_watched_and_recorded(
    server: Endpoints, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    take = tmp_path / "take.bvh"

    def shown(*words: str) -> str:
        assert main(list(words)) == 0
        out, errors = capsys.readouterr()
        assert errors == ""
        return out

    both = ("--from", server.output, "--control", server.control)
    with running("play", "walk", "--name", "anna", "--rate", "60", "--loop", "--to", server.input):
        watched = shown("watch", "giant", "--json", "--seconds", "2", *both)
        recorded = shown(
            "record", "giant", "-o", str(take), "--frames", "45", "--from", server.output, "--json"
        )
        status = shown("status", "--json", "--control", server.control)
        table = shown("watch", "--once", *both)
    (reading,) = json.loads(watched.splitlines()[-1])["characters"]
    assert reading["character"] == "giant"
    assert reading["poses"] > 0
    assert reading["latency_p50_ms"] > 0
    assert json.loads(recorded)["lost"] == 0
    clip = read_bvh(take, unit_m=0.01, up="y").clip
    assert set(clip.skeleton.names) == set(load_clip("walk").skeleton.names)
    assert clip.frame_count > 30
    assert np.ptp(clip.roots, axis=0).max() > 0.1  # it walks
    listed = json.loads(status)["list"]
    assert [entry["name"] for entry in listed["characters"]] == ["giant", "child"]
    assert listed["performers"][0]["state"] == "live"
    assert [line.split(":")[0] for line in table.splitlines()] == ["giant", "child"]


def test_a_clip_is_played_to_its_end(server: Endpoints, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "bat-swing", "--speed", "4", "--name", "ben", "--to", server.input]
    assert main([*words, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    clip = load_clip("bat-swing")
    assert summary["frames"] == load_clip("bat-swing", clip.rate_hz / 4).frame_count


@pytest.mark.parametrize("character", sorted(BUILTIN_CHARACTERS))
def test_a_clip_is_retargeted_to_every_character(
    character: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.bvh"
    errors_mm = {}
    for solver in ("copy", "clik"):
        words = ["retarget", "walk", "--to", character, "-o", str(out), "--solver", solver]
        assert main([*words, "--json"]) == 0
        summary = json.loads(capsys.readouterr().out)
        errors_mm[solver] = summary["hand_error_mean_mm"] + summary["foot_error_mean_mm"]
        assert summary["frames"] == load_clip("walk").frame_count
        assert summary["frames_per_s"] > 0
        written = read_bvh(out, unit_m=0.01, up="y").clip
        assert written.frame_count == summary["frames"]
        assert np.isfinite(written.rotations_xyzw).all()
    # Angles as they are miss the goals of a body that is built otherwise; solving meets them.
    assert errors_mm["clik"] <= errors_mm["copy"]
    assert errors_mm["clik"] < 1.0


def test_a_clip_is_retargeted_as_a_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = load_clip("walk")
    part = Clip("part", walk.skeleton, walk.rate_hz, walk.roots[:40], walk.rotations_xyzw[:40])
    write_bvh(tmp_path / "part.bvh", part)
    written = []
    for options in ([], ["--whole"]):
        out = tmp_path / "out.bvh"
        words = ["retarget", str(tmp_path / "part.bvh"), "--to", "short-legs", "-o", str(out)]
        assert main([*words, "--solver", "egik", "--json", *options]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert summary["frames"] == 40
        assert summary["foot_error_mean_mm"] < 2.0
        written.append(read_bvh(out, unit_m=0.01, up="y").clip)
    causal, whole = written
    assert np.isfinite(whole.rotations_xyzw).all()
    assert 1e-4 < np.abs(whole.rotations_xyzw - causal.rotations_xyzw).max() < 0.1


def test_a_clip_without_frames_cannot_be_retargeted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walk = load_clip("walk")
    still = Clip("still", walk.skeleton, 30.0, walk.roots[:0], walk.rotations_xyzw[:0])
    write_bvh(tmp_path / "still.bvh", still)
    words = ["retarget", str(tmp_path / "still.bvh"), "--to", "giant", "-o", "x.bvh"]
    assert main(words) == 2
    assert "it has no frames to retarget" in capsys.readouterr().err


def test_a_clip_is_described_for_people_and_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["inspect", "walk"]) == 0
    text = capsys.readouterr().out
    assert "390 frames at 30 Hz" in text
    assert "leftUpperLeg" in text
    assert main(["inspect", "walk", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["motion"]["frame_count"] == 390


def test_the_demo_ends_after_its_seconds_with_a_summary() -> None:
    shown = understudy("demo", "--seconds", "2", "--json")
    assert (shown.returncode, complaints(shown.stderr)) == (0, [])
    summary = json.loads(shown.stdout)
    assert [entry["character"] for entry in summary["characters"]] == ["short-legs", "giant"]
    for entry in summary["characters"]:
        assert entry["poses"] > 60
        assert entry["lost"] == 0
        assert entry["error_max_mm"] < 1.0


@pytest.mark.skipif(sys.platform == "win32", reason="no Ctrl-C for a single process there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_ends_with_a_summary_when_it_is_told_to(number: signal.Signals) -> None:
    with running("demo") as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("starting a server")
        assert process.stdout.readline().startswith("short-legs: rate ")
        process.send_signal(number)
        rest, errors = process.communicate(timeout=30)
        assert process.returncode == 0
        assert complaints(errors) == []
        assert " poses of giant: rate " in rest.splitlines()[-1]


def test_a_reader_that_leaves_early_is_no_error() -> None:
    with running("inspect", "walk") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert complaints(process.stderr.read()) == []
        process.stdout = None
