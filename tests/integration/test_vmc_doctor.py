"""The doctor with real sockets: a sender it is happy with, and some it is not."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from support.live import TIMEOUT_S, Subscriber, playing, sending, serving
from support.udp import free_port, receiver
from support.vmc import APPLY, blend
from support.vmc_live import LiveVmcPerformer, VmcStage
from understudy.characters import Clip, builtin_clip
from understudy.cli import main
from understudy.doctor.listening import listen_for_vmc
from understudy.kinematics import Joint, Skeleton
from understudy_client import Character, Control


def examine(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, list[dict[str, str]]]:
    code = main(["doctor", "--json", "--host", "127.0.0.1", *words])
    return code, json.loads(capsys.readouterr().out)


def test_a_walking_sender_has_a_body_and_a_rate(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    performer = LiveVmcPerformer(f"127.0.0.1:{port}")
    with sending(lambda number: performer.send(number % 100)):
        facts = listen_for_vmc("127.0.0.1", port, 1.5)
    performer.close()
    assert facts.body is not None
    assert (facts.body.missing, facts.body.refused) == ((), None)
    assert facts.body.shape is not None
    assert 0.7 < facts.body.shape.leg_m < 1.0
    assert facts.rhythm is not None
    assert facts.rhythm.rate_hz > 5.0
    assert facts.refused.keys() <= {"no-body"}


def test_a_face_without_a_body_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as face:

        def send(number: int) -> None:
            face.sendto(blend("Joy", 0.5), ("127.0.0.1", port))
            face.sendto(APPLY, ("127.0.0.1", port))

        with sending(send):
            code, findings = examine(capsys, "--vmc", str(port), "--seconds", "0.5")
    assert code == 1
    assert any("but no bones" in finding["text"] for finding in findings)


def changed(change: Callable[[Joint], Joint], scale: float = 1.0, lift_m: float = 0.0) -> Clip:
    """The built-in walk by a body that somebody else's program has got wrong."""
    walk = builtin_clip("walk", 120.0)
    body = Skeleton.build(change(joint) for joint in walk.skeleton.joints())
    roots = scale * walk.roots + [0.0, lift_m, 0.0]
    return Clip("walk", body, walk.rate_hz, roots, walk.rotations_xyzw)


def times(*factors: float) -> Callable[[Joint], Joint]:
    return lambda joint: replace(joint, offset=np.array(joint.offset) * factors)


def arms_down(joint: Joint) -> Joint:
    if joint.name.endswith(("LowerArm", "Hand")):
        return replace(joint, offset=(0.0, -float(np.linalg.norm(joint.offset)), 0.0))
    return joint


