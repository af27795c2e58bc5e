"""Human defaults: which way joints bend, how far, and what segments weigh."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.characters.anatomy import joint_range, segment_masses
from understudy.characters.vrm import HUMANOID_ROLES, REQUIRED_ROLES
from understudy.kinematics import FloatArray, rotations

LEFT, UP, FORWARD = np.eye(3)
FLEXION, SIDEWAYS, TWIST = range(3)


@pytest.mark.parametrize("role", [role for role in HUMANOID_ROLES if role != "hips"])
def test_every_role_but_the_root_has_a_range_around_its_t_pose(role: str) -> None:
    found = joint_range(role)
    assert found is not None
    assert found.axes @ found.axes.T == pytest.approx(np.eye(3))
    assert np.linalg.det(found.axes) == pytest.approx(1.0)
    assert np.all(found.low_rad < 0.0)
    assert np.all(found.high_rad > 0.0)
    assert np.all(np.abs([found.low_rad, found.high_rad]) < np.pi)


def test_hips_and_unknown_roles_have_no_range() -> None:
    assert joint_range("hips") is None
    assert joint_range("tail") is None
    assert joint_range("leftSpine") is None


def moved(role: str, motion: int, farthest: str, direction: FloatArray) -> FloatArray:
    """Where the extreme of a motion takes a direction of the T-pose."""
    found = joint_range(role)
    assert found is not None
    angle = found.high_rad[motion] if farthest == "high" else found.low_rad[motion]
    return rotations.rotate(rotations.exp(angle * found.axes[motion]), direction)


@pytest.mark.parametrize(
    ("role", "farthest", "before", "towards"),
    [
        ("leftUpperLeg", "high", -UP, FORWARD),
        ("rightUpperLeg", "high", -UP, FORWARD),
        ("leftLowerLeg", "high", -UP, -FORWARD),
        ("rightLowerLeg", "high", -UP, -FORWARD),
        ("leftFoot", "high", FORWARD, UP),
        ("rightFoot", "low", FORWARD, -UP),
        ("leftLowerArm", "high", LEFT, FORWARD),
        ("rightLowerArm", "high", -LEFT, FORWARD),
        ("leftUpperArm", "high", LEFT, FORWARD),
        ("rightUpperArm", "low", -LEFT, -FORWARD),
        ("leftHand", "high", LEFT, -UP),
        ("rightHand", "high", -LEFT, -UP),
        ("leftIndexProximal", "high", LEFT, -UP),
        ("rightLittleDistal", "high", -LEFT, -UP),
        ("leftThumbDistal", "high", LEFT + FORWARD, -FORWARD),
        ("rightThumbDistal", "high", -LEFT + FORWARD, -FORWARD),
        ("spine", "high", UP, FORWARD),
        ("head", "low", UP, -FORWARD),
        ("jaw", "high", FORWARD, -UP),
    ],
)
def test_flexion_bends_the_anatomical_way(
    role: str, farthest: str, before: FloatArray, towards: FloatArray
) -> None:
    assert moved(role, FLEXION, farthest, before) @ towards > before @ towards + 0.1


def test_both_sides_reach_mirrored_places() -> None:
    mirror = np.array([-1.0, 1.0, 1.0])
    for role in (name for name in HUMANOID_ROLES if name.startswith("left")):
        other = role.replace("left", "right")
        for motion in range(3):
            for farthest in ("low", "high"):
                here = moved(role, motion, farthest, np.array([0.3, 0.5, 0.8]))
                there = moved(other, motion, farthest, np.array([0.3, 0.5, 0.8]) * mirror)
                assert there == pytest.approx(here * mirror), role


def test_arms_hang_rise_and_cross_and_legs_spread_more_than_they_cross() -> None:
    down = min(moved("leftUpperArm", SIDEWAYS, end, LEFT)[1] for end in ("low", "high"))
    up = max(moved("leftUpperArm", SIDEWAYS, end, LEFT)[1] for end in ("low", "high"))
    assert down < -0.9
    assert up > 0.9
    ends = [moved("leftUpperLeg", SIDEWAYS, end, -UP)[0] for end in ("low", "high")]
    assert max(ends) > -min(ends) > 0.0


def test_toes_turn_out_further_than_in_and_soles_in_further_than_out() -> None:
    ends = [moved("rightUpperLeg", TWIST, end, FORWARD)[0] for end in ("low", "high")]
    assert -min(ends) > max(ends) > 0.0  # the right foot turns out towards -X
    soles = [moved("rightFoot", TWIST, end, -UP)[0] for end in ("low", "high")]
    assert max(soles) > -min(soles) > 0.0  # and its sole turns in towards +X


def test_knees_and_elbows_are_no_pure_hinges() -> None:
    for role in ("leftLowerLeg", "rightLowerArm"):
        found = joint_range(role)
        assert found is not None
        width = found.high_rad - found.low_rad
        assert width[FLEXION] > 5.0 * width[SIDEWAYS] > 0.0
        assert width[TWIST] > width[SIDEWAYS]


def test_masses_of_a_whole_body_add_up_to_one_and_match_the_literature() -> None:
    masses = segment_masses(HUMANOID_ROLES)
    assert sum(masses.values()) == pytest.approx(1.0)
    trunk = sum(masses[role] for role in ("hips", "spine", "chest", "upperChest"))
    assert trunk == pytest.approx(0.43)
    leg = sum(masses[f"left{part}"] for part in ("UpperLeg", "LowerLeg", "Foot", "Toes"))
    assert leg == pytest.approx(0.204)
    assert masses["leftIndexProximal"] == 0.0
    for role in HUMANOID_ROLES:
        if role.startswith("left"):
            assert masses[role] == masses[role.replace("left", "right")]


def test_what_a_body_lacks_weighs_on_its_neighbour_towards_the_hips() -> None:
    masses = segment_masses(REQUIRED_ROLES)
    assert sum(masses.values()) == pytest.approx(1.0)
    assert masses["leftFoot"] == pytest.approx(0.013)
    assert masses["spine"] == pytest.approx(0.155 + 0.077 + 0.080 + 0.012)
    assert segment_masses([]) == {}
