"""Every command and example in README.md, executed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import pytest
import zmq

from support.processes import TIMEOUT_S, complaints, running, understudy
from understudy.characters import BUILTIN_CHARACTERS, BUILTIN_CLIPS
from understudy.cli import COMMANDS, main
from understudy.config import load_config
from understudy_protocol import DEFAULT_CONTROL, DEFAULT_DOWNLINK, DEFAULT_UPLINK

REPO: Final = Path(__file__).resolve().parents[1]
README: Final = (REPO / "README.md").read_text(encoding="utf-8")
SHOW: Final = "understudy serve server/shows/walk.toml"

# These would call this suite again, or need a container engine.
NOT_EXECUTED: Final = ("make test", "docker compose up --build")
# These go on until they are told to stop.
ENDLESS: Final = ("serve", "play")
# These only read and write files; this process has their compiled code already.
OF_FILES: Final = ("inspect", "map", "retarget")
# How long a command runs here that runs for longer in the text: the length shows nothing more.
SECONDS: Final = "2"


def fences(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


def blocks() -> list[list[str]]:
    """The commands of every block, without those that are not executed."""
    found = [[line for line in block.splitlines() if line] for block in fences("sh")]
    assert set(NOT_EXECUTED) <= {line for block in found for line in block}
    return [[line for line in block if line not in NOT_EXECUTED] for block in found]


def lines_of(program: str) -> list[str]:
    return [line for block in blocks() for line in block if line.split()[0] == program]


ALONE: Final = [
    line for block in blocks() if SHOW not in block for line in block if line.startswith("under")
]
LIVE: Final = next(block for block in blocks() if SHOW in block)


def words_of(line: str) -> list[str]:
    """A command without its program, shortened."""
    _, *words = shlex.split(line)
    for place, word in enumerate(words):
        if word == "--seconds":
            assert float(words[place + 1]) >= float(SECONDS)
            words[place + 1] = SECONDS
    return words


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which the show files are where README.md has them."""
    shutil.copytree(REPO / "server" / "shows", tmp_path / "server" / "shows")
    return tmp_path


def test_no_command_is_forgotten() -> None:
    executed = [*lines_of("make"), *lines_of("pip"), *ALONE, *LIVE]
    assert sorted(executed) == sorted(line for block in blocks() for line in block)


@pytest.mark.skipif(sys.platform == "win32", reason="make is not the way there")
@pytest.mark.parametrize("line", lines_of("make"))
def test_make_runs_the_demo(line: str, tmp_path: Path) -> None:
    # The environment this suite runs in stands for the one that make would install.
    (tmp_path / "bin").symlink_to(Path(sys.executable).parent)
    (tmp_path / "installed").touch()
    program, target, seconds = shlex.split(line)
    assert seconds.startswith("SECONDS=")
    ended = subprocess.run(
        [program, target, f"SECONDS={SECONDS}", f"VENV={tmp_path}"],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=REPO,
        # Under `make test` this would be a make within a make, which says so on its output.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert " poses of giant: " in ended.stdout.splitlines()[-1]


@pytest.mark.parametrize("line", lines_of("pip"))
def test_pip_can_install_it(line: str) -> None:
    program, *words = shlex.split(line)
    ended = subprocess.run(
        [sys.executable, "-m", program, *words, "--dry-run"],
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False, cwd=REPO,
    )  # fmt: skip
    if "No matching distribution found for hatchling" in ended.stderr:
        pytest.skip("no package index to take the build tool from")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("line", ALONE)
def test_a_command_runs(
    line: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = words_of(line)
    if words[0] in OF_FILES:
        monkeypatch.chdir(folder)
        code = main(words)
        shown, errors = capsys.readouterr()
    else:
        ended = understudy(*words, folder=folder)
        code, shown, errors = ended.returncode, ended.stdout, ended.stderr
    # A bench ends with 1 where this machine, as busy as it is now, misses one of its limits.
    assert code in ((0, 1) if words[0] == "bench" else (0,)), errors
    assert shown
    for name in words:
        if name.endswith((".bvh", ".json", ".png")):
            assert (folder / name).stat().st_size > 0


@contextmanager
def default_ports() -> Iterator[None]:
    """Skip where a server of this machine has the default addresses already."""
    with zmq.Context[zmq.Socket[bytes]]() as context:
        for address in (DEFAULT_UPLINK, DEFAULT_DOWNLINK, DEFAULT_CONTROL):
            with context.socket(zmq.REP) as socket:
                try:
                    socket.bind(address)
                except zmq.ZMQError:
                    pytest.skip(f"{address} is in use on this machine")
    yield


def test_a_show_runs_with_its_performer_watchers_and_the_client(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    with default_ports(), ExitStack() as stack:
        for line in LIVE:
            words = words_of(line)
            if words[0] in ENDLESS:
                process = stack.enter_context(running(*words))
                assert process.stdout is not None
                assert process.stdout.readline().startswith(("ready: ", "playing "))
            else:
                ended = understudy(*words, folder=folder)
                assert (ended.returncode, complaints(ended.stderr)) == (0, [])
                assert "giant" in ended.stdout
        for example in fences("python"):
            printed = first_lines_printed_by(example, 3)
            assert all(line.split()[0].isdigit() for line in printed)
    assert (folder / "giant.bvh").stat().st_size > 0


def first_lines_printed_by(program: str, count: int) -> list[str]:
    """The first lines that an endless program prints."""
    with subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout is not None
            return [process.stdout.readline() for _ in range(count)]
        finally:
            process.terminate()


def test_the_client_example_has_five_lines() -> None:
    (example,) = fences("python")
    assert len(example.splitlines()) == 5


@pytest.mark.parametrize("example", fences("toml"))
def test_every_show_file_is_one(example: str, tmp_path: Path) -> None:
    show = tmp_path / "show.toml"
    show.write_text(example, encoding="utf-8")
    assert load_config(show).sessions[0].character == "hero"


def test_every_command_is_in_the_table() -> None:
    assert re.findall(r"^\| `understudy (\w+)", README, re.M) == list(COMMANDS)


def test_every_builtin_is_named() -> None:
    for names in (BUILTIN_CLIPS, BUILTIN_CHARACTERS):
        assert ", ".join(f"`{name}`" for name in names) in README.replace("\n", " ")


def test_every_link_leads_somewhere() -> None:
    targets = [link for link in re.findall(r"\]\(([^)#]+)", README) if "://" not in link]
    assert targets
    for target in targets:
        assert (REPO / target).exists(), target
