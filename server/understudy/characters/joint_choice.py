"""Which nodes of a glTF file become joints, and below which other joint each one hangs.

Files list more than the body: controls that move no vertex, ends that only mark a length, feet
that hang on the root because an IK rig moved them. What is changed is told in `notes`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from understudy.characters.gltf_nodes import NodeTree
from understudy.characters.skin import BodyMesh
from understudy.kinematics import FloatArray

_END = re.compile(r"(?:[_\-. ]end|nub)(?:[_\-. ](?:l|r|left|right))?(?:[_.]\d+)?$", re.IGNORECASE)
_FOOT = re.compile(r"foot|ankle", re.IGNORECASE)
_LEG = re.compile(r"leg|shin|calf|knee|tibia", re.IGNORECASE)
_CONTROL = re.compile(r"ik|ctrl|control|target|pole|roll|twist", re.IGNORECASE)
# A shin is about as long as its thigh; a foot further off, or nearer, is not at its end.
_SHIN_PER_THIGH = (0.4, 2.5)


@dataclass(frozen=True, slots=True, eq=False)
class JointChoice:
    """The joints by node number: parents (-1 for the root) and tips (3,) m in the world."""

    parents: dict[int, int]
    tips: dict[int, FloatArray]
    notes: tuple[str, ...]


def choose_joints(
    nodes: NodeTree,
    worlds: FloatArray,
    candidates: Collection[int],
    humanoid: Collection[int],
    body: BodyMesh,
) -> JointChoice:
    """One tree of joints out of the `candidates`; humanoid bones always stay."""
    notes: list[str] = []
    kept = _one_tree(nodes, set(candidates), humanoid, notes)
    if body.complete:
        kept = _without_controls(nodes, kept, humanoid, body, notes)
    ends = {
        node
        for node in kept
        if _END.search(nodes.names[node])
        and body.weights[node] == 0.0
        and node not in humanoid
        and nodes.parents[node] in kept
    }
    parents = _parents(nodes, kept, notes)
    _rehang_feet(nodes, worlds, parents, ends, notes)
    tips = _tips(nodes, worlds, parents, ends, body)
    return JointChoice(parents, tips, tuple(notes))


def _listed(nodes: NodeTree, chosen: Iterable[int]) -> str:
    names = [nodes.names[node] or f"node {node}" for node in sorted(chosen)]
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def _one_tree(
    nodes: NodeTree, candidates: set[int], humanoid: Collection[int], notes: list[str]
) -> set[int]:
    """The candidates of one file tree: the one with the humanoid, else with most joints."""
    trees: dict[int, set[int]] = {}
    for node in candidates:
        trees.setdefault([node, *nodes.ancestors(node)][-1], set()).add(node)
    best = max(trees.values(), key=lambda tree: (len(tree & set(humanoid)), len(tree)))
    if len(best) < len(candidates):
        notes.append(
            "joints of another skeleton in the file were left out: "
            + _listed(nodes, candidates - best)
        )
    return best


def _without_controls(
    nodes: NodeTree, kept: set[int], humanoid: Collection[int], body: BodyMesh, notes: list[str]
) -> set[int]:
    """Leave out joints that move no vertex, neither do those above and below them."""
    heavy = {node for node in kept if body.weights[node] > 0.0} | set(humanoid)
    if not heavy:
        return kept
    above_heavy = {ancestor for node in heavy for ancestor in nodes.ancestors(node)}
    # A weightless hand or toe below a body bone is still a hand or toe.
    useful = {
        node
        for node in kept
        if node in heavy or node in above_heavy or heavy.intersection(nodes.ancestors(node))
    }
    if len(useful) < len(kept):
        notes.append(
            f"{len(kept) - len(useful)} control bones that move no part of the body were left "
            f"out: {_listed(nodes, kept - useful)}"
        )
    return useful


def _parents(nodes: NodeTree, kept: set[int], notes: list[str]) -> dict[int, int]:
    """Every joint's nearest ancestor that is a joint; several tops get their common ancestor."""
    tops = [node for node in kept if not kept.intersection(nodes.ancestors(node))]
    if len(tops) > 1:
        shared = set.intersection(*(set(nodes.ancestors(node)) for node in tops))
        root = next(node for node in nodes.ancestors(tops[0]) if node in shared)
        kept = kept | {root}
        notes.append(
            f"{len(tops)} joints have no parent joint; node {nodes.label(root)} above them "
            "became the root"
        )
    parents: dict[int, int] = {}
    folded: set[int] = set()
    for node in nodes.order:
        if node not in kept:
            continue
        above = nodes.ancestors(node)
        steps = next((i for i, a in enumerate(above) if a in kept), None)
        parents[node] = -1 if steps is None else above[steps]
        folded.update(above[: steps or 0])
    if folded:
        notes.append(
            f"nodes between joints that are no joints were folded in: {_listed(nodes, folded)}"
        )
    return parents


