"""`bench soak` against a sound server, and against one that keeps 100 bytes a frame."""

from __future__ import annotations

from support.regressions import LEAK
from understudy_bench.checks import Check
from understudy_bench.commands.soak import SoakOptions, run_soak
from understudy_bench.processes import SERVE
from understudy_bench.report import Report


def soak(command: tuple[str, ...]) -> Report:
    return run_soak(
        SoakOptions(
            frames=4000, server_frames=20_000, guests=5, settled=2000, server_command=command
        )
    )


def find(report: Report, words: str) -> Check:
    return next(check for check in report.checks if words in check.name)


def test_a_sound_server_neither_grows_nor_loses_frames() -> None:
    report = soak(SERVE)
    assert report.results["server"]["lost"] == 0
    assert find(report, "grown in the server").passed is True
    assert find(report, "survive a frame").passed is True
    assert find(report, "open files").passed is True
    assert report.exit_code == 0


def test_a_leak_of_a_hundred_bytes_a_frame_is_caught() -> None:
    report = soak(LEAK)
    assert find(report, "grown in the server").passed is False
    assert report.exit_code == 1
