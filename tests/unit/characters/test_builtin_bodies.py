from __future__ import annotations

import numpy as np
import pytest

from understudy.characters.builtin import BUILTIN_CHARACTERS, builtin_character
from understudy.errors import UnderstudyError
from understudy.kinematics import ForwardKinematics, Skeleton
from understudy.kinematics.types import FloatArray

TRUNK = ("hips", "spine", "chest", "upperChest", "neck", "head")
LIMBS = ("Shoulder", "UpperArm", "LowerArm", "Hand", "UpperLeg", "LowerLeg", "Foot", "Toes")


def at_rest(skeleton: Skeleton) -> ForwardKinematics:
    body = ForwardKinematics(skeleton)
    pose = skeleton.rest_pose()
    body.update(pose.root, pose.rotations_xyzw)
    return body


def place(skeleton: Skeleton, joint: str) -> FloatArray:
    return np.asarray(at_rest(skeleton).positions[skeleton.index(joint)], dtype=np.float64)


def tip(skeleton: Skeleton, joint: str) -> FloatArray:
    i = skeleton.index(joint)
    return at_rest(skeleton).point(i, skeleton.tips[i])


def distance(skeleton: Skeleton, a: str, b: str) -> float:
    return float(np.linalg.norm(place(skeleton, a) - place(skeleton, b)))


def height(skeleton: Skeleton) -> float:
    return float(tip(skeleton, "head")[1])


def test_the_characters_are_the_documented_ones() -> None:
    assert BUILTIN_CHARACTERS == (
        "actor",
        "short-legs",
        "bat-a",
        "bat-b",
        "bat-c",
        "child",
        "giant",
    )


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
def test_every_body_has_the_humanoid_joints_and_three_kinds_of_tips(name: str) -> None:
    body = builtin_character(name)
    expected = {*TRUNK, *(side + limb for side in ("left", "right") for limb in LIMBS)}
    assert expected <= set(body.names)
    tipped = {body.names[i] for i in np.flatnonzero(body.has_tip)}
    assert tipped == {"head", "leftHand", "rightHand", "leftToes", "rightToes"}


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
def test_every_body_rests_in_a_t_pose_that_faces_forward(name: str) -> None:
    body = builtin_character(name)
    np.testing.assert_array_equal(body.rest_xyzw, np.tile([0.0, 0.0, 0.0, 1.0], (len(body), 1)))
    arm = tip(body, "leftHand") - place(body, "leftShoulder")
    assert arm[0] > 0.0
    np.testing.assert_allclose(arm[1:], 0.0, atol=1e-12)
    assert (tip(body, "leftToes") - place(body, "leftFoot"))[2] > 0.0
    np.testing.assert_allclose(
        tip(body, "rightHand"), tip(body, "leftHand") * (-1.0, 1.0, 1.0), atol=1e-12
    )


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
@pytest.mark.parametrize("side", ["left", "right"])
def test_the_soles_of_every_resting_body_lie_on_the_floor(name: str, side: str) -> None:
    body = builtin_character(name)
    assert place(body, f"{side}Toes")[1] == pytest.approx(0.0, abs=1e-12)
    assert tip(body, f"{side}Toes")[1] == pytest.approx(0.0, abs=1e-12)
    assert np.min(at_rest(body).positions[:, 1]) >= -1e-12


@pytest.mark.parametrize(
    ("name", "upper_leg", "lower_leg"), [("actor", 0.46, 0.46), ("short-legs", 0.26, 0.34)]
)
@pytest.mark.parametrize("side", ["left", "right"])
def test_legs_have_the_published_measures(
    name: str, upper_leg: float, lower_leg: float, side: str
) -> None:
    body = builtin_character(name)
    measured = [
        distance(body, "leftUpperLeg", "rightUpperLeg"),
        distance(body, f"{side}UpperLeg", f"{side}LowerLeg"),
        distance(body, f"{side}LowerLeg", f"{side}Foot"),
        distance(body, f"{side}Foot", f"{side}Toes"),
        float(np.linalg.norm(tip(body, f"{side}Toes") - place(body, f"{side}Toes"))),
    ]
    np.testing.assert_allclose(measured, [0.30, upper_leg, lower_leg, 0.16, 0.08], atol=1e-12)


def test_short_legs_has_the_trunk_and_arms_of_the_actor() -> None:
    actor, short = builtin_character("actor"), builtin_character("short-legs")
    above = [i for i, name in enumerate(actor.names[1:], 1) if not name.endswith(("Leg", "Foot"))]
    np.testing.assert_array_equal(actor.offsets[above], short.offsets[above])
    assert actor.names == short.names


@pytest.mark.parametrize("name", ["bat-a", "bat-b", "bat-c"])
def test_bat_bodies_have_a_torso_of_five_joints(name: str) -> None:
    body = builtin_character(name)
    chain = [body.names[i] for i in body.ancestors(body.index("neck"))]
    assert chain == ["hips", "spine", "spine2", "chest", "chest2", "upperChest", "neck"]


def test_bat_bodies_trade_torso_for_limbs() -> None:
    a, b, c = (builtin_character(f"bat-{letter}") for letter in "abc")
    torsos = [distance(body, "hips", "neck") for body in (a, b, c)]
    arms = [distance(body, "leftUpperArm", "leftHand") for body in (a, b, c)]
    legs = [distance(body, "leftUpperLeg", "leftFoot") for body in (a, b, c)]
    assert torsos == sorted(torsos, reverse=True)
    assert arms == sorted(arms)
    assert legs == sorted(legs)
    actor = builtin_character("actor")
    assert height(b) == pytest.approx(height(actor))
    assert arms[1] == pytest.approx(distance(actor, "leftUpperArm", "leftHand"))


def test_the_actor_is_of_average_height_and_child_and_giant_are_not() -> None:
    assert height(builtin_character("actor")) == pytest.approx(1.75, abs=0.02)
    assert height(builtin_character("child")) < 1.25
    assert height(builtin_character("giant")) > 2.4


def test_an_unknown_character_is_refused_with_the_known_names() -> None:
    with pytest.raises(UnderstudyError, match=r"no built-in character 'goblin'.*short-legs"):
        builtin_character("goblin")
