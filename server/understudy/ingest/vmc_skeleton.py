"""The body of a VMC performer, gathered from the local positions its bones are sent with."""

from __future__ import annotations

from typing import Final

import numpy as np

from understudy.ingest.vmc_assembly import VmcFrame
from understudy.kinematics import FloatArray, IntArray, Joint, Skeleton
from understudy_protocol.osc.bones import BONE_COUNT, BONE_NAMES, HIPS, nearest_present_parent

TOLERANCE_M: Final = 1e-3
"""Offsets that moved by more than this belong to another body."""

SETTLE_FRAMES: Final = 3
"""A new body must look the same in so many frames: the first may be partial, an offset a glitch."""


class VmcBody:
    """Watches a performer's frames and keeps its skeleton.

    Joints carry their VMC names; their rest rotations are the identity, as VMC's normalised bones
    have them. The children of an absent bone hang on the next one up. Offsets of the joints are the
    positions sent, but for Hips, whose position is the performer's way through the world.
    """

    def __init__(self) -> None:
        self.skeleton: Skeleton | None = None
        """None until Hips has been seen and the body has settled."""
        self.bones: IntArray = np.zeros(0, np.int64)
        """The VMC bone (row of a frame) of each joint."""
        self._candidate: FloatArray = np.zeros((BONE_COUNT, 3))
        self._candidate_seen = b""
        self._candidate_frames = 0
        self._offsets: FloatArray = np.zeros((BONE_COUNT, 3))
        self._seen = b""
        self._exact = b""

    def update(self, frame: VmcFrame) -> bool:
        """Look at a frame; True if `skeleton` is another one from now on."""
        if not frame.seen[HIPS]:
            return False
        seen = frame.seen.tobytes()
        # Most senders repeat their offsets to the bit; that is quicker to see than a distance.
        if seen == self._seen and (
            frame.positions[1:].tobytes() == self._exact or _alike(frame.positions, self._offsets)
        ):
            self._candidate_frames = 0
            return False
        if (
            self._candidate_frames == 0
            or seen != self._candidate_seen
            or not _alike(frame.positions, self._candidate)
        ):
            self._candidate = frame.positions.copy()
            self._candidate_seen = seen
            self._candidate_frames = 0
        self._candidate_frames += 1
        if self._candidate_frames < SETTLE_FRAMES:
            return False
        self._candidate_frames = 0
        self._offsets, self._seen = self._candidate, seen
        self._exact = self._offsets[1:].tobytes()
        self.skeleton = _skeleton(frame.seen, self._offsets)
        self.bones = np.array([BONE_NAMES.index(name) for name in self.skeleton.names], np.int64)
        return True

    def pose_into(self, frame: VmcFrame, root: FloatArray, rotations_xyzw: FloatArray) -> None:
        """Write the frame as a pose of `skeleton`: `root` (3,) m, `rotations_xyzw` (n, 4)."""
        # The indices are right; without a mode that cannot fail numpy would buffer the output.
        np.take(frame.rotations_xyzw, self.bones, axis=0, out=rotations_xyzw, mode="clip")
        rotations_xyzw[0] = frame.root_xyzw
        root[:] = frame.root


def _alike(positions: FloatArray, offsets: FloatArray) -> bool:
    """Whether two sets of offsets (55, 3) are one body's; Hips, bone 0, moves about."""
    return bool(np.abs(positions[1:] - offsets[1:]).max() <= TOLERANCE_M)


def _skeleton(seen: np.ndarray[tuple[int], np.dtype[np.bool_]], offsets: FloatArray) -> Skeleton:
    present = sum(1 << bone for bone in np.flatnonzero(seen).tolist())
    joints = []
    for bone in np.flatnonzero(seen).tolist():
        parent = nearest_present_parent(bone, present)
        joints.append(
            Joint(
                name=BONE_NAMES[bone],
                parent=None if parent < 0 else BONE_NAMES[parent],
                offset=offsets[bone],
            )
        )
    return Skeleton.build(joints)
