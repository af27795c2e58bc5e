"""Bodies as they are drawn: every bone where the skeleton has it, none of them odd."""

from __future__ import annotations

import numpy as np
import pytest

from understudy.characters import BUILTIN_CHARACTERS, load_character
from understudy.kinematics import ForwardKinematics, Joint, Skeleton
from understudy.kinematics.rotations import exp, rotate
from understudy.monitor import meshes
from understudy.monitor.bodies import Body


@pytest.mark.parametrize("name", BUILTIN_CHARACTERS)
def test_every_bone_ends_where_the_next_joint_or_tip_is(name: str) -> None:
    skeleton = load_character(name)
    body = Body(skeleton)
    rotations = exp(np.random.default_rng(7).normal(size=(len(skeleton), 3)))
    root = np.array([0.3, 1.0, -2.0])
    placed = body.place(root, rotations)
    lengths = body.shape.bone_scales[:, 2]
    turns_xyzw = np.roll(placed.bones_wxyz, -1, axis=1)
    ends = placed.bones + rotate(turns_xyzw, np.outer(lengths, [0.0, 0.0, 1.0]))
    forward = ForwardKinematics(skeleton)
    forward.update(root, rotations)
    tips = [forward.point(int(i), skeleton.tips[i]) for i in np.flatnonzero(skeleton.has_tip)]
    points = np.concatenate([forward.positions, np.array(tips).reshape(-1, 3)])
    nearest = np.linalg.norm(ends[:, None] - points[None], axis=2).min(axis=1)
    assert nearest.max() < 1e-9


def test_a_body_faces_the_way_it_is_turned() -> None:
    body = Body(load_character("actor"))
    for heading in (-2.0, 0.0, 0.5, 3.0):
        turned = exp(np.array([0.0, heading, 0.0]))
        assert body.heading_rad(turned) == pytest.approx(heading)


def test_a_rest_rotation_of_the_root_does_not_turn_the_facing() -> None:
    rest = exp(np.array([-np.pi / 2, 0.0, 0.0]))
    skeleton = Skeleton.build(
        [Joint("hips", None, (0, 1, 0), rest), Joint("spine", "hips", (0, 0, 0.5))]
    )
    assert Body(skeleton).heading_rad(skeleton.rest_xyzw[0]) == pytest.approx(0.0)


def test_a_body_of_one_joint_has_no_bone_and_can_be_placed() -> None:
    skeleton = Skeleton.build([Joint("only", None, (0.0, 1.0, 0.0))])
    placed = Body(skeleton).place(np.zeros(3), np.array([[0.0, 0.0, 0.0, 1.0]]))
    assert placed.bones.shape == (0, 3)
    assert placed.joints.shape == (1, 3)


@pytest.mark.parametrize("mesh", [meshes.bone(), meshes.ball(), meshes.target()])
def test_closed_meshes_have_every_edge_twice_in_opposite_directions(mesh: meshes.Mesh) -> None:
    edges = np.concatenate([mesh.faces[:, [a, b]] for a, b in ((0, 1), (1, 2), (2, 0))])
    directed = {(int(a), int(b)) for a, b in edges}
    assert len(directed) == len(edges)
    assert all((b, a) in directed for a, b in directed)


@pytest.mark.parametrize("mesh", [meshes.bone(), meshes.ball(), meshes.target()])
def test_closed_meshes_are_turned_outwards(mesh: meshes.Mesh) -> None:
    a, b, c = (mesh.vertices[mesh.faces[:, k]].astype(np.float64) for k in range(3))
    assert np.einsum("fi,fi->", a, np.cross(b, c)) / 6.0 > 0.0


@pytest.mark.parametrize("mesh", [meshes.facing_ring(), meshes.disc()])
def test_flat_meshes_are_seen_from_above(mesh: meshes.Mesh) -> None:
    a, b, c = (mesh.vertices[mesh.faces[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 1] > 0.0).all()
