"""A character's pose as VMC datagrams.

What is sent, and its order, is what the receivers in use need: locomotion in Hips (several ignore
Root), rest offsets as positions (several write them), Blend/Apply, OK and T behind the bones
(several show the pose only then), Apply even with no blendshape, float and int arguments only,
Root with all 14 arguments, bundles for now that fit an Ethernet frame.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from understudy_protocol.errors import ProtocolError
from understudy_protocol.limits import MAX_MAGNITUDE
from understudy_protocol.names import describe
from understudy_protocol.osc.bones import BONE_INDEX, BONE_PARENTS
from understudy_protocol.osc.layouts import head
from understudy_protocol.osc.packet import MTU_PAYLOAD_BYTES, append_messages, write_message
from understudy_protocol.osc.template import Blank, BundleTemplate
from understudy_protocol.osc.vmc_axes import MIRROR, POSE_BYTES
from understudy_protocol.osc.vmc_events import SetPeriod, Status

GOOD_STATUS: Final = Status(loaded=1, calibration_state=3, calibration_mode=0, tracking=1)

_BLEND_APPLY: Final = write_message("/VMC/Ext/Blend/Apply", "")
_TIME_HEAD: Final = head("/VMC/Ext/T", "f")
_STATUS_HEAD: Final = head("/VMC/Ext/OK", "iiii")
_CAMERA: Final = b"/VMC/Ext/Cam\0"
_BLEND_VALUE: Final = b"/VMC/Ext/Blend/Val\0"
_MIRROR_POSITION: Final = MIRROR[:3]
_MIRROR_ROTATION: Final = MIRROR[3:]
_POSE: Final = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class VmcEncoder:
    """Turns the poses of one character into datagrams; one per character and target.

    Made for a fixed list of bones: the bytes are laid out once, each frame only its numbers are
    written.
    """

    def __init__(
        self, bones: Sequence[str], offsets: ArrayLike, *, split_root: bool = False
    ) -> None:
        """`bones`: VMC names, Hips first, parents before children.

        `offsets` (n, 3) m: where each bone sits in its parent at rest, our axes; the row of Hips is
        not used, its position comes with every pose. `split_root` moves the way over the floor and
        the heading from Hips into Root.
        """
        _check_bones(bones)
        rest = np.array(offsets, np.float64)
        if rest.shape != (len(bones), 3) or not (np.abs(rest) <= MAX_MAGNITUDE).all():
            raise ProtocolError(
                "bad-offsets",
                f"offsets of shape {rest.shape} for {len(bones)} bones; allowed: three finite "
                "numbers per bone",
            )
        root = write_message("/VMC/Ext/Root/Pos", "s" + 13 * "f", "root", *_POSE, 1, 1, 1, 0, 0, 0)
        roots = [Blank(root, len(root) - 13 * 4, 7)]
        limbs = []
        for bone in bones:
            message = write_message("/VMC/Ext/Bone/Pos", "s" + 7 * "f", bone, *_POSE)
            limbs.append(Blank(message, len(message) - POSE_BYTES, 7))
        # A receiver may ask for Root or bones in some frames only.
        self._root_and_bones: Final = BundleTemplate(roots + limbs, MTU_PAYLOAD_BYTES)
        self._bones: Final = BundleTemplate(limbs, MTU_PAYLOAD_BYTES)
        self._root: Final = BundleTemplate(roots, MTU_PAYLOAD_BYTES)
        self._split_root: Final = split_root
        self._yaw: tuple[float, float] = (0.0, 1.0)
        self._wire: Final = np.empty((1 + len(bones), 7))  # Root, then the bones.
        self._wire[0] = _POSE
        self._wire[1:, :3] = rest * _MIRROR_POSITION
        self._numbers: Final = self._wire.reshape(-1)
        self.period = SetPeriod()
        """Which classes of messages are sent every n-th frame only; a receiver may set it."""
        self._frame = 0

    def encode(
        self,
        root: ArrayLike,
        rotations_xyzw: ArrayLike,
        *,
        time_s: float,
        status: Status = GOOD_STATUS,
        passed_on: Iterable[bytes] = (),
    ) -> list[bytes]:
        """The datagrams of one frame, to be sent in this order.

        `root` (3,) m: Hips in the world. `rotations_xyzw` (n, 4): local rotations in our axes, that
        of Hips in the world; what the rest pose's rotations are is the caller's choice (identity
        everywhere in a T-pose for `normalised`, the rig's own for `raw`). `time_s`: seconds since
        the start. `passed_on`: whole messages to send on as they are, blendshape values and others.
        """
        np.multiply(root, _MIRROR_POSITION, out=self._wire[1, :3])
        np.multiply(rotations_xyzw, _MIRROR_ROTATION, out=self._wire[1:, 3:])
        # One number that is not finite makes the sum so, and a sum is quicker than a look at each.
        if not math.isfinite(np.add.reduce(self._numbers)):
            raise ProtocolError("not-finite", "a pose to send is not finite; allowed: numbers")
        if self._split_root:
            self._move_heading_to_root()
        frame, period = self._frame, self.period
        self._frame += 1
        root_due, bones_due = frame % period.root == 0, frame % period.bones == 0
        if bones_due and root_due:
            datagrams = self._root_and_bones.fill(self._numbers)
        elif bones_due:
            datagrams = self._bones.fill(self._numbers[7:])
        elif root_due:
            datagrams = self._root.fill(self._wire[0])
        else:
            datagrams = []
        tail = self._due(passed_on, frame)
        tail.append(_BLEND_APPLY)
        if frame % period.status == 0:
            tail.append(_STATUS_HEAD + struct.pack(">4i", *_four_states(status)))
        tail.append(_TIME_HEAD + struct.pack(">f", time_s))
        append_messages(datagrams, tail)
        return datagrams

    def _due(self, passed_on: Iterable[bytes], frame: int) -> list[bytes]:
        """Those of the messages to pass on that the receiver wants in this frame."""
        blendshapes = frame % self.period.blendshapes == 0
        camera = frame % self.period.camera == 0
        if blendshapes and camera:
            return list(passed_on)
        return [
            message
            for message in passed_on
            if (blendshapes or not message.startswith(_BLEND_VALUE))
            and (camera or not message.startswith(_CAMERA))
        ]

    def _move_heading_to_root(self) -> None:
        """Split Hips in the world into Root (x, z, turn about Y) and Hips in Root, on the wire."""
        root, hips = self._wire[0], self._wire[1]
        x, y, z, qx, qy, qz, qw = hips.tolist()
        length = math.hypot(qy, qw)
        if length > 1e-6:  # Upside down there is no heading: keep the last one.
            self._yaw = (qy / length, qw / length)
        sine, cosine = self._yaw
        root[:] = (x, 0.0, z, 0.0, sine, 0.0, cosine)
        # conjugate(yaw) * hips, written out for a turn about Y.
        hips[:] = (
            *(0.0, y, 0.0),
            cosine * qx - sine * qz,
            cosine * qy - sine * qw,
            cosine * qz + sine * qx,
            cosine * qw + sine * qy,
        )


def _check_bones(bones: Sequence[str]) -> None:
    seen: set[int] = set()
    for number, name in enumerate(bones):
        bone = BONE_INDEX.get(name)
        if bone is None:
            raise ProtocolError("unknown-bone", f"bone {describe(name)}: VMC has no such bone")
        if bone in seen:
            raise ProtocolError("bad-bones", f"bone {name!r} is in the list twice")
        if number == 0 and name != "Hips":
            raise ProtocolError("bad-bones", f"the first bone is {name!r}; allowed: 'Hips'")
        if any(BONE_PARENTS[later] == bone for later in seen):
            raise ProtocolError("bad-bones", f"bone {name!r} comes after one of its children")
        seen.add(bone)
    if not bones:
        raise ProtocolError("bad-bones", "no bones to send; at least Hips is needed")


def _four_states(status: Status) -> tuple[int, int, int, int]:
    """A status with what it leaves unsaid filled in: receivers may read all four."""
    return (
        status.loaded,
        3 if status.calibration_state is None else status.calibration_state,
        0 if status.calibration_mode is None else status.calibration_mode,
        1 if status.tracking is None else status.tracking,
    )
