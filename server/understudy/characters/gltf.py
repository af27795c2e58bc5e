"""Characters from glTF 2, GLB and VRM files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from understudy.characters.gltf_file import GltfFile
from understudy.characters.gltf_nodes import NodeTree, rotation_of
from understudy.characters.joint_choice import JointChoice, choose_joints
from understudy.characters.rig import Rig, RigError
from understudy.characters.skin import (
    BIND_ANGLE_DEG,
    BIND_DISTANCE,
    BodyMesh,
    Skin,
    bind_worlds,
    distance_from_bind,
    read_body,
    read_skins,
)
from understudy.characters.vrm import Humanoid, read_humanoid
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Joint, Skeleton, rotations

PLAUSIBLE_HEIGHT_M = (0.3, 3.5)
# A body mesh must come this near to the lowest joint, or it is not the one that stands on the
# floor: a share of the skeleton's height.
_FLOOR_REACH = 0.05
_SHEAR_TOLD = 0.01
_HALF_TURN = np.diag([-1.0, 1.0, -1.0, 1.0])


def load_rig(path: Path | str) -> Rig:
    """Read a character from a .glb, .gltf or .vrm file; RigError says why it cannot be used."""
    path = Path(path)
    try:
        return _load(path)
    except UnderstudyError as error:
        raise RigError(f"{path.name}: {error}") from None


def _load(path: Path) -> Rig:
    file = GltfFile.read(path)
    nodes = NodeTree.read(file)
    humanoid = read_humanoid(file, nodes)
    skins = read_skins(file, nodes)
    candidates = {int(joint) for skin in skins for joint in skin.joints}
    candidates.update(humanoid.nodes.values())
    if not candidates:
        raise RigError("no skin and no VRM humanoid: nothing says which nodes are joints")
    notes = list(humanoid.notes)
    worlds = _rest_worlds(nodes, skins, humanoid, notes)
    body = read_body(file, nodes, skins, worlds, candidates)
    if not body.complete:
        notes.append("a mesh is Draco-compressed and was not read: no joint was dropped for it")
    choice = choose_joints(nodes, worlds, candidates, humanoid.nodes.values(), body)
    notes.extend(choice.notes)
    names = _unique_names(nodes, choice.parents, notes)
    skeleton = Skeleton.build(_joints(nodes, worlds, choice, names, notes))
    node_of = {name: node for node, name in names.items()}
    weights = np.array([body.weights[node_of[name]] for name in skeleton.names])
    weights /= max(weights.sum(), 1.0)
    weights.setflags(write=False)
    floor_m, height_m = _floor_and_height(body, worlds[list(choice.parents), 1, 3])
    low, high = PLAUSIBLE_HEIGHT_M
    if not low <= height_m <= high:
        notes.append(
            f"{height_m:.3g} m tall, which is unusual; lengths are kept, as glTF counts in metres"
        )
    return Rig(
        name=path.stem,
        format=humanoid.format,
        skeleton=skeleton,
        humanoid={role: names[node] for role, node in humanoid.nodes.items() if node in names},
        weights=weights,
        floor_m=floor_m,
        height_m=height_m,
        turned=humanoid.faces_back,
        notes=tuple(notes),
    )


def _rest_worlds(
    nodes: NodeTree, skins: list[Skin], humanoid: Humanoid, notes: list[str]
) -> FloatArray:
    """world_from_node (n, 4, 4) at rest, facing +Z."""
    if len(skins) > 1:
        notes.append(f"{len(skins)} skins share one skeleton; merged")
    binds = bind_worlds(nodes, skins)
    angle_deg, distance = distance_from_bind(nodes, binds)
    if angle_deg < BIND_ANGLE_DEG and distance < BIND_DISTANCE:
        worlds = nodes.worlds()
    elif humanoid.nodes:
        # VRM defines its T-pose by the nodes, whatever pose the mesh was bound in.
        notes.append(f"bound to its mesh {angle_deg:.0f} degrees off the T-pose; T-pose used")
        worlds = nodes.worlds()
    else:
        notes.append(
            f"the nodes hold a pose up to {angle_deg:.0f} degrees off the one the mesh was bound "
            "in; the bind pose is the rest pose"
        )
        worlds = nodes.worlds(binds)
    if humanoid.faces_back:
        notes.append("VRM 0 characters face -Z; turned to face +Z")
        worlds = _HALF_TURN @ worlds
    return worlds


def _joints(
    nodes: NodeTree,
    worlds: FloatArray,
    choice: JointChoice,
    names: dict[int, str],
    notes: list[str],
) -> Iterable[Joint]:
    """The joints in their parents' frames; every scale ends up in the offsets."""
    frames = {node: rotation_of(worlds[node], nodes.label(node)) for node in choice.parents}
    scales = [scale for _, scale, _ in frames.values()]
    if max(abs(scale - 1.0) for scale in scales) > 1e-3:
        span = f"{min(scales):.4g}" + (
            f" to {max(scales):.4g}" if max(scales) > 1.001 * min(scales) else ""
        )
        notes.append(f"node scale {span} was folded into the bone lengths")
    sheared = [node for node, (_, _, shear) in frames.items() if shear > _SHEAR_TOLD]
    if sheared:
        notes.append(
            f"unequal scales shear {len(sheared)} joints, first {nodes.label(sheared[0])}; "
            "their positions are exact, their axes the nearest right-angled ones"
        )
    joints = []
    for node, parent in choice.parents.items():
        position, rotation = worlds[node][:3, 3], frames[node][0]
        tip = choice.tips.get(node)
        above = frames[parent][0] if parent >= 0 else np.eye(3)
        origin = worlds[parent][:3, 3] if parent >= 0 else np.zeros(3)
        joints.append(
            Joint(
                name=names[node],
                parent=names[parent] if parent >= 0 else None,
                offset=above.T @ (position - origin),
                rest_xyzw=rotations.from_matrix(above.T @ rotation),
                tip=None if tip is None else rotation.T @ (tip - position),
            )
        )
    return joints


def _unique_names(nodes: NodeTree, joints: Iterable[int], notes: list[str]) -> dict[int, str]:
    """A name for every joint; the second of a name becomes `name#2`."""
    names: dict[int, str] = {}
    taken: set[str] = set()
    numbered: list[str] = []
    for node in joints:
        plain = nodes.names[node] or f"node{node}"
        name, count = plain, 1
        while name in taken:
            count += 1
            name = f"{plain}#{count}"
        if count > 1:
            numbered.append(name)
        taken.add(name)
        names[node] = name
    if numbered:
        notes.append(f"joints that share a name were numbered: {', '.join(numbered)}")
    return names


def _floor_and_height(body: BodyMesh, joint_heights: FloatArray) -> tuple[float, float]:
    """Height of the floor and of the body above it (m).

    Skinned vertices count first: what merely hangs on a joint may be a sword below the floor.
    """
    low, high = float(joint_heights.min()), float(joint_heights.max())
    for chosen in (body.positions[body.skinned], body.positions):
        if len(chosen) and chosen[:, 1].min() <= low + _FLOOR_REACH * (high - low):
            floor_m = float(chosen[:, 1].min())
            return floor_m, max(float(chosen[:, 1].max()), high) - floor_m
    return 0.0, high
