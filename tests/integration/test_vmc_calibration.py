"""Live calibration: by request, by a VMC receiver, and what becomes of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.live import ControlClient, serving
from support.vmc_live import VmcStage
from understudy.align.profile import read_profile
from understudy_protocol.osc.packet import write_message

HERO = {"performer": "alice", "character": "hero", "solver": "copy"}
ALICE = {"alice": {"vmc": "127.0.0.1:*", "stale_after_s": 20.0}}
CHARACTERS = {"hero": {"rig": "giant", "vmc_requests": "127.0.0.1:*"}}


@contextmanager
def performing(stage: VmcStage, frames: range) -> Iterator[None]:
    """These frames over and over, 50 a second, by a thread."""
    ended = threading.Event()

    def run() -> None:
        count = 0
        while not ended.wait(0.02):
            stage.performer.send(frames[count % len(frames)])
            count += 1

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_still_pose_becomes_the_calibration_and_is_stored(tmp_path: Path) -> None:
    profile = tmp_path / "alice.toml"
    profile.write_text("version = 1\n[roles]\n", encoding="utf-8")
    session = {**HERO, "profile": str(profile)}
    with serving(session, performers=ALICE, characters=CHARACTERS) as server:
        stage = VmcStage(server)
        try:
            stage.start()
            with performing(stage, range(1)):
                reply = stage.control.ask(
                    "calibrate", performer="alice", countdown_s=0.1, hold_s=1.0
                )
                assert reply["seconds"] == pytest.approx(1.1)
                assert "0.1 s to go" in stage.subscriber.event("calibrating").text
                assert "hold still" in stage.subscriber.event("calibrating").text
                assert "frames of a still pose" in stage.subscriber.event("calibrated").text
            assert stage.control.character("hero")["problem"] is None
        finally:
            stage.close()
    stored = read_profile(profile)
    assert stored.roles["leftHand"] == "LeftHand"
    assert set(stored.rotations_xyzw) >= {"Hips", "LeftUpperArm"}


def test_a_performer_who_moves_is_told_to_stand_still() -> None:
    with serving(HERO, performers=ALICE, characters=CHARACTERS) as server:
        stage = VmcStage(server)
        try:
            stage.start()
            host, port = server.endpoints.requests["hero"].rsplit(":", 1)
            with (
                performing(stage, range(0, 600, 12)),
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking,
            ):
                asking.sendto(write_message("/VMC/Ext/Set/Calib/Exec", "i", 0), (host, int(port)))
                failed = stage.subscriber.event("calibration-failed")
            assert "stand still" in failed.text
        finally:
            stage.close()


def test_who_drives_nobody_cannot_be_calibrated() -> None:
    with serving({**HERO, "character": "giant"}) as server:
        control = ControlClient(server.endpoints.control)
        reply = control.request("calibrate", performer="eve")
        control.close()
    assert reply.refusal is not None
    assert reply.refusal.reason == "unknown-performer"
    assert "those who do: alice" in reply.refusal.text