@pytest.mark.parametrize(
    ("clip", "words"),
    [
        (changed(times(100.0, 100.0, 100.0), scale=100.0), "lengths are 100 times too large"),
        (changed(times(0.01, 0.01, 0.01), scale=0.01), "lengths are 100 times too small"),
        (changed(times(-1.0, 1.0, 1.0)), "left and right are swapped"),
        (changed(times(-1.0, 1.0, -1.0)), "turned by half a turn"),
        (changed(times(1.0, 1.0, 1.0), lift_m=0.9), "m above the floor"),
        (changed(times(0.0, 0.0, 0.0)), "all bones have length zero"),
        (changed(arms_down), "the T-pose is missing"),
    ],
)
def test_a_body_that_is_sent_wrong_is_told(
    clip: Clip, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    performer = LiveVmcPerformer(f"127.0.0.1:{port}", clip)
    with sending(lambda number: performer.send(number % 100)):
        _, findings = examine(capsys, "--vmc", str(port), "--seconds", "0.5")
    performer.close()
    assert any(words in finding["text"] for finding in findings), findings


def test_a_pose_that_never_changes_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    performer = LiveVmcPerformer(f"127.0.0.1:{port}")
    with sending(lambda number: performer.send(0)):
        code, findings = examine(capsys, "--vmc", str(port), "--seconds", "0.5")
    performer.close()
    assert code == 1
    assert any("the pose never changes" in finding["text"] for finding in findings)


def test_a_sender_at_another_usual_port_is_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = free_port()
    monkeypatch.setattr("understudy.doctor.listening.USUAL_VMC_PORTS", (usual,))
    performer = LiveVmcPerformer(f"127.0.0.1:{usual}")
    with sending(lambda number: performer.send(number % 100)):
        code, findings = examine(capsys, "--vmc", str(free_port()), "--seconds", "0.5")
    performer.close()
    assert code == 1
    assert "nothing came" in findings[0]["text"]
    assert f"port {usual} instead" in findings[1]["text"]


def test_frames_that_come_in_bursts_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    port = free_port()
    performer = LiveVmcPerformer(f"127.0.0.1:{port}")

    def send(number: int) -> None:
        for frame in range(4):
            performer.send((4 * number + frame) % 100)

    with sending(send, rate_hz=15.0):
        _, findings = examine(capsys, "--vmc", str(port), "--seconds", "1")
    performer.close()
    rhythm = next(finding for finding in findings if "frames a second" in finding["text"])
    assert rhythm["weight"] == "odd"


def test_silence_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = examine(capsys, "--vmc", str(free_port()), "--seconds", "0.1")
    assert code == 1
    assert "nothing came" in findings[0]["text"]


def test_a_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with receiver() as (_, port):
        code, findings = examine(capsys, "--vmc", str(port), "--seconds", "0.1")
    assert code == 1
    assert "in use by another program" in findings[0]["text"]


def test_a_running_server_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    session = {"performer": "alice", "character": "hero", "solver": "copy"}
    performers = {"alice": {"vmc": "127.0.0.1:*"}}
    with serving(session, performers=performers, characters={"hero": {"rig": "child"}}) as server:
        control = server.endpoints.control
        code, findings = examine(capsys, "--server", control, "--seconds", "0.2")
        assert code == 1
        assert any("was never heard" in finding["text"] for finding in findings)
        stage = VmcStage(server)
        try:
            stage.start()
            with sending(lambda number: stage.performer.send(number % 100)):
                code, findings = examine(capsys, "--server", control, "--seconds", "1")
        finally:
            stage.close()
        assert code == 0, findings
        assert any(
            "character 'hero'" in finding["text"] and finding["weight"] != "wrong"
            for finding in findings
        )


def test_a_subscriber_that_is_too_slow_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {"performer": "alice", "character": "short-legs", "solver": "copy"}
    with serving(session) as server, playing(server, 5000.0):
        awake = Subscriber(server.endpoints.output, "short-legs")

        class Sleeper(Character):
            """Subscribes, and does not read until more has been published than can wait for it."""

            def __init__(self, name: str, address: str) -> None:
                super().__init__(name, address)
                assert self.receive(TIMEOUT_S) is not None
                for _ in range(2500):
                    awake.pose()

        monkeypatch.setattr("understudy.doctor.asking.Character", Sleeper)
        control = server.endpoints.control
        _, findings = examine(capsys, "--server", control, "--seconds", "0.5")
        awake.close()
    slow = next(finding for finding in findings if "did not arrive" in finding["text"])
    assert slow["weight"] == "odd"
    assert "too slow" in slow["text"]


def test_a_session_that_closes_meanwhile_is_left_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = {"performer": "alice", "character": "short-legs", "solver": "copy"}
    with serving(session) as server:
        control = server.endpoints.control

        class Closer(Character):
            """Has the session closed by somebody else once it is subscribed to."""

            def __init__(self, name: str, address: str) -> None:
                super().__init__(name, address)
                with Control(control) as other:
                    other.request("close", character=name)

        monkeypatch.setattr("understudy.doctor.asking.Character", Closer)
        code, findings = examine(capsys, "--server", control, "--seconds", "0.1")
    assert code == 1
    assert any("drives no character" in finding["text"] for finding in findings)
    assert not any("short-legs" in finding["text"] for finding in findings)


def test_no_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = examine(capsys, "--server", "tcp://127.0.0.1:1", "--seconds", "0.1")
    assert code == 1
    assert "no server answers" in findings[0]["text"]
