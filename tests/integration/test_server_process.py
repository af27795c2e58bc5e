"""`understudy serve`: its ready line, its signals, its refusals."""

from __future__ import annotations

import json
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.live import ANY_PORT, LivePerformer, Subscriber, serving
from support.processes import complaints, running
from understudy.cli import main
from understudy_protocol import PoseMessage

SHOW = """
[server]
input = "tcp://127.0.0.1:*"
output = "tcp://127.0.0.1:*"
control = "tcp://127.0.0.1:*"

[[session]]
performer = "alice"
character = "short-legs"

[[session]]
performer = "alice"
character = "giant"
rate_hz = 60
"""


def stop_signals() -> list[signal.Signals]:
    if sys.platform == "win32":
        return []  # a console's Ctrl-C cannot be sent to one process there
    return [signal.SIGTERM, signal.SIGINT]


@pytest.mark.parametrize("number", stop_signals())
def test_a_signal_ends_it_cleanly_while_frames_come_in(
    tmp_path: Path, number: signal.Signals
) -> None:
    show = tmp_path / "show.toml"
    show.write_text(SHOW, encoding="utf-8")
    with running("serve", str(show), "--json") as process:
        assert process.stdout is not None
        ready = json.loads(process.stdout.readline())
        with (
            closing(Subscriber(ready["output"], "short-legs")) as subscriber,
            closing(LivePerformer("alice", ready["input"])) as performer,
        ):
            posed = False
            while not posed:
                performer.send(performer.seq % 100)
                _, message = subscriber.receive()
                posed = isinstance(message, PoseMessage)
            asked = time.monotonic()
            process.send_signal(number)
            _, errors = process.communicate(timeout=20)
            # "Within a second", with room for a machine that is busy with other things.
            assert time.monotonic() - asked < 5.0
            assert process.returncode == 0
            assert complaints(errors) == []


def refusal(show: Path, text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that tells what is wrong with a show."""
    show.write_text(text, encoding="utf-8")
    assert main(["serve", str(show)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    (line,) = complaints(shown.err)
    return line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SHOW.replace("giant", "gaint"), "session[1].character: character 'gaint' is unknown"),
        (SHOW + 'solver = "clikk"\n', "session[1].solver: "),
        (SHOW + "[session.parameters]\nspeed = 1\n", "session[1].parameters: "),
        (SHOW + "rate = 60\n", "session[1].rate: is unknown; did you mean 'rate_hz'?"),
        (SHOW.replace("127.0.0.1", "256.1.1.1"), "cannot bind tcp://256.1.1.1:*"),
    ],
)
def test_a_wrong_show_file_is_refused_in_one_line(
    tmp_path: Path, text: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refusal(tmp_path / "show.toml", text, capsys)


def test_an_address_in_use_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving({"performer": "alice", "character": "giant"}) as other:
        for key, free in ANY_PORT.items():
            taken = getattr(other.endpoints, key)
            text = SHOW.replace(f'{key} = "{free}"', f'{key} = "{taken}"')
            assert f"cannot bind {taken}" in refusal(tmp_path / "show.toml", text, capsys)
