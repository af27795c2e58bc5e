"""Where a character's poses go besides ZeroMQ: receivers of VMC and of plain OSC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from understudy.align import MotionSample, RoleMap
from understudy.align.bones import HumanoidBones, t_pose
from understudy.characters import Body
from understudy.config import CharacterConfig, ConfigError, UdpAddress, VmcTarget
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray
from understudy.runtime.character import Character
from understudy.transport import UdpOutput
from understudy_protocol import status
from understudy_protocol.errors import ProtocolError
from understudy_protocol.osc import BONE_INDEX, BONE_PARENTS, VMC_NAMES, PlainEncoder, VmcEncoder
from understudy_protocol.osc.bones import nearest_present_parent
from understudy_protocol.osc.vmc_events import SetPeriod, Status
from understudy_protocol.osc.vmc_out import GOOD_STATUS

_LOST_STATUS: Final = Status(loaded=1, calibration_state=3, calibration_mode=0, tracking=0)
_BLEND_VALUE: Final = b"/VMC/Ext/Blend/Val\0"
_CAMERA: Final = b"/VMC/Ext/Cam\0"
_MAX_PENDING: Final = 512
_SKELETON_NS: Final = 1_000_000_000


class PoseSink(Protocol):
    """What a session asks of an output; all calls are made under the session's lock."""

    def send(self, root: FloatArray, rotations_xyzw: FloatArray, flags: int, at_ns: int) -> None:
        """Send a pose: `root` (3,) m, `rotations_xyzw` (n, 4); `flags` are its status.

        `at_ns` is now.
        """

    def pass_on(self, messages: Sequence[bytes]) -> None:
        """Send whole VMC messages along with the next pose."""

    def set_period(self, period: SetPeriod) -> None:
        """Send each class of messages every n-th pose only."""

    def close(self) -> None:
        """Send nothing from here on."""


class VmcSink:
    """One VMC receiver of one body; `motion` shows how its limbs bend if its rest pose does not."""

    def __init__(
        self, body: Body, roles: RoleMap, target: VmcTarget, motion: MotionSample | None = None
    ) -> None:
        names, joints, above = _bones(body, roles)
        if target.raw:
            self._bones = HumanoidBones.raw(body.skeleton, joints, above, turned=body.turned)
        else:
            turns = t_pose(body.skeleton, roles, at_rest=body.in_t_pose, motion=motion)
            self._bones = HumanoidBones.normalised(body.skeleton, joints, above, turns)
        self._encoder = VmcEncoder(names, self._bones.offsets, split_root=target.split_root)
        self._pending: dict[bytes, bytes] = {}
        self._start_ns: int | None = None
        self._udp = UdpOutput(target.to.host, target.to.port)

    def send(self, root: FloatArray, rotations_xyzw: FloatArray, flags: int, at_ns: int) -> None:
        """Send a pose with what is to be passed on; tracking is bad while it is held."""
        if self._start_ns is None:
            self._start_ns = at_ns
        bones = self._bones
        bones.update(root, rotations_xyzw)
        self._udp.send(
            self._encoder.encode(
                bones.hips,
                bones.rotations_xyzw,
                time_s=(at_ns - self._start_ns) * 1e-9,
                status=_LOST_STATUS if flags & (status.STALE | status.HELD) else GOOD_STATUS,
                passed_on=self._pending.values(),
            )
        )
        self._pending.clear()

    def pass_on(self, messages: Sequence[bytes]) -> None:
        """Keep messages for the next pose; of blendshapes and cameras the newest value."""
        for message in messages:
            if message.startswith(_BLEND_VALUE):
                key = message[:-4]
            elif message.startswith(_CAMERA):
                key = _CAMERA
            else:
                key = message
            # A newer value of the same goes last, as it came.
            self._pending.pop(key, None)
            self._pending[key] = message
        while len(self._pending) > _MAX_PENDING:
            del self._pending[next(iter(self._pending))]

    def set_period(self, period: SetPeriod) -> None:
        """Send each class of messages every n-th pose only."""
        self._encoder.period = period

    def close(self) -> None:
        """Give the source port back."""
        self._udp.close()


class PlainSink:
    """One receiver of plain OSC of one character; its skeleton is repeated every second."""

    def __init__(self, character: Character, to: UdpAddress) -> None:
        skeleton = character.skeleton
        self._encoder = PlainEncoder(character.name, skeleton.names)
        self._skeleton = self._encoder.encode_skeleton(
            skeleton.parents.tolist(), skeleton.offsets, skeleton.rest_xyzw
        )
        self._skeleton_due_ns = 0
        self._number = 0
        self._udp = UdpOutput(to.host, to.port)

    def send(self, root: FloatArray, rotations_xyzw: FloatArray, flags: int, at_ns: int) -> None:
        """Send a pose, and the skeleton first if it is due."""
        if at_ns >= self._skeleton_due_ns:
            self._skeleton_due_ns = at_ns + _SKELETON_NS
            self._udp.send(self._skeleton)
        self._udp.send(self._encoder.encode(self._number, root, rotations_xyzw))
        self._number += 1

    def pass_on(self, messages: Sequence[bytes]) -> None:
        """Nothing: VMC messages mean nothing to a receiver of plain OSC."""

    def set_period(self, period: SetPeriod) -> None:
        """Nothing: that is a wish of VMC receivers."""

    def close(self) -> None:
        """Give the source port back."""
        self._udp.close()


def open_sinks(config: CharacterConfig, character: Character) -> tuple[PoseSink, ...]:
    """The outputs the show file gives a character; ConfigError names the one that cannot be."""
    sinks: list[PoseSink] = []
    key = ""
    try:
        for number, target in enumerate(config.vmc):
            key = f"characters.{config.name}.vmc[{number}].to"
            sinks.append(VmcSink(character.body, character.roles, target))
        for number, to in enumerate(config.osc):
            key = f"characters.{config.name}.osc[{number}].to"
            sinks.append(PlainSink(character, to))
    except (UnderstudyError, ProtocolError) as error:
        for sink in sinks:
            sink.close()
        raise ConfigError(key, str(error)) from None
    return tuple(sinks)


def _bones(body: Body, roles: RoleMap) -> tuple[list[str], list[int], list[int]]:
    """The VMC bones a body has, parents first: names, joints, number of the bone above."""
    skeleton = body.skeleton
    joints: dict[int, int] = {}
    for role, name in VMC_NAMES.items():
        if role in roles.roles:
            joints[BONE_INDEX[name]] = roles.roles[role]
        elif body.humanoid.get(role) in skeleton.names:  # eyes and jaw
            joints[BONE_INDEX[name]] = skeleton.index(body.humanoid[role])
    present = sum(1 << bone for bone in joints)
    order = sorted(joints, key=lambda bone: (_depth(bone), bone))
    above = [nearest_present_parent(bone, present) for bone in order]
    names = {index: name for name, index in BONE_INDEX.items()}
    return (
        [names[bone] for bone in order],
        [joints[bone] for bone in order],
        [-1 if parent < 0 else order.index(parent) for parent in above],
    )


def _depth(bone: int) -> int:
    depth = 0
    while BONE_PARENTS[bone] >= 0:
        bone, depth = BONE_PARENTS[bone], depth + 1
    return depth