def _rehang_feet(
    nodes: NodeTree, worlds: FloatArray, parents: dict[int, int], ends: set[int], notes: list[str]
) -> None:
    """Hang feet that are not below a leg on the shin that ends at them (exports of IK rigs)."""
    joints = [node for node in parents if node not in ends]
    inner = {parents[node] for node in joints}
    shins = [
        node
        for node in joints
        if node not in inner
        and parents[node] >= 0
        and _LEG.search(nodes.names[node])
        and not _CONTROL.search(nodes.names[node])
    ]
    places = worlds[:, :3, 3]
    for foot in joints:
        if not _FOOT.search(nodes.names[foot]) or _CONTROL.search(nodes.names[foot]):
            continue
        if any(
            _LEG.search(nodes.names[a]) or _FOOT.search(nodes.names[a])
            for a in nodes.ancestors(foot)
        ):
            continue
        if not shins:
            return
        shin = min(shins, key=lambda s: float(np.linalg.norm(places[s] - places[foot])))
        thigh_m = float(np.linalg.norm(places[shin] - places[parents[shin]]))
        shin_m = float(np.linalg.norm(places[foot] - places[shin]))
        low, high = _SHIN_PER_THIGH
        if low * thigh_m <= shin_m <= high * thigh_m:
            notes.append(
                f"{nodes.label(foot)} hangs on {nodes.label(parents[foot])} in the file; "
                f"re-hung below {nodes.label(shin)}"
            )
            parents[foot] = shin
            shins.remove(shin)


def _tips(
    nodes: NodeTree,
    worlds: FloatArray,
    parents: dict[int, int],
    ends: set[int],
    body: BodyMesh,
) -> dict[int, FloatArray]:
    """Ends of leaf bones; joints that only mark one leave `parents`."""
    tips: dict[int, FloatArray] = {}
    for end in ends:
        siblings = [node for node, parent in parents.items() if parent == parents[end]]
        if siblings == [end]:
            tips[parents.pop(end)] = worlds[end][:3, 3].copy()
    inner = set(parents.values())
    for leaf in parents:
        if leaf in inner or leaf in tips:
            continue
        marks = [
            node
            for node in range(len(nodes))
            if nodes.parents[node] == leaf and _END.search(nodes.names[node])
        ]
        tip = worlds[marks[0]][:3, 3] if marks else _mesh_tip(worlds[leaf][:3, 3], leaf, body)
        if tip is not None and np.linalg.norm(tip - worlds[leaf][:3, 3]) > 1e-6:
            tips[leaf] = tip.copy()
    return tips


def _mesh_tip(origin: FloatArray, leaf: int, body: BodyMesh) -> FloatArray | None:
    """How far the leaf's own skin reaches from it, towards its middle; props do not count."""
    own = body.positions[(body.carriers == leaf) & body.skinned] - origin
    if not len(own):
        return None
    # The middle of the box, not of the vertices: faces are modelled denser than skulls.
    middle = (own.min(axis=0) + own.max(axis=0)) / 2.0
    length = float(np.linalg.norm(middle))
    if length < 1e-6:
        return None
    direction = middle / length
    return np.asarray(origin + direction * float((own @ direction).max()))
