"""The server as a process: its ready line, its signals, its refusals."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from support.live import LivePerformer, Subscriber
from understudy_protocol import PoseMessage

SERVE = """
import sys
from understudy.config import load_config
from understudy.errors import UnderstudyError
from understudy.runtime.launch import run
try:
    sys.exit(run(load_config(sys.argv[1]), as_json=True))
except UnderstudyError as error:
    print(error, file=sys.stderr)
    sys.exit(2)
"""
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


def start(show: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SERVE, str(show)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


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
    with start(show) as process:
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


def complaints(errors: str) -> list[str]:
    """What was said on standard error, apart from the wait of a first start."""
    return [line for line in errors.splitlines() if not line.startswith("compiling")]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SHOW.replace("giant", "gaint"), "session[1].character: character 'gaint' is unknown"),
        (SHOW + 'solver = "clikk"\n', "session[1].solver: "),
        (SHOW + "[session.parameters]\nspeed = 1\n", "session[1].parameters: "),
        (SHOW + "rate = 60\n", "session[1].rate: is unknown; did you mean 'rate_hz'?"),
        (SHOW.replace("127.0.0.1", "256.1.1.1"), "cannot bind tcp://256.1.1.1:*"),
    ],
)
def test_a_wrong_show_file_is_refused_in_one_line(tmp_path: Path, text: str, line: str) -> None:
    show = tmp_path / "show.toml"
    show.write_text(text, encoding="utf-8")
    with start(show) as process:
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert output == ""
    lines = complaints(errors)
    assert len(lines) == 1
    assert line in lines[0]


def test_an_address_in_use_is_refused_in_one_line(tmp_path: Path) -> None:
    show = tmp_path / "show.toml"
    show.write_text(SHOW, encoding="utf-8")
    with start(show) as first:
        assert first.stdout is not None
        taken = json.loads(first.stdout.readline())["control"]
        show.write_text(
            SHOW.replace('control = "tcp://127.0.0.1:*"', f'control = "{taken}"'),
            encoding="utf-8",
        )
        with start(show) as second:
            _, errors = second.communicate(timeout=60)
        assert second.returncode == 2
        assert f"cannot bind {taken}" in errors
        first.terminate()
        first.communicate(timeout=20)
