"""Anatomical ranges in a character's own axes."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.align import find_roles
from understudy.align.limits import anatomical_limits
from understudy.characters import BUILTIN_CHARACTERS, builtin_character, builtin_clip
from understudy.characters.anatomy import joint_range
from understudy.kinematics import Joint, Skeleton, rotations


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
def test_a_body_at_rest_is_within_its_limits(name: str) -> None:
    body = builtin_character(name)
    limits = anatomical_limits(body, find_roles(body), joint_range)
    assert np.max(limits.excess_rad(body.rest_xyzw)) < 1e-9
    assert limits.limited.sum() >= 17


def test_a_walk_is_within_the_limits_of_a_human() -> None:
    clip = builtin_clip("walk", 30.0)
    limits = anatomical_limits(clip.skeleton, find_roles(clip.skeleton), joint_range)
    assert np.degrees(np.max(limits.excess_rad(clip.rotations_xyzw))) < 1.0


@pytest.mark.parametrize(("angle_deg", "beyond_deg"), [(90.0, 0.0), (-30.0, 25.0), (170.0, 20.0)])
def test_a_knee_bends_backwards_only(angle_deg: float, beyond_deg: float) -> None:
    body = builtin_character("actor")
    limits = anatomical_limits(body, find_roles(body), joint_range)
    knee = body.index("leftLowerLeg")
    bent = body.rest_xyzw.copy()
    bent[knee] = rotations.exp(np.radians([angle_deg, 0.0, 0.0]))
    assert np.degrees(limits.excess_rad(bent)[knee]) == pytest.approx(beyond_deg, abs=0.5)


def test_limits_do_not_depend_on_how_the_joints_axes_lie() -> None:
    body = builtin_character("actor")
    rng = np.random.default_rng(5)
    turns = rotations.normalise(rng.normal(size=(len(body), 4)))
    # The same body with every joint's frame turned: offsets and rest rotations make up for it.
    joints = []
    for j, joint in enumerate(body.joints()):
        p = int(body.parents[j])
        undo = rotations.conjugate(turns[p]) if p >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        tip = (
            None
            if joint.tip is None
            else rotations.rotate(rotations.conjugate(turns[j]), np.asarray(joint.tip))
        )
        joints.append(
            Joint(
                joint.name,
                joint.parent,
                rotations.rotate(undo, np.asarray(joint.offset)),
                rotations.multiply(undo, turns[j]),
                tip=tip,
            )
        )
    other = Skeleton.build(joints)
    plain = anatomical_limits(body, find_roles(body), joint_range)
    turned = anatomical_limits(other, find_roles(other), joint_range)
    posture = rotations.exp(rng.normal(0.0, 0.7, (len(body), 3)))
    posture[0] = body.rest_xyzw[0]
    same = posture.copy()
    for j in range(len(body)):
        p = int(body.parents[j])
        undo = rotations.conjugate(turns[p]) if p >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        same[j] = rotations.multiply(rotations.multiply(undo, posture[j]), turns[j])
    np.testing.assert_allclose(
        turned.excess_rad(same)[1:], plain.excess_rad(posture)[1:], atol=1e-6
    )
