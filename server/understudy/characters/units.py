"""How large a file's unit is and which way its up axis points, judged from the body itself.

Neither is written in a BVH file. Both follow from the legs, which are found by shape alone: the
pair of mirrored limbs nearest the root. Arms are the other large pair; they mark the chest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

import numpy as np

from understudy.kinematics import FloatArray, IntArray
from understudy.kinematics.rotations import between

Axis = Literal["x", "y", "z", "-x", "-y", "-z"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)

# The usual ones first: of two that fit about as well, the earlier is taken.
UNITS_M: Final = {
    "cm": 0.01,
    "m": 1.0,
    "mm": 0.001,
    "inch": 0.0254,
    "foot": 0.3048,
    "CMU (2.54/0.45 cm)": 0.0254 / 0.45,
}

TYPICAL_LEG_M: Final = 0.83  # hip to ankle along thigh and shin
_LEG_OF_HEIGHT: Final = 0.47
_CLEAR_LOG_MARGIN: Final = 0.25
_CLEAR_UP_COSINE: Final = 0.8
# From feet to chest, in legs: less is no standing rest pose, or no upright frame at all.
_STANDING_LEGS: Final = 0.9
_RISEN_LEGS: Final = 0.1
_MIRROR_TOLERANCE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Limbs:
    """What a body shows of itself without names: `leg` is thigh plus shin in file units."""

    leg: float
    ankles: tuple[int, int]
    chest: int


@dataclass(frozen=True, slots=True)
class UnitDecision:
    """Metres per file unit; `clear` is False where the body leaves it open, `why` says how."""

    unit_m: float
    name: str
    clear: bool
    why: str


@dataclass(frozen=True, slots=True)
class UpDecision:
    """The file's axis that points up; `clear` and `why` as in UnitDecision."""

    axis: Axis
    clear: bool
    why: str


def find_limbs(parents: IntArray, offsets: FloatArray, tips: FloatArray) -> Limbs | None:
    """Legs and chest of a body (offsets and tips (n, 3) in file units), or None without a pair."""
    n = len(parents)
    children: list[list[int]] = [[] for _ in range(n)]
    depth = [0] * n
    for joint in range(1, n):
        children[parents[joint]].append(joint)
        depth[joint] = depth[parents[joint]] + 1
    lengths = np.linalg.norm(offsets, axis=1)
    reach = np.linalg.norm(tips, axis=1)  # longest way from the joint to the end of its limb
    size = np.ones(n, np.int64)
    for joint in range(n - 1, 0, -1):
        parent = parents[joint]
        reach[parent] = max(reach[parent], lengths[joint] + reach[joint])
        size[parent] += size[joint]
    pairs = [
        (left, right)
        for siblings in children
        for at, left in enumerate(siblings)
        for right in siblings[at + 1 :]
        if size[left] == size[right]
        and reach[left] > 0.0
        and abs(reach[left] - reach[right]) <= _MIRROR_TOLERANCE * reach[left]
    ]
    if not pairs:
        return None
    legs = min(pairs, key=lambda pair: (depth[pair[0]], -reach[pair[0]]))
    bones = [_thigh_and_shin(leg, children, lengths, reach) for leg in legs]
    if any(length <= 0.0 for length, _ in bones):
        return None
    hips = int(parents[legs[0]])
    arms = max(
        (pair for pair in pairs if parents[pair[0]] != hips and not _below(parents, pair[0], legs)),
        key=lambda pair: float(reach[pair[0]]),
        default=None,
    )
    return Limbs(
        leg=0.5 * (bones[0][0] + bones[1][0]),
        ankles=(bones[0][1], bones[1][1]),
        chest=hips if arms is None else int(parents[arms[0]]),
    )


def decide_unit(limbs: Limbs | None, height: float) -> UnitDecision:
    """The unit that makes the legs human; `height` (file units) stands in for legs not found."""
    if limbs is not None:
        leg, measured = limbs.leg, "thigh and shin are"
    else:
        leg, measured = _LEG_OF_HEIGHT * height, "no legs found, by the height they would be"
    if not leg > 1e-6:
        return UnitDecision(0.01, "cm", False, "a body without extent; cm taken")
    misfit = {name: abs(math.log(leg * unit / TYPICAL_LEG_M)) for name, unit in UNITS_M.items()}
    best = min(misfit.values())
    close = [name for name in UNITS_M if misfit[name] < best + _CLEAR_LOG_MARGIN]
    taken = close[0]
    why = f"{measured} " + " or ".join(f"{leg * UNITS_M[name]:.2f} m in {name}" for name in close)
    if len(close) > 1:
        why = f"not clear: {why}; {taken} taken"
    return UnitDecision(UNITS_M[taken], taken, len(close) == 1 and limbs is not None, why)


def decide_up(limbs: Limbs | None, positions: FloatArray, *, at_rest: bool) -> UpDecision:
    """The axis nearest to the mean way from feet to chest over positions (T, n, 3).

    A rest pose must also stand: some fold every bone along one axis and say nothing about up.
    """
    seen_in = "the rest pose" if at_rest else f"the mean of {len(positions)} frames"
    if limbs is None:
        return UpDecision("y", False, "no legs found")
    feet = 0.5 * (positions[:, limbs.ankles[0]] + positions[:, limbs.ankles[1]])
    rise = np.mean(positions[:, limbs.chest] - feet, axis=0)
    length = float(np.linalg.norm(rise))
    if not length > (_STANDING_LEGS if at_rest else _RISEN_LEGS) * limbs.leg:
        return UpDecision("y", False, f"feet and chest are close to each other in {seen_in}")
    cosine = rise / length
    main = int(np.argmax(np.abs(cosine)))
    axis = AXES[main] if cosine[main] > 0.0 else AXES[main + 3]
    lean = math.degrees(math.acos(min(1.0, abs(float(cosine[main])))))
    why = f"feet to chest leans {lean:.0f} degrees from {axis} in {seen_in}"
    if abs(cosine[main]) < _CLEAR_UP_COSINE:
        return UpDecision("y", False, f"not clear: {why}")
    return UpDecision(axis, True, why)


def y_up_from(axis: Axis) -> FloatArray:
    """The turn (xyzw) of the world that brings a file's up axis to +Y; z to y turns about x."""
    up = np.zeros(3)
    up[AXES.index(axis) % 3] = -1.0 if axis.startswith("-") else 1.0
    if axis == "-y":
        return np.array([1.0, 0.0, 0.0, 0.0])
    return between(up, np.array([0.0, 1.0, 0.0]))


def _below(parents: IntArray, joint: int, tops: tuple[int, int]) -> bool:
    while joint >= 0:
        if joint in tops:
            return True
        joint = int(parents[joint])
    return False


def _thigh_and_shin(
    top: int, children: list[list[int]], lengths: FloatArray, reach: FloatArray
) -> tuple[float, int]:
    """The two longest bones in a row down a limb, summed, and the joint they end at."""
    chain = [top]
    while children[chain[-1]]:
        chain.append(max(children[chain[-1]], key=lambda joint: lengths[joint] + reach[joint]))
    if len(chain) < 3:
        return float(reach[top]), chain[-1]
    sums = [lengths[a] + lengths[b] for a, b in pairwise(chain[1:])]
    longest = int(np.argmax(sums))
    return float(sums[longest]), chain[longest + 2]
