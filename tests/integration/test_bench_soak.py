"""`bench soak` against a sound server, and against one that keeps 100 bytes a frame."""

from __future__ import annotations

from support.regressions import LEAK
from understudy_bench.checks import Check
from understudy_bench.commands.soak import SoakOptions, run_soak
from understudy_bench.processes import SERVE
from understudy_bench.report import Report


def soak(command: tuple[str, ...], *, hours: float = 0.0, starts: int = 0) -> Report:
    return run_soak(
        SoakOptions(
            frames=4000,
            server_frames=15_000,
            guests=3,
            hours=hours,
            starts=starts,
            settled=2000,
            block_s=1.0,
            server_command=command,
        )
    )


def find(report: Report, words: str) -> Check:
    return next(check for check in report.checks if words in check.name)


def test_a_sound_server_neither_grows_nor_loses_frames() -> None:
    report = soak(SERVE, hours=2.0 / 3600.0, starts=1)
    assert report.results["server"]["lost"] == 0
    assert find(report, "grown in the server").passed is True
    assert find(report, "survive a frame").passed is True
    assert find(report, "open files").passed is True
    live = report.results["real_time"]
    assert (live["frames"], live["guests"]) == (240, 4)
    # A machine that stands still for a moment loses frames, and then the bench does not judge them.
    assert find(report, "lost in real time").passed is not False
    assert find(report, "open files grown in real time").passed is True
    assert find(report, "first accepted frame").value > 0.0


def test_a_leak_of_a_hundred_bytes_a_frame_is_caught() -> None:
    report = soak(LEAK)
    assert find(report, "grown in the server").passed is False
    assert report.exit_code == 1
