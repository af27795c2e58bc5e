"""Every performer convention on every humanoid rig, under pure copying."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from support.humanoids import angle_deg
from support.shared import shared_path
from understudy.align import Alignment, MotionSample, RoleMap, Transfer, find_roles
from understudy.align.evidence import flexion, standing_frames
from understudy.align.humanoid import SIDES
from understudy.align.rest_pose import canonical_pose
from understudy.characters.bvh import read_bvh
from understudy.characters.clip import Clip
from understudy.characters.gltf import load_rig
from understudy.characters.rig import Rig
from understudy.kinematics import ForwardKinematics, IntArray

RIGS = (
    "CesiumMan.glb", "RiggedFigure.glb", "RobotExpressive.glb", "Knight.glb", "Godette_vrm0.vrm",
    "cool_loops_vrm0.vrm", "catbot_vrm0.vrm", "mtoon_uv_vrm1.vrm",
)  # fmt: skip
CLIPS = (
    "cmu/02_07", "cmu/07_01", "cmu/16_17", "cmu/49_06", "cmu/85_14",
    "other/bandai1_punch_normal_001", "other/bandai2_walk-turn-left_active_001",
    "other/cmu30_jumping_jacks", "other/daz_pirouette", "other/fair1_dab",
    "other/mixamo_freebvh", "other/mixed_order_fingers_test3", "other/mocapbank",
    "other/mocopi_arm-raise-turn", "other/rokoko_jesse_dance", "other/xsens_style_test2",
)  # fmt: skip
# Their toes lie almost below their ankles: a heading read from them says nothing.
STEEP_TOES = ("CesiumMan.glb", "RiggedFigure.glb")


@cache
def pair_of(clip: str, rig: str) -> Pair:
    return Pair(clip, rig)


@cache
def rig_of(name: str) -> Rig:
    return load_rig(shared_path(f"rigs/{name}"))


@cache
def performer_of(name: str) -> tuple[Clip, MotionSample, RoleMap]:
    """A clip at about 80 frames, what they show, and the body found in them."""
    clip = read_bvh(shared_path(f"{name}.bvh")).clip
    stride = max(1, clip.frame_count // 80)
    chosen = slice(1, None, stride)
    few = Clip(
        clip.name, clip.skeleton, clip.rate_hz / stride, clip.roots[chosen],
        clip.rotations_xyzw[chosen],
    )  # fmt: skip
    motion = MotionSample.from_frames(few.skeleton, few.roots, few.rotations_xyzw, few.rate_hz)
    return few, motion, find_roles(few.skeleton, motion=motion)


class Pair:
    """A clip copied to a rig."""

    def __init__(self, clip_name: str, rig_name: str) -> None:
        self.clip, self.source, self.source_roles = performer_of(clip_name)
        rig = rig_of(rig_name)
        self.target_roles = find_roles(rig.skeleton, humanoid=rig.humanoid, weights=rig.weights)
        self.alignment = Alignment.build(
            self.clip.skeleton, rig.skeleton, self.source_roles, self.target_roles,
            source_motion=self.source, target_floor=rig.floor_m,
        )  # fmt: skip
        self.target = self._copied()

    def _copied(self) -> MotionSample:
        transfer = Transfer(self.alignment)
        kinematics = ForwardKinematics(self.alignment.target)
        q, root = np.zeros((len(self.alignment.target), 4)), np.zeros(3)
        positions, rotations = [], []
        for points, turns in zip(self.source.positions, self.clip.rotations_xyzw, strict=True):
            transfer.run(points.copy(), turns.copy(), q, root)
            kinematics.update(root, q)
            positions.append(kinematics.positions.copy())
            rotations.append(kinematics.rotations.copy())
        return MotionSample(np.array(positions), np.array(rotations), self.source.step_s)

    def limb_error_deg(self) -> float:
        worst = 0.0
        for side in SIDES:
            for a, b in (
                ("UpperArm", "LowerArm"), ("LowerArm", "Hand"),
                ("UpperLeg", "LowerLeg"), ("LowerLeg", "Foot"),
            ):  # fmt: skip
                if side + b in self.source_roles.roles and side + b in self.target_roles.roles:
                    ours, theirs = (
                        sample.positions[:, body.roles[side + b]]
                        - sample.positions[:, body.roles[side + a]]
                        for sample, body in (
                            (self.source, self.source_roles), (self.target, self.target_roles),
                        )
                    )  # fmt: skip
                    worst = max(worst, float(angle_deg(ours, theirs).max()))
        return worst

    def flexion_error_deg(self) -> float:
        """How far the bends lie from the axes the rig's own knees and elbows were made for."""
        rest = canonical_pose(self.alignment.target, self.target_roles).turns
        worst = 0.0
        for side, sign in (("left", 1.0), ("right", -1.0)):
            for parts, axis in (
                (("UpperLeg", "LowerLeg", "Foot"), (1.0, 0.0, 0.0)),
                (("UpperArm", "LowerArm", "Hand"), (0.0, -sign, 0.0)),
            ):
                joints = [self.target_roles.joint(side + part) for part in parts]
                seen = None if -1 in joints else flexion(self.target, *joints)
                if seen is not None:
                    found = rest[joints[0]] @ seen.upper
                    worst = max(worst, float(angle_deg(found, np.array(axis))))
        return worst

    def standing(self) -> list[tuple[int, IntArray]]:
        """For each side that stands at all, the frames in which it does."""
        ours = self.alignment.source_body
        found = []
        for row, foot in enumerate(ours.feet):
            frames = standing_frames(self.source, int(foot), ours.leg_length)
            if len(frames) >= 3:
                found.append((row, frames.astype(np.int64)))
        return found

    def toe_error_deg(self) -> float:
        errors = []
        for row, frames in self.standing():
            ours, theirs = (
                sample.rotations[frames, body.feet[row]] @ body.toe_points[row]
                for sample, body in (
                    (self.source, self.alignment.source_body),
                    (self.target, self.alignment.target_body),
                )
            )
            level = np.array([1.0, 0.0, 1.0])
            errors.append(angle_deg(ours * level, theirs * level))
        return float(np.mean(np.concatenate(errors))) if errors else 0.0

    def ankle_error(self) -> float:
        """Mean distance of a standing ankle from its scaled height, in parts of a leg."""
        ours, body = self.alignment.source_body, self.alignment.target_body
        errors = []
        for row, frames in self.standing():
            above = (
                self.source.positions[frames, ours.feet[row], 1] - ours.ankle_height - ours.floor
            )
            right = self.alignment.leg_scale * above + body.ankle_height
            errors.append(np.abs(self.target.positions[frames, body.feet[row], 1] - right))
        return float(np.mean(np.concatenate(errors))) / body.leg_length if errors else 0.0


