"""Plain OSC through a running server: a patch in, a patch out."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import numpy as np
import pytest

from support.live import ControlClient, Subscriber, serving
from support.udp import receiver
from understudy.characters import builtin_clip
from understudy_protocol.osc import PlainEncoder, PlainFrame, decode_plain

CLIP = builtin_clip("wave", 30.0)
BODY = CLIP.skeleton


@pytest.fixture
def sink() -> Iterator[tuple[socket.socket, int]]:
    with receiver() as bound:
        yield bound


def test_a_patch_drives_a_character_that_another_patch_receives(
    sink: tuple[socket.socket, int],
) -> None:
    session = {"performer": "bob", "character": "hero", "solver": "copy"}
    hero = {"rig": "giant", "osc": [{"to": f"127.0.0.1:{sink[1]}"}]}
    performers = {"bob": {"osc": "127.0.0.1:*", "stale_after_s": 20.0}}
    with (
        serving(session, performers=performers, characters={"hero": hero}) as server,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as patch,
    ):
        subscriber = Subscriber(server.endpoints.output, "hero")
        control = ControlClient(server.endpoints.control)
        try:
            announced = subscriber.skeleton()
            host, port = server.endpoints.udp["bob"].rsplit(":", 1)
            encoder = PlainEncoder("bob", BODY.names)
            for data in encoder.encode_skeleton(
                BODY.parents.tolist(), BODY.offsets, BODY.rest_xyzw
            ):
                patch.sendto(data, (host, int(port)))
            number = 0
            while not control.character("hero")["poses"]:
                for data in encoder.encode(number, CLIP.roots[0], CLIP.rotations_xyzw[0]):
                    patch.sendto(data, (host, int(port)))
                number += 1
            described: set[str] = set()
            frame: PlainFrame | None = None
            while frame is None:
                datagram = decode_plain(sink[0].recv(65536))
                assert not datagram.refused
                described.update(joint.joint for joint in datagram.skeleton)
                frame = next(iter(datagram.frames), None)
            pose = subscriber.pose()
        finally:
            control.close()
            subscriber.close()
    assert described == set(announced.joints)
    assert (frame.name, frame.number) == ("hero", 0)
    assert frame.joints == announced.joints[1:]
    assert frame.root is not None
    np.testing.assert_allclose(frame.root[:3], pose.root, atol=1e-6)
    np.testing.assert_allclose(frame.root[3:], pose.rotations_xyzw[0], atol=1e-6)
    np.testing.assert_allclose(frame.rotations_xyzw, pose.rotations_xyzw[1:], atol=1e-6)
