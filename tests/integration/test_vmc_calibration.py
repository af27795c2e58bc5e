"""Live calibration: by request, by a VMC receiver, and what becomes of it."""

from __future__ import annotations

import socket
from contextlib import closing
from pathlib import Path

import pytest

from support.live import ControlClient, sending, serving
from support.vmc_live import VmcStage
from understudy.align.profile import read_profile
from understudy_protocol.osc.packet import write_message

HERO = {"performer": "alice", "character": "hero", "solver": "copy"}
ALICE = {"alice": {"vmc": "127.0.0.1:*", "stale_after_s": 20.0}}
CHARACTERS = {"hero": {"rig": "giant", "vmc_requests": "127.0.0.1:*"}}


def test_a_still_pose_becomes_the_calibration_and_is_stored(tmp_path: Path) -> None:
    profile = tmp_path / "alice.toml"
    profile.write_text("version = 1\n[roles]\n", encoding="utf-8")
    session = {**HERO, "profile": str(profile)}
    with serving(session, performers=ALICE, characters=CHARACTERS) as server:
        stage = VmcStage(server)
        try:
            stage.start()
            with sending(lambda number: stage.performer.send(0)):
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
                sending(lambda number: stage.performer.send(12 * number % 600)),
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking,
            ):
                asking.sendto(write_message("/VMC/Ext/Set/Calib/Exec", "i", 0), (host, int(port)))
                failed = stage.subscriber.event("calibration-failed")
            assert "stand still" in failed.text
        finally:
            stage.close()


def test_who_drives_nobody_cannot_be_calibrated() -> None:
    with (
        serving({**HERO, "character": "giant"}) as server,
        closing(ControlClient(server.endpoints.control)) as control,
    ):
        refusal = control.refused("calibrate", performer="eve")
    assert refusal.reason == "unknown-performer"
    assert "those who do: alice" in refusal.text
