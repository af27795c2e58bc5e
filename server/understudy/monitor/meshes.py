"""The few meshes a stage is made of, each drawn many times in different places and sizes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy.kinematics import FloatArray


class Mesh(NamedTuple):
    """Vertices (v, 3) m and triangles (f, 3), counter-clockwise seen from outside."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.uint32]


def bone(sides: int = 14) -> Mesh:
    """Length 1 along +z, radius 1 at its fattest, 22 % of the way up."""
    profile = [(0.0, 0.30), (0.05, 0.62), (0.12, 0.90), (0.22, 1.0), (0.40, 0.90)]
    profile += [(0.65, 0.72), (0.90, 0.55), (0.97, 0.45), (1.0, 0.28)]
    return _lathe(np.array(profile), sides)


def ball(rings: int = 14, sides: int = 22) -> Mesh:
    """Radius 1 about the origin."""
    angle = np.linspace(0.0, np.pi, rings + 1)
    return _lathe(np.stack([-np.cos(angle), np.sin(angle)], axis=1), sides)


def facing_ring(sides: int = 56) -> Mesh:
    """A flat ring of radius 1 in the x-z plane with a chevron towards +z, seen from above."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    circle = np.stack([np.sin(angle), np.zeros(sides), np.cos(angle)], axis=1)
    vertices = np.concatenate([0.95 * circle, 1.03 * circle])
    here = np.arange(sides)
    there = (here + 1) % sides
    faces = np.concatenate(
        [
            np.stack([here, here + sides, there + sides], axis=1),
            np.stack([here, there + sides, there], axis=1),
        ]
    )
    chevron = np.array([[0.0, 0.0, 1.34], [0.16, 0.0, 1.12], [0.0, 0.0, 1.17], [-0.16, 0.0, 1.12]])
    first = len(vertices)
    arrow = np.array([[0, 1, 2], [0, 2, 3]]) + first
    return _mesh(np.concatenate([vertices, chevron]), _upwards(faces, arrow, vertices, chevron))


def disc(sides: int = 32) -> Mesh:
    """A flat disc of radius 1 in the x-z plane, seen from above."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rim = np.stack([np.sin(angle), np.zeros(sides), np.cos(angle)], axis=1)
    here = np.arange(sides)
    faces = np.stack([np.full(sides, sides), here, (here + 1) % sides], axis=1)
    return _mesh(np.concatenate([rim, np.zeros((1, 3))]), faces)


def target(sides: int = 28, tube: int = 6) -> Mesh:
    """Three crossed rings of radius 1: a goal one can see from anywhere."""
    rings = [_torus(sides, tube, 0.1)[:, order] for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1])]
    faces = [_torus_faces(sides, tube) + i * sides * tube for i in range(3)]
    return _mesh(np.concatenate(rings), np.concatenate(faces))


def _mesh(vertices: FloatArray, faces: NDArray[np.int64]) -> Mesh:
    return Mesh(vertices.astype(np.float32), faces.astype(np.uint32))


def _lathe(profile: FloatArray, sides: int) -> Mesh:
    """The surface that (height, radius) rows sweep about the z axis, closed at both ends."""
    angle = np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False)
    rows = len(profile)
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    wall = np.concatenate(
        [
            profile[:, None, 1:2] * rim[None],
            np.broadcast_to(profile[:, None, 0:1], (rows, sides, 1)),
        ],
        axis=2,
    ).reshape(-1, 3)
    ends = np.array([[0.0, 0.0, profile[0, 0]], [0.0, 0.0, profile[-1, 0]]])
    row, side = (grid.reshape(-1) for grid in np.mgrid[0 : rows - 1, 0:sides])
    a, b = row * sides + side, row * sides + (side + 1) % sides
    faces = [np.stack([a, b, b + sides], axis=1), np.stack([a, b + sides, a + sides], axis=1)]
    here = np.arange(sides)
    there = (here + 1) % sides
    last = (rows - 1) * sides
    bottom, top = rows * sides, rows * sides + 1
    faces.append(np.stack([np.full(sides, bottom), there, here], axis=1))
    faces.append(np.stack([np.full(sides, top), last + here, last + there], axis=1))
    return _mesh(np.concatenate([wall, ends]), np.concatenate(faces))


def _torus(sides: int, tube: int, radius: float) -> FloatArray:
    u, v = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, sides, endpoint=False),
        np.linspace(0.0, 2.0 * np.pi, tube, endpoint=False),
        indexing="ij",
    )
    ring = 1.0 + radius * np.cos(v)
    points = np.stack([ring * np.cos(u), ring * np.sin(u), radius * np.sin(v)], axis=-1)
    return np.asarray(points.reshape(-1, 3), np.float64)


def _torus_faces(sides: int, tube: int) -> NDArray[np.int64]:
    i, j = (grid.reshape(-1) for grid in np.mgrid[0:sides, 0:tube])
    a, b = i * tube + j, ((i + 1) % sides) * tube + j
    c, d = ((i + 1) % sides) * tube + (j + 1) % tube, i * tube + (j + 1) % tube
    return np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])


def _upwards(
    ring: NDArray[np.int64], arrow: NDArray[np.int64], *parts: FloatArray
) -> NDArray[np.int64]:
    """Faces of flat parts, each turned so that it is seen from above."""
    vertices = np.concatenate(parts)
    faces = np.concatenate([ring, arrow])
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    down = np.cross(b - a, c - a)[:, 1] < 0.0
    faces[down] = faces[down][:, ::-1]
    return faces
