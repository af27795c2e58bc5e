"""Bodies that can be built, and those that are refused with the joint at fault."""

from __future__ import annotations

import itertools
import math
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bodies import mixed_body
from understudy.errors import UnderstudyError
from understudy.kinematics import BALL, FIXED, HINGE, Joint, Skeleton, SkeletonError

ARRAYS = ("parents", "offsets", "rest_xyzw", "kinds", "axes", "limits_rad", "tips", "has_tip")


def refused(*joints: Joint) -> SkeletonError:
    with pytest.raises(SkeletonError) as caught:
        Skeleton.build(joints)
    assert isinstance(caught.value, UnderstudyError)
    assert "\n" not in str(caught.value)
    return caught.value


def test_a_cycle_is_refused_and_named() -> None:
    error = refused(Joint("root", None), Joint("a", "c"), Joint("b", "a"), Joint("c", "b"))
    assert error.joint in {"a", "b", "c"}
    assert repr(error.joint) in str(error)
    assert "ancestor" in str(error)


def test_a_joint_that_is_its_own_parent_is_refused() -> None:
    assert refused(Joint("root", None), Joint("a", "a")).joint == "a"


def test_a_second_root_is_refused_with_both_names() -> None:
    error = refused(Joint("hips", None), Joint("prop", None))
    assert error.joint == "prop"
    assert "'hips'" in str(error)


def test_a_body_without_a_root_is_refused() -> None:
    error = refused(Joint("a", "b"), Joint("b", "a"))
    assert error.joint == "a"
    assert "root" in str(error)


def test_an_empty_body_is_refused() -> None:
    assert "at least one joint" in str(refused())


def test_a_duplicate_name_is_refused() -> None:
    error = refused(Joint("hips", None), Joint("leg", "hips"), Joint("leg", "hips"))
    assert error.joint == "leg"
    assert "unique" in str(error)


def test_a_joint_without_a_name_is_refused() -> None:
    assert "needs a name" in str(refused(Joint("hips", None), Joint("", "hips")))


def test_an_unknown_parent_is_refused_with_its_name() -> None:
    error = refused(Joint("hips", None), Joint("leg", "pelvis"))
    assert error.joint == "leg"
    assert "'pelvis'" in str(error)


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"offset": (0.0, math.nan, 0.0)}, "offset"),
        ({"offset": (0.0, math.inf, 0.0)}, "offset"),
        ({"offset": (0.0, 1.0)}, "expected 3"),
        ({"rest_xyzw": (math.nan, 0.0, 0.0, 1.0)}, "rest_xyzw"),
        ({"rest_xyzw": (0.0, 0.0, 0.0, 0.0)}, "cannot be zero"),
        ({"rest_xyzw": (0.0, 0.0, 1.0)}, "expected 4"),
        ({"kind": "slider"}, "ball, hinge, fixed"),
        ({"kind": "hinge", "axis": (0.0, 0.0, 0.0)}, "cannot be zero"),
        ({"kind": "hinge", "axis": (0.0, math.nan, 1.0)}, "axis"),
        ({"kind": "hinge", "limits_rad": (0.5, -0.5)}, "0.5 to -0.5"),
        ({"kind": "hinge", "limits_rad": (math.nan, 1.0)}, "nan to 1.0"),
        ({"kind": "hinge", "limits_rad": (-1.0, math.nan)}, "-1.0 to nan"),
        ({"tip": (0.0, math.nan, 0.0)}, "tip"),
        ({"tip": (0.0, 1.0)}, "tip"),
    ],
)
def test_a_bad_number_or_kind_is_refused_with_the_joint(fields: dict[str, Any], what: str) -> None:
    error = refused(Joint("hips", None), Joint("spine", "hips", **fields))
    assert error.joint == "spine"
    assert str(error).startswith("joint 'spine': ")
    assert what in str(error)


@settings(max_examples=25)
@given(st.permutations(range(9)))
def test_any_order_of_joints_builds_the_same_tree_parents_first(order: list[int]) -> None:
    body = mixed_body()
    joints = body.joints()
    shuffled = Skeleton.build([joints[i] for i in order])
    assert set(shuffled.names) == set(body.names)
    for i, name in enumerate(shuffled.names):
        parent = int(shuffled.parents[i])
        assert parent < i
        mine = body.index(name)
        expected = int(body.parents[mine])
        assert (parent < 0) == (expected < 0)
        if parent >= 0:
            assert shuffled.names[parent] == body.names[expected]
        for array in ARRAYS[1:]:
            # a unit vector made unit again may round once
            np.testing.assert_allclose(
                getattr(shuffled, array)[i], getattr(body, array)[mine], rtol=3e-16
            )


def test_joints_that_are_in_order_keep_it() -> None:
    body = mixed_body()
    assert Skeleton.build(body.joints()).names == body.names


def test_every_array_is_read_only_and_no_field_can_be_set() -> None:
    body = mixed_body()
    for name in ARRAYS:
        with pytest.raises(ValueError, match="read-only"):
            getattr(body, name)[0] = 0
    with pytest.raises(FrozenInstanceError):
        body.names = ()  # type: ignore[misc]  # the point of the test


def test_the_builders_own_arrays_are_not_shared() -> None:
    offset = np.array([0.0, 1.0, 0.0])
    body = Skeleton.build([Joint("hips", None, offset=offset)])
    offset[:] = 7.0
    np.testing.assert_array_equal(body.offsets[0], [0.0, 1.0, 0.0])


def test_axes_and_rest_rotations_are_made_unit() -> None:
    body = mixed_body()
    np.testing.assert_allclose(np.linalg.norm(body.axes, axis=1), 1.0, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(body.rest_xyzw, axis=1), 1.0, atol=1e-15)


def test_kinds_are_numbers_in_joint_order() -> None:
    body = mixed_body()
    assert body.kinds[body.index("arm")] == BALL
    assert body.kinds[body.index("elbow")] == HINGE
    assert body.kinds[body.index("collar")] == FIXED


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    body = mixed_body()
    with pytest.raises(SkeletonError, match=r"'tail'.*hips, chest") as caught:
        body.index("tail")
    assert caught.value.joint == "tail"
    assert "tail" not in body
    assert "hips" in body


def test_ancestors_and_children_agree_with_the_parents() -> None:
    body = mixed_body()
    for j in range(len(body)):
        line = body.ancestors(j)
        assert line[0] == 0
        assert line[-1] == j
        for parent, child in itertools.pairwise(line):
            assert body.parents[child] == parent
            assert child in body.children(parent)
    assert sorted(c for j in range(len(body)) for c in body.children(j)) == list(
        range(1, len(body))
    )


def test_the_rest_pose_is_the_callers_own() -> None:
    body = mixed_body()
    pose = body.rest_pose()
    np.testing.assert_array_equal(pose.root, body.offsets[0])
    pose.root[:] = 9.0
    pose.rotations_xyzw[:] = 9.0
    assert body.rest_pose().root[1] == 1.0
    copied = body.rest_pose().copy()
    copied.rotations_xyzw[:] = 0.0
    np.testing.assert_array_equal(body.rest_pose().rotations_xyzw, body.rest_xyzw)


def test_a_body_rebuilt_from_its_own_joints_is_the_same() -> None:
    body = mixed_body()
    again = Skeleton.build(body.joints())
    for name in ARRAYS:
        np.testing.assert_allclose(getattr(again, name), getattr(body, name), rtol=3e-16)
