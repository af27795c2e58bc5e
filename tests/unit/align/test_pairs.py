"""Every performer convention on every humanoid rig, under pure copying."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from support.shared import shared_path
from understudy.align import MotionSample, find_roles
from understudy.align.rest_pose import canonical_pose
from understudy.characters import Body, builtin_clip, load_body
from understudy.characters.bvh import read_bvh
from understudy.kinematics.rotations import exp, multiply
from understudy_bench.commands.pairs import (
    ANKLE,
    FLEXION_DEG,
    LIMB_DEG,
    SWUNG_MEAN_DEG,
    TOE_DEG,
    TRUNK_DEG,
    TRUNK_MEAN_DEG,
    run_pairs,
)
from understudy_bench.pairs import Pair, PairFigures, Performance, copied

RIGS = (
    "CesiumMan.glb", "RiggedFigure.glb", "RobotExpressive.glb", "Knight.glb", "Godette_vrm0.vrm",
    "cool_loops_vrm0.vrm", "catbot_vrm0.vrm", "mtoon_uv_vrm1.vrm",
)  # fmt: skip
CLIPS = (
    "cmu/02_07", "cmu/05_06", "cmu/16_17", "cmu/49_06", "cmu/64_01", "cmu/85_14",
    "other/bandai1_punch_normal_001", "other/bandai2_walk-turn-left_active_001",
    "other/cmu30_jumping_jacks", "other/daz_pirouette", "other/fair1_dab",
    "other/mixamo_freebvh", "other/mixed_order_fingers_test3", "other/mocapbank",
    "other/mocopi_arm-raise-turn", "other/rokoko_jesse_dance", "other/xsens_style_test2",
)  # fmt: skip


@cache
def rig_of(name: str) -> Body:
    return load_body(shared_path(f"rigs/{name}"))


@cache
def performance_of(name: str) -> Performance:
    return Performance.of(read_bvh(shared_path(f"{name}.bvh")).clip, 80)


@cache
def figures_of(clip: str, rig: str) -> PairFigures:
    return Pair(performance_of(clip), rig_of(rig)).figures()


@pytest.mark.parametrize("clip", CLIPS)
def test_a_convention_drives_every_rig(clip: str) -> None:
    for rig in RIGS:
        figures = figures_of(clip, rig)
        assert figures.standing >= 3, rig
        assert figures.limb_deg <= LIMB_DEG, rig
        assert figures.flexion_deg <= FLEXION_DEG, rig
        assert figures.chest_deg <= LIMB_DEG, rig
        assert figures.trunk_deg <= TRUNK_DEG, rig
        assert figures.neck_deg <= TRUNK_DEG, rig
        assert figures.toe_deg <= TOE_DEG, rig
        assert figures.ankle_line_deg <= TOE_DEG, rig
        assert figures.ankle <= ANKLE, rig


def test_trunks_necks_and_swung_feet_point_like_the_performer_s_on_the_whole() -> None:
    figures = [figures_of(clip, rig) for clip in CLIPS for rig in RIGS]
    assert np.mean([pair.trunk_deg for pair in figures]) <= TRUNK_MEAN_DEG
    assert np.mean([pair.neck_deg for pair in figures]) <= TRUNK_MEAN_DEG
    assert np.mean([pair.swung_line_deg for pair in figures]) <= SWUNG_MEAN_DEG


@pytest.mark.parametrize(
    ("joint", "figure"), [("neck", "neck_deg"), ("upperChest", "chest_deg"), ("hips", "trunk_deg")]
)
def test_the_figures_see_a_trunk_that_is_bent(joint: str, figure: str) -> None:
    performance = Performance.of(builtin_clip("walk", 30.0), 80)
    pair = Pair(performance, load_body("giant"))
    right, alignment = pair.figures(), pair.alignment
    turned = alignment.post_a.copy()
    bent = alignment.target.index(joint)
    turned[bent] = multiply(turned[bent], exp(np.radians([10.0, 0.0, 0.0])))
    nobody = np.full_like(alignment.verbatim, -1)
    pair.target = copied(replace(alignment, post_a=turned, verbatim=nobody), performance)
    assert getattr(right, figure) < 0.1
    if joint == "hips":  # which are only the lowest part of the trunk
        assert 1.0 < pair.figures().trunk_deg < 10.0
    else:
        assert getattr(pair.figures(), figure) == pytest.approx(10.0, abs=0.1)


def test_the_figures_see_a_foot_that_is_turned_and_one_that_is_lifted() -> None:
    performance = Performance.of(builtin_clip("walk", 30.0), 80)
    pair = Pair(performance, load_body("giant"))
    right, alignment = pair.figures(), pair.alignment
    turned = alignment.post_a.copy()
    for foot in alignment.target_body.feet:
        turned[foot] = multiply(turned[foot], exp(np.radians([0.0, 10.0, 0.0])))
    nobody = np.full_like(alignment.verbatim, -1)
    pair.target = copied(replace(alignment, post_a=turned, verbatim=nobody), performance)
    assert right.toe_deg < 0.01
    assert right.ankle_line_deg < 0.01
    assert right.swung_line_deg < 0.5
    assert pair.figures().toe_deg == pytest.approx(10.0, abs=0.5)
    assert pair.figures().ankle_line_deg == pytest.approx(10.0, abs=0.5)
    assert 10.0 < pair.figures().swung_line_deg < 11.0  # seen from above, more of a tilted foot
    lifted = copied(alignment, performance)
    lifted.positions[..., 1] += 0.05 * alignment.target_body.leg_length
    pair.target = lifted
    assert pair.figures().ankle == pytest.approx(0.05, abs=0.005)


def test_a_pair_that_does_not_fit_is_listed_with_the_reason() -> None:
    fox = str(shared_path("rigs/Fox.glb"))
    report = run_pairs(["walk"], ["giant", fox])
    assert report.exit_code == 0
    assert len(report.checks) == 11
    assert "four-legged" in report.tables[0].rows[1][0]


def test_two_seconds_of_motion_are_enough_to_align_the_rest() -> None:
    performance = performance_of("cmu/02_07")
    skeleton, motion = performance.clip.skeleton, performance.motion
    early = MotionSample(motion.positions[:13], motion.rotations[:13], motion.step_s)
    body = find_roles(skeleton, motion=early)
    first = canonical_pose(skeleton, body, early).turns
    whole = canonical_pose(skeleton, body, motion).turns
    for role in ("leftUpperLeg", "rightUpperLeg", "leftUpperArm", "rightUpperArm"):
        joint = body.joint(role)
        cosine = 0.5 * (np.trace(first[joint].T @ whole[joint]) - 1.0)
        assert np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))) < 3.0, role
