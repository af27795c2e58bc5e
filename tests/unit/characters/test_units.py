"""Unit and up axis, told from the shape of a body alone."""

from __future__ import annotations

import numpy as np
import pytest

from support.bvh_text import Sketch, human
from understudy.characters.units import (
    AXES,
    UNITS_M,
    Axis,
    Limbs,
    decide_unit,
    decide_up,
    find_limbs,
    y_up_from,
)
from understudy.kinematics import FloatArray
from understudy.kinematics.rotations import matrix, rotate


def limbs_of(sketches: list[Sketch]) -> Limbs | None:
    return find_limbs(
        np.array([sketch.parent for sketch in sketches]),
        np.array([sketch.offset for sketch in sketches]),
        np.array([sketch.tip or (0.0, 0.0, 0.0) for sketch in sketches]),
    )


def standing(sketches: list[Sketch]) -> FloatArray:
    """Positions (1, n, 3) of the body at rest."""
    positions = np.zeros((1, len(sketches), 3))
    for number, sketch in enumerate(sketches):
        above = 0.0 if sketch.parent < 0 else positions[0, sketch.parent]
        positions[0, number] = above + np.array(sketch.offset)
    return positions


def test_legs_and_chest_are_found_without_names() -> None:
    body = human()
    names = [sketch.name for sketch in body]
    limbs = limbs_of(body)
    assert limbs is not None
    assert {names[ankle] for ankle in limbs.ankles} == {"r3", "s3"}
    assert names[limbs.chest] == "j2"
    assert limbs.leg == pytest.approx(np.hypot(0.42, 0.01) + np.hypot(0.41, 0.02))


def test_joints_without_length_at_the_hips_do_not_hide_the_legs() -> None:
    body = human()
    names = [sketch.name for sketch in body]
    for top in ("r1", "s1"):
        at = names.index(top)
        body.append(Sketch("zero" + top, body[at].parent, (0.0, 0.0, 0.0)))
        body[at] = Sketch(top, len(body) - 1, body[at].offset)
    order = [0, len(body) - 2, len(body) - 1, *range(1, len(body) - 2)]
    place = {old: new for new, old in enumerate(order)}
    sorted_body = [
        Sketch(body[i].name, place.get(body[i].parent, -1), body[i].offset, tip=body[i].tip)
        for i in order
    ]
    limbs = limbs_of(sorted_body)
    assert limbs is not None
    assert {sorted_body[ankle].name for ankle in limbs.ankles} == {"r3", "s3"}


@pytest.mark.parametrize("name", UNITS_M)
@pytest.mark.parametrize("size", [0.9, 1.0, 1.1])
def test_the_unit_of_a_grown_body_is_clear(name: str, size: float) -> None:
    body = human(scale=size / UNITS_M[name])
    decision = decide_unit(limbs_of(body), height=0.0)
    assert (decision.name, decision.clear) == (name, True)
    assert decision.unit_m == UNITS_M[name]


def test_between_two_units_the_decision_says_so_and_takes_the_usual_one() -> None:
    # A leg of 51 is half a metre in cm, 1.3 m in inches: both are legs someone has.
    decision = decide_unit(Limbs(leg=51.0, ankles=(1, 2), chest=0), height=0.0)
    assert (decision.name, decision.clear) == ("cm", False)
    assert "0.51 m in cm or 1.30 m in inch" in decision.why


def test_without_legs_the_height_decides_but_not_clearly() -> None:
    decision = decide_unit(None, height=175.0)
    assert (decision.name, decision.clear) == ("cm", False)
    assert "no legs found" in decision.why


def test_a_body_without_extent_is_taken_to_be_in_centimetres() -> None:
    decision = decide_unit(None, height=0.0)
    assert (decision.unit_m, decision.clear) == (0.01, False)


@pytest.mark.parametrize("axis", AXES)
def test_every_axis_can_be_up(axis: Axis) -> None:
    body = human(scale=100.0, to_file=matrix(y_up_from(axis)).T)
    for at_rest in (True, False):
        decision = decide_up(limbs_of(body), standing(body), at_rest=at_rest)
        assert (decision.axis, decision.clear) == (axis, True)


@pytest.mark.parametrize("axis", AXES)
def test_the_turn_to_y_up_is_a_rotation_that_brings_the_axis_there(axis: Axis) -> None:
    up = np.zeros(3)
    up["xyz".index(axis[-1])] = -1.0 if axis[0] == "-" else 1.0
    assert np.allclose(rotate(y_up_from(axis), up), [0.0, 1.0, 0.0], atol=1e-15)


def test_z_up_becomes_y_up_with_x_in_its_place() -> None:
    assert np.allclose(rotate(y_up_from("z"), np.array([1.0, 0.0, 0.0])), [1.0, 0.0, 0.0])
    assert np.allclose(rotate(y_up_from("z"), np.array([0.0, -1.0, 0.0])), [0.0, 0.0, 1.0])


def test_a_few_frames_on_the_head_do_not_turn_the_world_over() -> None:
    body = human()
    upright = standing(body)
    positions = np.concatenate([upright] * 7 + [-upright] * 3)
    decision = decide_up(limbs_of(body), positions, at_rest=False)
    assert (decision.axis, decision.clear) == ("y", True)


def test_a_folded_rest_pose_says_nothing_about_up() -> None:
    body = human()
    folded = np.abs(standing(body))
    folded[..., 0] = 0.0
    limbs = limbs_of(body)
    assert limbs is not None
    # Chest and feet on the same side of the hips.
    folded[0, limbs.ankles[0]] = folded[0, limbs.ankles[1]] = folded[0, 0] + [0.0, 0.8, 0.0]
    assert not decide_up(limbs, folded, at_rest=True).clear


def test_a_leaning_body_leaves_up_open() -> None:
    body = human()
    positions = (
        standing(body) @ matrix(np.array([np.sin(np.pi / 8), 0.0, 0.0, np.cos(np.pi / 8)])).T
    )
    decision = decide_up(limbs_of(body), positions, at_rest=False)
    assert not decision.clear
    assert "45 degrees" in decision.why


def test_a_chain_without_limbs_leaves_both_open() -> None:
    chain = [Sketch("a", -1, (0, 0, 0)), Sketch("b", 0, (0, 1, 0)), Sketch("c", 1, (0, 1, 0))]
    assert limbs_of(chain) is None
    assert decide_up(None, standing(chain), at_rest=True).clear is False
