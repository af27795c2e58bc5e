"""Fingers by shape alone: the thumb is the shortest and begins first, the index is next to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Final

import numpy as np

from understudy.align.humanoid import finger_segments
from understudy.align.motion import MotionSample
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, Skeleton

# What the fingers beside the thumb are called, from its side outwards, by how many there are.
_BESIDE_THUMB: Final = {
    4: ("Index", "Middle", "Ring", "Little"),
    3: ("Index", "Middle", "Little"),
}
_SEGMENTS: Final = 3
_FEWEST_JOINTS: Final = 2


def finger_roles(
    skeleton: Skeleton, tree: Tree, side: str, hand: int, dropped: Collection[int]
) -> dict[str, int]:
    """The fingers of one hand (role -> joint); empty unless a thumb and three or more others show.

    `dropped` are joints that only mark the end of a bone.
    """
    rest = MotionSample.of_rest(skeleton)
    points = (rest.positions[0] - rest.positions[0, hand]) @ rest.rotations[0, hand]
    chains = _chains(tree, hand, dropped)
    names = _BESIDE_THUMB.get(len(chains) - 1)
    if names is None:
        return {}
    chains.sort(key=lambda chain: _reach(points, chain[-1]))
    thumb, others = chains[0], chains[1:]
    if any(_reach(points, chain[0]) <= _reach(points, thumb[0]) for chain in others):
        return {}  # the shortest does not begin first: no hand that could be read
    others = _from_the_thumb(points, thumb, others)
    found: dict[str, int] = {}
    for finger, chain in zip(("Thumb", *names), (thumb, *others), strict=True):
        for segment, joint in zip(finger_segments(finger), chain, strict=False):
            found[side + finger + segment] = joint
    return found


def _chains(tree: Tree, hand: int, dropped: Collection[int]) -> list[list[int]]:
    """The last three joints (two, if there are no more) of everything that ends below a hand."""
    kept = [joint for joint in tree.below(hand) if joint not in dropped]
    ends = [joint for joint in kept if not any(child in kept for child in tree.children[joint])]
    paths = [tree.between(hand, end) for end in ends]
    uses = Counter(joint for path in paths for joint in path)
    # What several fingers hang on lies in the palm.
    paths = [[joint for joint in path if uses[joint] == 1] for path in paths]
    shortest = min(map(len, paths), default=0)
    if shortest < _FEWEST_JOINTS:
        return []
    if shortest > _SEGMENTS:  # even the thumb has one more: all end in a tip's joint
        paths = [path[:-1] for path in paths]
    return [path[-_SEGMENTS:] for path in paths]


def _from_the_thumb(
    points: FloatArray, thumb: list[int], others: list[list[int]]
) -> list[list[int]]:
    """Fingers in the order of their knuckles, the thumb's neighbour first."""
    knuckles = points[[chain[0] for chain in others]]
    middle = knuckles.mean(axis=0)
    along = np.linalg.svd(knuckles - middle)[2][0]  # the row of knuckles
    if (points[thumb[-1]] - middle) @ along < 0.0:
        along = -along
    places = (knuckles - middle) @ along
    return [others[i] for i in np.argsort(-places, kind="stable")]


def _reach(points: FloatArray, joint: int) -> float:
    return float(np.linalg.norm(points[joint]))
