"""Whole shows over VMC: played by our command, received by a program nobody here wrote."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import udp, vmc
from support.live import Subscriber, serving
from support.shared import shared_path
from support.vmc_live import ExpectedBones, wire_error
from understudy.characters import load_body
from understudy.runtime.casting import body_roles
from understudy_protocol import PoseMessage
from understudy_protocol.osc import BONE_INDEX, BONE_NAMES, VMC_NAMES
from understudy_protocol.osc.bones import nearest_present_parent

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("vmcp") is None or importlib.util.find_spec("osc4py3") is None,
    reason="vmcp is not installed: pip install 'vmcp[osc4py3]'",
)
PEER = [sys.executable, str(Path(vmc.__file__).with_name("vmcp_peer.py"))]
FRAMES = 40

Frame = dict[str, np.ndarray[Any, np.dtype[np.float64]]]


def frames_of(peer: udp.Program) -> dict[float, Frame]:
    """The bones of every frame that came, by the frame's time."""
    frames: dict[float, Frame] = {}
    bones: Frame = {}
    while len(frames) < FRAMES:
        event = json.loads(peer.line())
        if event["kind"] == "BoneTransformEvent":
            bones[event["joint"]] = np.array(event["pose"])
        elif event["kind"] == "RelativeTimeEvent":
            frames[event["seconds"]] = bones
            bones = {}
    return frames


def poses_of(subscriber: Subscriber, count: int) -> list[PoseMessage]:
    return [subscriber.pose() for _ in range(count)]


def parents_of(bones: dict[str, str]) -> dict[str, str | None]:
    present = sum(1 << BONE_INDEX[bone] for bone in bones)
    above = {bone: nearest_present_parent(BONE_INDEX[bone], present) for bone in bones}
    return {bone: None if at < 0 else BONE_NAMES[at] for bone, at in above.items()}


@pytest.mark.parametrize(
    ("clip", "rig"),
    [
        ("walk", "short-legs"),
        ("cmu/07_01.bvh", "rigs/Godette_vrm0.vrm"),
        ("cmu/16_17.bvh", "rigs/mtoon_uv_vrm1.vrm"),
    ],
)
def test_vmcp_receives_what_the_server_publishes_bone_by_bone(clip: str, rig: str) -> None:
    performed = str(shared_path(clip)) if "/" in clip else clip
    character = str(shared_path(rig)) if "/" in rig else rig
    body = load_body(character)
    roles = body_roles(body).roles
    joints = {
        VMC_NAMES[role]: body.skeleton.names[joint]
        for role, joint in roles.items()
        if role in VMC_NAMES
    }
    port = udp.free_port()
    session = {"performer": "alice", "character": "hero", "solver": "copy"}
    tables: dict[str, Any] = {
        "performers": {"alice": {"vmc": "127.0.0.1:*"}},
        "characters": {"hero": {"rig": character, "vmc": [{"to": f"127.0.0.1:{port}"}]}},
    }
    with udp.running([*PEER, "receive", str(port), str(FRAMES)]) as peer:
        assert peer.line() == "ready"
        with serving(session, **tables) as server:
            subscriber = Subscriber(server.endpoints.output, "hero")
            skeleton = subscriber.skeleton()
            play = [sys.executable, "-m", "understudy", "play", performed, "--loop"]
            play += ["--vmc", server.endpoints.udp["alice"], "--rate", "30", "--seconds", "60"]
            player = subprocess.Popen(play, stdout=subprocess.DEVNULL)
            try:
                poses = poses_of(subscriber, FRAMES)
                frames = frames_of(peer)
            finally:
                player.terminate()
                player.wait(udp.TIMEOUT_S)
                subscriber.close()
    expected = ExpectedBones(skeleton, joints)
    parents = parents_of(joints)
    start_ns = poses[0].publish_ns
    compared = 0
    for pose in poses:
        seconds = float(np.float32((pose.publish_ns - start_ns) * 1e-9))
        if seconds not in frames:
            continue
        compared += 1
        sent = frames[seconds]
        for bone, numbers in expected.of(pose, parents).items():
            assert wire_error(sent[bone], numbers) <= 1e-4, (bone, seconds)
    assert compared >= FRAMES - 1
    hand = expected.of(poses[-1], parents)
    assert hand["LeftUpperArm"][0] <= 0.0 <= hand["RightUpperArm"][0]
