"""The motion of a BVH file as transforms, and the one moving position that a clip has room for.

A BVH joint turns by its rotation channels in the order written, from a rest pose without rotations.
Position channels replace the joint's OFFSET. A clip moves one position, the root's, so:

- Position channels of other joints that stand still give the bone its offset.
- If a joint that carries both legs moves in its parent (hips under a locomotion root), the lowest
  such joint is kept exact. A root with nothing else below it is merged into that joint and leaves
  the body; otherwise the root gives way so that this joint is where the file has it.
- What then still moves is dropped: the bone keeps its median offset.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.characters.bvh_parse import BvhJoint, BvhText
from understudy.characters.units import Limbs, find_limbs
from understudy.kinematics import FloatArray, IntArray
from understudy.kinematics.rotations import IDENTITY_XYZW, multiply, rotate

# Position channels that move less than this part of the body's size are rounding in the file.
_STILL = 1e-5


@dataclass(slots=True, eq=False)
class BvhBody:
    """A file's joints and motion in file units and axes; T frames of n joints.

    `translations` (T, n, 3) and `rotations` (T, n, 4) are parent_from_joint, the root's in the
    world; `offsets` (n, 3) are what the skeleton will have.
    """

    joints: list[BvhJoint]
    parents: IntArray
    offsets: FloatArray
    translations: FloatArray
    rotations: FloatArray

    def limbs(self) -> Limbs | None:
        """Legs and chest, if the body shows any."""
        tips = np.array([joint.tip or (0.0, 0.0, 0.0) for joint in self.joints])
        return find_limbs(self.parents, self.offsets, tips)


@dataclass(frozen=True, slots=True)
class Folding:
    """What became of moving positions: joints `merged` into the one below them, and the largest
    distance (file units) of a joint from where the file has it, zero with no joint if all fit.
    """

    merged: tuple[str, ...]
    residual: float
    residual_joint: str | None


def local_transforms(text: BvhText) -> BvhBody:
    """The channels as translations and quaternions of every joint in every frame."""
    frames, n = len(text.motion), len(text.joints)
    offsets = np.array([joint.offset for joint in text.joints], np.float64)
    translations = np.tile(offsets, (frames, 1, 1))
    rotations = np.tile(IDENTITY_XYZW, (frames, n, 1))
    orders: dict[str, list[int]] = {}
    columns: dict[str, list[list[int]]] = {}
    for number, joint in enumerate(text.joints):
        order, turned = "", []
        for column, channel in enumerate(joint.channels, joint.first_channel):
            if channel.endswith("position"):
                translations[:, number, "XYZ".index(channel[0])] = text.motion[:, column]
            else:
                order += channel[0]
                turned.append(column)
        orders.setdefault(order, []).append(number)
        columns.setdefault(order, []).append(turned)
    for order, numbers in orders.items():
        for place, axis in enumerate(order):
            half = np.radians(text.motion[:, [turned[place] for turned in columns[order]]]) / 2.0
            turn = np.zeros((frames, len(numbers), 4))
            turn[..., "XYZ".index(axis)] = np.sin(half)
            turn[..., 3] = np.cos(half)
            rotations[:, numbers] = multiply(rotations[:, numbers], turn)
    return BvhBody(
        joints=list(text.joints),
        parents=np.array([joint.parent for joint in text.joints], np.int64),
        offsets=offsets,
        translations=translations,
        rotations=rotations,
    )


def fold_translations(body: BvhBody) -> Folding:
    """Leave `body` with no moving position but the root's."""
    if not len(body.translations):
        return Folding((), 0.0, None)
    for number, joint in enumerate(body.joints):
        if number > 0 and any(channel.endswith("position") for channel in joint.channels):
            body.offsets[number] = np.median(body.translations[:, number], axis=0)
    extent = float(np.sum(np.linalg.norm(body.offsets[1:], axis=1)))
    movement = np.max(np.abs(body.translations[:, 1:] - body.offsets[1:]), axis=(0, 2), initial=0.0)
    moving = np.flatnonzero(movement > _STILL * extent) + 1
    if not len(moving):
        return Folding((), 0.0, None)
    wanted = world_positions(body.parents, body.translations, body.rotations)
    carriers = [joint for joint in _leg_carriers(body) if joint in moving]
    merged: tuple[str, ...] = ()
    if carriers and _unbranched_above(body.parents, carriers[-1]):
        top = carriers[-1]
        merged = tuple(joint.name for joint in body.joints[:top])
        wanted = wanted[:, top:]
        _cut_above(body, top, wanted[:, 0])
    body.translations[:, 1:] = body.offsets[1:]
    kept = world_positions(body.parents, body.translations, body.rotations)
    if carriers and not merged:
        shift = wanted[:, carriers[-1]] - kept[:, carriers[-1]]
        body.translations[:, 0] += shift
        kept += shift[:, None]
    off = np.max(np.linalg.norm(wanted - kept, axis=-1), axis=0)
    worst = int(np.argmax(off))
    if off[worst] <= _STILL * extent:
        return Folding(merged, 0.0, None)
    return Folding(merged, float(off[worst]), body.joints[worst].name)


def _leg_carriers(body: BvhBody) -> list[int]:
    """Joints below the root that both legs hang on, from the top; without legs the only child."""
    limbs = body.limbs()
    if limbs is None:
        return [1] if np.count_nonzero(body.parents == 0) == 1 else []
    left, right = (_ancestors(body.parents, ankle) for ankle in limbs.ankles)
    return [joint for joint in left[1:] if joint in right]


def _ancestors(parents: IntArray, joint: int) -> list[int]:
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(parents[joint])
    return chain[::-1]


def _unbranched_above(parents: IntArray, joint: int) -> bool:
    """Whether the root and every joint down to `joint` has a single child."""
    return all(np.count_nonzero(parents == above) == 1 for above in range(joint))


def _cut_above(body: BvhBody, top: int, positions: FloatArray) -> None:
    """Make joint `top`, below a single chain, the root; its world transform stays the same."""
    turned = body.rotations[:, 0]
    for joint in range(1, top + 1):
        turned = multiply(turned, body.rotations[:, joint])
    resting = np.sum(body.offsets[: top + 1], axis=0)
    body.joints = body.joints[top:]
    body.parents = np.maximum(body.parents[top:] - top, -1)
    body.offsets = body.offsets[top:].copy()
    body.offsets[0] = resting
    body.rotations = body.rotations[:, top:].copy()
    body.rotations[:, 0] = turned
    body.translations = body.translations[:, top:].copy()
    body.translations[:, 0] = positions


def world_positions(
    parents: IntArray, translations: FloatArray, rotations_xyzw: FloatArray
) -> FloatArray:
    """World positions (T, n, 3) of joints that may also move in their parents, (T, n, 3) each."""
    positions = translations.copy()
    turned = rotations_xyzw.copy()
    for joint in range(1, len(parents)):
        parent = parents[joint]
        positions[:, joint] = positions[:, parent] + rotate(
            turned[:, parent], translations[:, joint]
        )
        turned[:, joint] = multiply(turned[:, parent], rotations_xyzw[:, joint])
    return positions