@pytest.mark.parametrize("clip", CLIPS)
def test_a_convention_drives_every_rig(clip: str) -> None:
    pairs = {rig: pair_of(clip, rig) for rig in RIGS}
    for rig, pair in pairs.items():
        assert pair.limb_error_deg() < 0.5, rig
        assert pair.flexion_error_deg() < 3.0, rig
    toes = [pair.toe_error_deg() for rig, pair in pairs.items() if rig not in STEEP_TOES]
    assert np.mean(toes) < 6.0
    assert np.mean([pair.ankle_error() for pair in pairs.values()]) < 0.02


def test_toes_and_ankles_over_all_pairs() -> None:
    pairs = [(rig, pair_of(clip, rig)) for clip in CLIPS for rig in RIGS]
    toes = [pair.toe_error_deg() for rig, pair in pairs if rig not in STEEP_TOES]
    ankles = [pair.ankle_error() for _, pair in pairs]
    assert np.mean(toes) < 1.5
    assert np.max(toes) < 7.0
    assert np.mean(ankles) < 0.012
    # Two feet that stand cannot both be right above hips of another width.
    assert np.max(ankles) < 0.05


def test_two_seconds_of_motion_are_enough_to_align_the_rest() -> None:
    clip, motion, _ = performer_of("cmu/02_07")
    early = MotionSample(motion.positions[:13], motion.rotations[:13], motion.step_s)
    body = find_roles(clip.skeleton, motion=early)
    first = canonical_pose(clip.skeleton, body, early).turns
    whole = canonical_pose(clip.skeleton, body, motion).turns
    for role in ("leftUpperLeg", "rightUpperLeg", "leftUpperArm", "rightUpperArm"):
        joint = body.joint(role)
        cosine = 0.5 * (np.trace(first[joint].T @ whole[joint]) - 1.0)
        assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))) < 3.0, role
