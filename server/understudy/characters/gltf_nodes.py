"""The node tree of a glTF file and where its nodes are in the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.characters.gltf_file import (
    LARGEST_NUMBER,
    GltfFile,
    Json,
    check_index,
    get_list,
    get_numbers,
    get_objects,
    get_text,
)
from understudy.characters.rig import RigError
from understudy.kinematics import FloatArray, rotations

_IDENTITY_MATRIX = tuple(np.eye(4).ravel().tolist())


@dataclass(frozen=True, slots=True, eq=False)
class NodeTree:
    """Nodes of a file, numbered as in the file.

    `parents` has -1 for a node without a parent; `order` lists parents before children; `locals`
    (n, 4, 4) are parent_from_node matrices of column vectors.
    """

    records: tuple[Json, ...]
    names: tuple[str, ...]
    parents: tuple[int, ...]
    order: tuple[int, ...]
    locals: FloatArray

    @classmethod
    def read(cls, file: GltfFile) -> NodeTree:
        """The tree of a file; RigError if it is none or a transform makes no sense."""
        records = get_objects(file.document, "nodes", "the file")
        if not records:
            raise RigError("the file has no nodes, so no skeleton")
        parents = _parents(records)
        return cls(
            records=tuple(records),
            names=tuple(get_text(r, "name", f"node {i}") for i, r in enumerate(records)),
            parents=parents,
            order=_parents_first(parents),
            locals=np.array([_local(r, f"node {i}") for i, r in enumerate(records)]),
        )

    def __len__(self) -> int:
        return len(self.records)

    def label(self, node: int) -> str:
        """A node's name for messages, its number where it has none."""
        return repr(self.names[node]) if self.names[node] else f"number {node}"

    def ancestors(self, node: int) -> list[int]:
        """The chain from `node`, not included, up to the top of the file."""
        chain = []
        while (node := self.parents[node]) >= 0:
            chain.append(node)
        return chain

    def worlds(self, known: dict[int, FloatArray] | None = None) -> FloatArray:
        """world_from_node (n, 4, 4); nodes in `known` are there, their children follow them."""
        known = known or {}
        worlds = np.empty((len(self), 4, 4))
        # An overflow is caught right below, as a refusal instead of a warning.
        with np.errstate(all="ignore"):
            for node in self.order:
                parent = self.parents[node]
                if node in known:
                    worlds[node] = known[node]
                elif parent < 0:
                    worlds[node] = self.locals[node]
                else:
                    worlds[node] = worlds[parent] @ self.locals[node]
        if not np.all(np.abs(worlds) <= LARGEST_NUMBER):
            raise RigError("the nodes' transforms multiply to numbers beyond all measure")
        return worlds


def rotation_of(matrix: FloatArray, label: str) -> tuple[FloatArray, float, float]:
    """Nearest rotation (3, 3) of a transform, its mean scale and its shear.

    Shear is the largest cosine between two axes: 0 where they are at right angles. Mirrored and
    flat transforms have no rotation and are refused.
    """
    axes = matrix[:3, :3]
    left, stretches, right = np.linalg.svd(axes)
    if stretches[2] <= 1e-6 * stretches[0] or stretches[2] <= 1e-12:
        raise RigError(f"joint {label}: its scale is zero, so it has no direction")
    if np.linalg.det(left) * np.linalg.det(right) < 0.0:
        raise RigError(f"joint {label}: mirrored by a negative scale; apply the scale and export")
    unit = axes / np.linalg.norm(axes, axis=0)
    shear = float(np.abs(unit.T @ unit - np.eye(3)).max())
    # An orthogonal basis keeps its own axes however unequal their scales; only under shear is
    # the nearest rotation a choice.
    rotation = unit if shear < 1e-7 else left @ right
    return np.asarray(rotation), float(stretches.mean()), shear


def _local(record: Json, where: str) -> FloatArray:
    if "matrix" in record:
        flat = get_numbers(record, "matrix", where, _IDENTITY_MATRIX)
        matrix = flat.reshape(4, 4).T.copy()
        if not np.allclose(matrix[3], (0.0, 0.0, 0.0, 1.0), atol=1e-6):
            raise RigError(f"{where}: its matrix has a perspective part")
        return matrix
    rotation = get_numbers(record, "rotation", where, (0.0, 0.0, 0.0, 1.0))
    if np.linalg.norm(rotation) < 1e-6:
        raise RigError(f"{where}: its rotation is a quaternion of length zero")
    scale = get_numbers(record, "scale", where, (1.0, 1.0, 1.0))
    matrix = np.eye(4)
    matrix[:3, :3] = rotations.matrix(rotations.normalise(rotation)) * scale
    matrix[:3, 3] = get_numbers(record, "translation", where, (0.0, 0.0, 0.0))
    return matrix


def _parents(records: list[Json]) -> tuple[int, ...]:
    parents = [-1] * len(records)
    for i, record in enumerate(records):
        where = f"node {i}"
        for value in get_list(record, "children", where):
            child = check_index(value, len(records), f"{where}: child")
            if parents[child] >= 0:
                raise RigError(f"node {child} has two parents: {parents[child]} and {i}")
            parents[child] = i
    return tuple(parents)


def _parents_first(parents: tuple[int, ...]) -> tuple[int, ...]:
    """Depth first, in file order; a cycle has no top and so is never reached."""
    children: list[list[int]] = [[] for _ in parents]
    for node, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(node)
    order: list[int] = []
    stack = [node for node in reversed(range(len(parents))) if parents[node] < 0]
    while stack:
        node = stack.pop()
        order.append(node)
        stack.extend(reversed(children[node]))
    if len(order) < len(parents):
        lost = min(set(range(len(parents))) - set(order))
        raise RigError(f"node {lost} is its own ancestor; nodes must form trees")
    return tuple(order)
