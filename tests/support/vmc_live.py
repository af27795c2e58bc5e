"""A performer that speaks VMC to a running server, and the bones a pose should become."""

from __future__ import annotations

import socket

import numpy as np
from scipy.spatial.transform import Rotation

from support.live import ControlClient, Subscriber
from understudy.characters import Clip, builtin_clip
from understudy.kinematics import FloatArray
from understudy.runtime.server import Server
from understudy_protocol import PoseMessage, SkeletonMessage
from understudy_protocol.osc import VMC_NAMES, VmcEncoder


class LiveVmcPerformer:
    """Sends a built-in clip's frames as VMC; its body has no rest rotations."""

    def __init__(self, address: str, clip: Clip | None = None) -> None:
        self.clip = builtin_clip("walk", 120.0) if clip is None else clip
        host, port = address.rsplit(":", 1)
        self._to = (host, int(port))
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        names = [VMC_NAMES[name] for name in self.clip.skeleton.names]
        self._encoder = VmcEncoder(names, self.clip.skeleton.offsets)
        self.sent = 0

    def send(self, index: int, *passed_on: bytes) -> None:
        """Send the clip's frame `index` as the next one."""
        datagrams = self._encoder.encode(
            self.clip.roots[index],
            self.clip.rotations_xyzw[index],
            time_s=self.sent / self.clip.rate_hz,
            passed_on=passed_on,
        )
        for datagram in datagrams:
            self.send_raw(datagram)
        self.sent += 1

    def send_raw(self, datagram: bytes) -> None:
        self._socket.sendto(datagram, self._to)

    def close(self) -> None:
        self._socket.close()


class VmcStage:
    """A server, a VMC performer `alice`, a subscriber and a control client of character `hero`."""

    def __init__(self, server: Server, clip: Clip | None = None) -> None:
        self.server = server
        self.subscriber = Subscriber(server.endpoints.output, "hero")
        self.skeleton = self.subscriber.skeleton()
        self.control = ControlClient(server.endpoints.control)
        self.performer = LiveVmcPerformer(server.endpoints.udp["alice"], clip)

    def start(self) -> None:
        """Send frame 0 until a pose comes: frames are dropped while the bodies are aligned."""
        for _ in range(10_000):
            self.performer.send(0)
            if self.control.character("hero")["poses"]:
                self.catch_up()
                return
        raise AssertionError("no pose came")

    def catch_up(self) -> None:
        """Wait until the server has taken every frame; each question gives it time to get on."""
        for _ in range(10_000):
            counts = self.control.performer("alice")
            # The first frames only tell of the body.
            if counts["frames"] + counts["refused"].get("no-body", 0) >= self.performer.sent:
                return
        raise AssertionError("frames were lost")

    def show(self, index: int, *passed_on: bytes) -> PoseMessage:
        """Send a frame and wait for the pose that was made from it; it has left everywhere then."""
        before = self.control.character("hero")["poses"]
        self.performer.send(index, *passed_on)
        self.catch_up()
        while self.control.character("hero")["poses"] == before:
            pass
        wanted = self.server.show.performers["alice"].stream.pose.seq
        return self.subscriber.pose(lambda pose: pose.source_seq == wanted)

    def close(self) -> None:
        self.performer.close()
        self.subscriber.close()
        self.control.close()


class ExpectedBones:
    """What VMC bones a published pose should become: worked out apart from the server's code."""

    def __init__(self, skeleton: SkeletonMessage, joints: dict[str, str]) -> None:
        """`joints`: VMC bone to joint name, every bone behind the one above it."""
        self._parents = [int(parent) for parent in skeleton.parents]
        self._offsets: FloatArray = np.asarray(skeleton.offsets, np.float64)
        self._bones = {bone: skeleton.joints.index(joint) for bone, joint in joints.items()}
        self._rest = self._worlds(np.asarray(skeleton.rest_xyzw, np.float64))

    def _worlds(self, rotations_xyzw: FloatArray) -> list[Rotation]:
        worlds: list[Rotation] = []
        for joint, parent in enumerate(self._parents):
            local = Rotation.from_quat(rotations_xyzw[joint])
            worlds.append(local if parent < 0 else worlds[parent] * local)
        return worlds

    def of(self, pose: PoseMessage, parents: dict[str, str | None]) -> dict[str, FloatArray]:
        """Bone to its seven numbers on the wire; `parents` names the bone above each."""
        worlds = self._worlds(np.asarray(pose.rotations_xyzw, np.float64))
        places: list[FloatArray] = []
        rest_places: list[FloatArray] = []
        for joint, parent in enumerate(self._parents):
            if parent < 0:
                places.append(np.asarray(pose.root, np.float64))
                rest_places.append(np.zeros(3))
            else:
                places.append(places[parent] + worlds[parent].apply(self._offsets[joint]))
                rest_places.append(
                    rest_places[parent] + self._rest[parent].apply(self._offsets[joint])
                )
        turned = {
            bone: worlds[joint] * self._rest[joint].inv() for bone, joint in self._bones.items()
        }
        wire: dict[str, FloatArray] = {}
        for bone, joint in self._bones.items():
            above = parents[bone]
            if above is None:
                place, turn = places[joint], turned[bone]
            else:
                # In the T-pose every bone's axes are the world's.
                place = rest_places[joint] - rest_places[self._bones[above]]
                turn = turned[above].inv() * turned[bone]
            x, y, z, w = turn.as_quat()
            wire[bone] = np.array([-place[0], place[1], place[2], x, -y, -z, w])
        return wire


def wire_error(a: FloatArray, b: FloatArray) -> float:
    """The largest difference of two poses' seven numbers; q and -q are one rotation."""
    turn = min(np.abs(a[3:] - b[3:]).max(), np.abs(a[3:] + b[3:]).max())
    return float(max(np.abs(a[:3] - b[:3]).max(), turn))
