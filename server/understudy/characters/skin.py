"""Skins of a glTF file: joints, bind pose, and which vertices each joint carries."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.characters.gltf_file import (
    GltfFile,
    Json,
    check_index,
    get_list,
    get_object,
    get_objects,
)
from understudy.characters.gltf_nodes import NodeTree, rotation_of
from understudy.characters.rig import RigError
from understudy.kinematics import FloatArray, IntArray

_DRACO = "KHR_draco_mesh_compression"
# A file is taken to stand in its bind pose if no joint is further from it than this.
BIND_ANGLE_DEG = 1.0
BIND_DISTANCE = 0.01  # of the skeleton's extent


@dataclass(frozen=True, slots=True, eq=False)
class Skin:
    """One skin: node numbers of its joints (k,) and joint_from_mesh (k, 4, 4) at bind time."""

    joints: IntArray
    inverse_binds: FloatArray
    has_binds: bool


@dataclass(frozen=True, slots=True, eq=False)
class BodyMesh:
    """The vertices that joints carry, in the rest pose.

    `positions` (v, 3) m in the world; `carriers` (v,) the node that moves a vertex most;
    `skinned` (v,) false for meshes that hang on a joint as a whole; `weights` (nodes,) how many
    vertices each node carries, shared ones counted in parts. `complete` is false if a mesh is
    compressed in a way not read here, so that a joint without weight may yet have some.
    """

    positions: FloatArray
    carriers: IntArray
    skinned: np.ndarray[tuple[int], np.dtype[np.bool_]]
    weights: FloatArray
    complete: bool


def read_skins(file: GltfFile, nodes: NodeTree) -> list[Skin]:
    """Every skin of the file."""
    skins = []
    for i, record in enumerate(get_objects(file.document, "skins", "the file")):
        where = f"skin {i}"
        listed = [
            check_index(j, len(nodes), f"{where}: joint") for j in get_list(record, "joints", where)
        ]
        if not listed:
            raise RigError(f"{where} has no joints")
        if len(set(listed)) < len(listed):
            raise RigError(f"{where} lists a joint twice")
        has_binds = "inverseBindMatrices" in record
        binds = np.tile(np.eye(4), (len(listed), 1, 1))
        if has_binds:
            flat = file.accessor(record["inverseBindMatrices"], 16, f"{where}: bind matrices")
            if len(flat) < len(listed):
                raise RigError(f"{where} has {len(listed)} joints but {len(flat)} bind matrices")
            binds = flat[: len(listed)].reshape(-1, 4, 4).transpose(0, 2, 1).copy()
            # Exporters leave rounding errors in the last row, which must be 0 0 0 1.
            binds[:, 3] = (0.0, 0.0, 0.0, 1.0)
        skins.append(Skin(np.array(listed, np.int64), binds, has_binds))
    return skins


def bind_worlds(nodes: NodeTree, skins: list[Skin]) -> dict[int, FloatArray]:
    """world_from_joint (4, 4) in the bind pose, by node, standing where the file's root stands.

    Bind matrices place joints relative to the mesh. A joint already placed by a larger skin, or
    the skin's own topmost joint where its node is, ties them to the world.
    """
    placed: dict[int, FloatArray] = {}
    rank = {node: i for i, node in enumerate(nodes.order)}
    for skin in sorted(skins, key=lambda s: -len(s.joints)):
        if not skin.has_binds:
            continue
        rows = sorted(range(len(skin.joints)), key=lambda row: rank[int(skin.joints[row])])
        tie = next((row for row in rows if int(skin.joints[row]) in placed), rows[0])
        anchor = int(skin.joints[tie])
        world_from_mesh = nodes.worlds(placed)[anchor] @ skin.inverse_binds[tie]
        for row in rows:
            node = int(skin.joints[row])
            if node not in placed:
                rotation_of(skin.inverse_binds[row], nodes.label(node))
                placed[node] = world_from_mesh @ np.linalg.inv(skin.inverse_binds[row])
    return placed


def distance_from_bind(nodes: NodeTree, binds: dict[int, FloatArray]) -> tuple[float, float]:
    """How far the nodes stand from the bind pose: largest angle (deg), largest distance (share).

    The distance is a share of the skeleton's extent, so that a file's unit does not matter.
    """
    if not binds:
        return 0.0, 0.0
    worlds = nodes.worlds()
    angles, shifts = [], []
    for node, bind in binds.items():
        now, _, _ = rotation_of(worlds[node], nodes.label(node))
        then, _, _ = rotation_of(bind, nodes.label(node))
        cosine = (np.trace(now.T @ then) - 1.0) / 2.0
        angles.append(np.degrees(np.arccos(np.clip(cosine, -1.0, 1.0))))
        shifts.append(np.linalg.norm(worlds[node][:3, 3] - bind[:3, 3]))
    extent = np.ptp([bind[:3, 3] for bind in binds.values()], axis=0).max()
    return float(max(angles)), float(max(shifts) / max(extent, 1e-9))


def read_body(
    file: GltfFile, nodes: NodeTree, skins: list[Skin], worlds: FloatArray, joints: set[int]
) -> BodyMesh:
    """The meshes of the file in the pose `worlds`, as far as `joints` carry them."""
    meshes = get_objects(file.document, "meshes", "the file")
    weights = np.zeros(len(nodes))
    parts: list[tuple[FloatArray, IntArray, bool]] = []
    complete = True
    for node, record in enumerate(nodes.records):
        if "mesh" not in record:
            continue
        mesh = meshes[check_index(record["mesh"], len(meshes), f"node {node}: mesh")]
        skin = None
        if "skin" in record:
            skin = skins[check_index(record["skin"], len(skins), f"node {node}: skin")]
        carrier = next((n for n in [node, *nodes.ancestors(node)] if n in joints), None)
        if skin is None and carrier is None:
            continue  # scenery
        for primitive in get_objects(mesh, "primitives", "mesh"):
            if _DRACO in get_object(primitive, "extensions", "primitive"):
                complete = False
                continue
            points = _attribute(file, primitive, "POSITION", 3)
            if points is None or not len(points):
                continue
            influences = None if skin is None else _influences(file, primitive, skin, len(points))
            if skin is not None and influences is not None:
                rows, shares = influences
                np.add.at(weights, skin.joints[rows], shares)
                matrices = worlds[skin.joints] @ skin.inverse_binds
                parts.append(
                    (
                        _blend(matrices, rows, shares, points),
                        skin.joints[rows[np.arange(len(rows)), shares.argmax(axis=1)]],
                        True,
                    )
                )
            elif carrier is not None:
                weights[carrier] += len(points)
                placed = points @ worlds[node][:3, :3].T + worlds[node][:3, 3]
                parts.append((placed, np.full(len(points), carrier, np.int64), False))
    return BodyMesh(
        positions=np.concatenate([p for p, _, _ in parts]) if parts else np.zeros((0, 3)),
        carriers=np.concatenate([c for _, c, _ in parts]) if parts else np.zeros(0, np.int64),
        skinned=np.repeat([s for _, _, s in parts], [len(p) for p, _, _ in parts]).astype(np.bool_),
        weights=weights,
        complete=complete,
    )


def _attribute(file: GltfFile, primitive: Json, name: str, width: int) -> FloatArray | None:
    attributes = get_object(primitive, "attributes", "primitive")
    return file.accessor(attributes[name], width, name) if name in attributes else None


def _influences(
    file: GltfFile, primitive: Json, skin: Skin, count: int
) -> tuple[IntArray, FloatArray] | None:
    """Rows into the skin's joints and their shares, both (count, m), or None without weights."""
    rows, shares = [], []
    for i in range(4):  # four sets of four are more than any exporter writes
        joints = _attribute(file, primitive, f"JOINTS_{i}", 4)
        amounts = _attribute(file, primitive, f"WEIGHTS_{i}", 4)
        if joints is None or amounts is None:
            break
        if len(joints) != count or len(amounts) != count:
            raise RigError(f"a mesh has {count} vertices, but not as many joints and weights")
        rows.append(joints.astype(np.int64))
        shares.append(np.maximum(amounts, 0.0))
    if not rows:
        return None
    row, share = np.concatenate(rows, axis=1), np.concatenate(shares, axis=1)
    row = np.where(share > 0.0, row, 0)  # what an unused slot points at means nothing
    if row.min() < 0 or row.max() >= len(skin.joints):
        raise RigError(f"a vertex names joint {row.max()} of a skin with {len(skin.joints)}")
    total = share.sum(axis=1, keepdims=True)
    share = np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)
    share[total[:, 0] <= 0.0, 0] = 1.0  # a vertex without weights stays with the first joint
    return row, share


def _blend(
    matrices: FloatArray, rows: IntArray, shares: FloatArray, points: FloatArray
) -> FloatArray:
    """Linear blend skinning: world positions (v, 3)."""
    placed = np.zeros_like(points)
    for column in range(rows.shape[1]):
        used = np.flatnonzero(shares[:, column] > 0.0)
        chosen = matrices[rows[used, column], :3]
        moved = np.einsum("vij,vj->vi", chosen[:, :, :3], points[used]) + chosen[:, :, 3]
        placed[used] += shares[used, column, None] * moved
    return placed
