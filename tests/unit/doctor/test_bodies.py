"""Measures of bodies that are as they should be, and of those that are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.humanoids import actor
from understudy.characters import builtin_clip
from understudy.doctor.bodies import measure_body, measure_rhythm
from understudy.doctor.facts import BodyShape
from understudy.kinematics import FloatArray, Skeleton

CLIP = builtin_clip("walk", 30.0)
NAMED = {name: name for name in actor().names}


def measured(skeleton: Skeleton, roots: FloatArray = CLIP.roots) -> BodyShape:
    body = measure_body(skeleton, NAMED, roots, CLIP.rotations_xyzw)
    assert (body.missing, body.refused) == ((), None)
    assert body.shape is not None
    return body.shape


def changed(factors: tuple[float, float, float]) -> Skeleton:
    """The actor with every offset multiplied, axis by axis."""
    return Skeleton.build(
        replace(joint, offset=np.asarray(joint.offset) * factors) for joint in actor().joints()
    )


def test_a_walker_is_as_a_walker_should_be() -> None:
    body = measured(CLIP.skeleton)
    assert 0.7 < body.leg_m < 1.0
    assert body.left_x == pytest.approx(1.0, abs=0.05)
    assert body.toes_z is not None
    assert body.toes_z > 0.8
    assert body.arms_off_t_deg is not None
    assert body.arms_off_t_deg < 5.0
    assert abs(body.lowest_foot_m) < 0.15
    assert body.moved_deg > 20.0


def test_centimetres_show_in_the_legs() -> None:
    assert measured(changed((100, 100, 100)), CLIP.roots * 100).leg_m > 50


def test_a_mirrored_body_has_its_left_on_the_other_side() -> None:
    body = measured(changed((-1, 1, 1)))
    assert body.left_x == pytest.approx(-1.0, abs=0.05)
    assert body.toes_z is not None
    assert body.toes_z > 0.8


def test_a_body_in_the_air_has_high_feet() -> None:
    assert measured(CLIP.skeleton, CLIP.roots + np.array([0, 1.0, 0])).lowest_foot_m > 0.8


def test_missing_bones_are_named() -> None:
    kept = [joint for joint in actor().joints() if "LowerArm" not in joint.name]
    kept = [joint for joint in kept if "Hand" not in joint.name]
    skeleton = Skeleton.build(kept)
    rows = [actor().index(name) for name in skeleton.names]
    body = measure_body(skeleton, NAMED, CLIP.roots, CLIP.rotations_xyzw[:, rows])
    assert "leftLowerArm" in body.missing
    assert body.shape is None


def test_rhythm_is_that_of_the_arrivals() -> None:
    assert measure_rhythm(np.array([0.0, 0.1])) is None
    steady = measure_rhythm(np.arange(100) / 50.0)
    assert steady is not None
    assert steady.rate_hz == pytest.approx(50.0)
    assert steady.jitter_ms == pytest.approx(0.0, abs=1e-6)
    late = np.arange(100) / 50.0
    late[50:] += 0.4
    gap = measure_rhythm(late)
    assert gap is not None
    assert gap.longest_gap_ms == pytest.approx(420.0)
