"""The human body in a skeleton by shape alone: branches that mirror each other, where they hang.

Nothing here reads a name. Legs and arms are pairs of branches with equal bones; hips and chest are
where they hang; which is left follows from where the toes point.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from understudy.align.finger_shape import finger_roles
from understudy.align.humanoid import mirrored
from understudy.align.motion import MotionSample
from understudy.align.tree import Tree
from understudy.kinematics import FloatArray, Skeleton

# Bones of a mirrored pair differ by less than this (log of their ratio).
_MIRROR: Final = 0.25
# Upper arms begin further apart than this part of an arm; clavicles do not.
_SHOULDERS_APART: Final = 0.3
# Upper legs begin apart; joints in the middle of the hips do not.
_HIPS_APART: Final = 0.05
# A foot turns off the shin by more than this.
_FOOT_TURN_RAD: Final = np.radians(35.0)
# A joint may be passed over only where the limb is this straight (distance over path).
_STRAIGHT: Final = 0.97
_PASSED_OVER: Final = 0.12
_NO_FOOT: Final = 0.3
# Knees and elbows straighten now and then; ankles hardly do.
_CROOKED: Final = 0.6
_CROOKED_FROM_RAD: Final = np.radians(20.0)
_SHORT_M: Final = 1e-5
_FRAMES: Final = 9


@dataclass(frozen=True, slots=True)
class ShapeRoles:
    """Roles (role -> joint) found by shape, how many frames agreed and how alike both sides are.

    `sides_known` is False where nothing but the side of the x axis says which is left. `standing`
    is False where no pose looked at has its legs anywhere below its trunk: such a rest pose is no
    posture and says little.
    """

    roles: dict[str, int]
    votes: dict[str, float]
    symmetry: float
    sides_known: bool
    standing: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two branches below `parent` that mirror each other, as chains of joints outwards."""

    parent: int
    chains: tuple[tuple[int, ...], tuple[int, ...]]
    length: float
    symmetry: float


def shape_roles(
    skeleton: Skeleton, motion: MotionSample | None = None, weights: FloatArray | None = None
) -> ShapeRoles | None:
    """Find a body by shape in the rest pose and a few frames of motion; None if there is none.

    `weights` (n,) is each joint's share of a mesh: a weightless leaf only marks a bone's end.
    """
    return _Shape(skeleton, motion, weights).find()


class _Shape:
    def __init__(
        self, skeleton: Skeleton, motion: MotionSample | None, weights: FloatArray | None
    ) -> None:
        self.skeleton = skeleton
        self.tree = Tree(skeleton.parents)
        rest = MotionSample.of_rest(skeleton)
        self.poses = list(rest.positions)
        self.moving = [] if motion is None else list(motion.thinned(_FRAMES).positions[:_FRAMES])
        self.frames = list(rest.rotations)
        if motion is not None:
            self.frames += list(motion.thinned(_FRAMES).rotations[:_FRAMES])
        self.poses += self.moving
        self.lengths = np.linalg.norm(skeleton.offsets, axis=1)
        self.lengths[0] = 0.0
        self.reach = self.lengths + np.where(
            skeleton.has_tip, np.linalg.norm(skeleton.tips, axis=1), 0.0
        )
        self.dropped = self._ends(weights)
        self.longest: list[tuple[float, tuple[int, ...]]] = [(0.0, ())] * len(skeleton)
        for joint in reversed(range(len(skeleton))):
            self.longest[joint] = self._longest_chain(joint)

    def _ends(self, weights: FloatArray | None) -> set[int]:
        """Leaves that carry no mesh although the joint above them does."""
        if weights is None or not np.any(weights > 0.0):
            return set()
        return {
            joint
            for joint, parent in enumerate(self.tree.parents)
            if not self.tree.children[joint] and weights[joint] == 0.0 and parent >= 0
            and weights[parent] > 0.0 and len(self.tree.children[parent]) == 1
        }  # fmt: skip

    def _longest_chain(self, joint: int) -> tuple[float, tuple[int, ...]]:
        """The longest way outwards that starts at a joint, and its length with the own offset."""
        best: tuple[float, tuple[int, ...]] = (0.0, ())
        for child in self.tree.children[joint]:
            if self.longest[child][0] > best[0]:
                best = self.longest[child]
        tip = float(np.linalg.norm(self.skeleton.tips[joint])) if best[0] == 0.0 else 0.0
        return float(self.lengths[joint]) + best[0] + tip, (joint, *best[1])

    # -- the whole body ------------------------------------------------------------------------

    def find(self) -> ShapeRoles | None:
        limbs = self._limbs()
        if limbs is None:
            return None
        legs, arms = limbs
        leg = self._vote(legs, foot=True)
        arm = self._vote(arms, foot=False)
        if leg is None or arm is None:
            return None
        leg_places, leg_share = leg
        arm_places, arm_share = arm
        left_leg, left_arm, sides_known = self._sides(legs, arms, leg_places, arm_places)
        roles: dict[str, int] = {}
        votes: dict[str, float] = {}
        for index, side in ((left_leg, "left"), (1 - left_leg, "right")):
            chain = legs.chains[index]
            found = dict(zip(("UpperLeg", "LowerLeg", "Foot"), leg_places, strict=True))
            if leg_places[2] + 1 < len(chain):
                found["Toes"] = leg_places[2] + 1
            for part, place in found.items():
                roles[side + part] = chain[place]
                votes[side + part] = leg_share
        for index, side in ((left_arm, "left"), (1 - left_arm, "right")):
            chain = arms.chains[index]
            found = dict(zip(("UpperArm", "LowerArm", "Hand"), arm_places, strict=True))
            if self._spreads(chain[arm_places[1]]):
                del found["Hand"]
            if arm_places[0] > 0:
                found["Shoulder"] = arm_places[0] - 1
            for part, place in found.items():
                roles[side + part] = chain[place]
                votes[side + part] = arm_share
        head = self._head(legs, arms)
        if head is not None:
            roles["head"] = head
            votes["head"] = 1.0
        fingers = self._fingers(roles)
        roles.update(fingers)
        votes.update(dict.fromkeys(fingers, arm_share))
        symmetry = min(legs.symmetry, arms.symmetry)
        return ShapeRoles(roles, votes, symmetry, sides_known, self._standing(legs, arms))

    def _fingers(self, roles: dict[str, int]) -> dict[str, int]:
        """The fingers of both hands, if both have the same."""
        if "leftHand" not in roles:
            return {}
        left, right = (
            finger_roles(self.skeleton, self.tree, side, roles[side + "Hand"], self.dropped)
            for side in ("left", "right")
        )
        return left | right if {mirrored(role) for role in left} == set(right) else {}

    def _standing(self, legs: _Pair, arms: _Pair) -> bool:
        for pose in self.poses:
            down = pose[legs.parent] - pose[arms.parent]
            if all(_unit(pose[c[-1]] - pose[c[0]]) @ _unit(down) > 0.5 for c in legs.chains):
                return True
        return False

    def _limbs(self) -> tuple[_Pair, _Pair] | None:
        """The two longest pairs of which one hangs on the trunk that rises from the other."""
        pairs = self._pairs()
        best: tuple[float, _Pair, _Pair] | None = None
        for legs in pairs:
            for arms in pairs:
                if not self.tree.is_above(legs.parent, arms.parent):
                    continue
                first = self.tree.between(legs.parent, arms.parent)[0]
                if any(first == chain[0] for chain in legs.chains):
                    continue
                score = (legs.length + arms.length) * legs.symmetry * arms.symmetry
                if best is None or score > best[0]:
                    best = (score, legs, arms)
        return None if best is None else (best[1], best[2])

    def _pairs(self) -> list[_Pair]:
        pairs = []
        for parent, children in enumerate(self.tree.children):
            for a, b in combinations(children, 2):
                alike = self._alike(self.longest[a][1], self.longest[b][1])
                if alike is not None and len(self.longest[a][1]) >= 3:
                    length = 0.5 * (self.longest[a][0] + self.longest[b][0])
                    pairs.append(
                        _Pair(parent, (self.longest[a][1], self.longest[b][1]), length, alike)
                    )
        return pairs

    def _alike(self, a: tuple[int, ...], b: tuple[int, ...]) -> float | None:
        """How alike two chains are, 1 for equal bones; None if they do not mirror each other."""
        if len(a) != len(b):
            return None
        first, second = self.lengths[list(a)], self.lengths[list(b)]
        total = float(first.sum() + second.sum())
        if total < _SHORT_M:
            return None
        # A bone counts by its length: the small ones of a hand may differ.
        off = float(np.abs(first - second).sum()) / total * 2.0
        return None if off > _MIRROR else 1.0 - off

    # -- one limb ------------------------------------------------------------------------------

    def _vote(self, pair: _Pair, foot: bool) -> tuple[tuple[int, int, int], float] | None:
        """The places of upper, lower and end bone in a pair's chains that most frames choose."""
        ballots: Counter[tuple[int, int, int]] = Counter()
        for pose, frames in zip(self.poses, self.frames, strict=True):
            choice = self._choose(pair, pose, frames, foot)
            if choice is not None:
                ballots[choice] += 1
        if not ballots:
            return None
        winner, count = ballots.most_common(1)[0]
        return winner, count / len(self.poses)

    def _choose(
        self, pair: _Pair, pose: FloatArray, frames: FloatArray, foot: bool
    ) -> tuple[int, int, int] | None:
        count = len(pair.chains[0])
        last = self._last_end(pair, foot)
        best: tuple[float, tuple[int, int, int]] | None = None
        for upper, lower, end in combinations(range(count), 3):
            if end > last and lower != last:
                continue
            scores = [
                self._score(chain, (upper, lower, end), pose, frames, foot) for chain in pair.chains
            ]
            if any(score is None for score in scores):
                continue
            apart = _HIPS_APART if foot else _SHOULDERS_APART
            if not self._starts_apart(pair, (upper, lower, end), pose, apart):
                continue
            score = sum(score for score in scores if score is not None)
            if best is None or score > best[0] + 1e-9:
                best = (score, (upper, lower, end))
        return None if best is None else best[1]

    def _last_end(self, pair: _Pair, foot: bool) -> int:
        """A hand is at the first joint from which several fingers spread, at the latest."""
        count = len(pair.chains[0])
        if foot:
            return count - 1
        for place in range(2, count):
            if all(len(self.tree.children[chain[place]]) > 1 for chain in pair.chains):
                return place
        return count - 1

    def _spreads(self, joint: int) -> bool:
        """Whether several branches of more than one joint begin at a joint: it has fingers."""
        return sum(bool(self.tree.children[child]) for child in self.tree.children[joint]) > 1

    def _score(
        self,
        chain: tuple[int, ...],
        places: tuple[int, int, int],
        pose: FloatArray,
        frames: FloatArray,
        foot: bool,
    ) -> float | None:
        upper, lower, end = places
        thigh = self._segment(chain, upper, lower, pose)
        shin = self._segment(chain, lower, end, pose)
        if thigh is None or shin is None:
            return None
        whole = float(self.lengths[list(chain)].sum())
        score = (thigh + shin) / whole
        # Without a joint at the wrist the lower bone reaches into the hand, and may well be longer.
        if foot or thigh > shin or not self._spreads(chain[lower]):
            score -= abs(np.log(thigh / shin))
        score -= _PASSED_OVER * (end - upper - 2)
        score -= _CROOKED * max(0.0, self._least_bend(chain, places) - _CROOKED_FROM_RAD)
        if foot:
            turn = self._foot_turn(chain, lower, end, pose, frames)
            if turn is None or turn < _FOOT_TURN_RAD:
                score -= _NO_FOOT
        return float(score)

    def _least_bend(self, chain: tuple[int, ...], places: tuple[int, int, int]) -> float:
        """The straightest any pose has the limb at its middle joint, rad."""
        upper, lower, end = (chain[place] for place in places)
        bends = []
        for pose in self.poses:
            near, far = pose[lower] - pose[upper], pose[end] - pose[lower]
            bends.append(float(np.arctan2(np.linalg.norm(np.cross(near, far)), near @ far)))
        return min(bends)

    def _segment(
        self, chain: tuple[int, ...], first: int, last: int, pose: FloatArray
    ) -> float | None:
        """The length of a straight piece of a chain; None if it is bent or has no length."""
        path = float(self.lengths[list(chain[first + 1 : last + 1])].sum())
        if path < _SHORT_M:
            return None
        direct = float(np.linalg.norm(pose[chain[last]] - pose[chain[first]]))
        return path if direct > _STRAIGHT * path else None

    def _foot_turn(
        self,
        chain: tuple[int, ...],
        lower: int,
        end: int,
        pose: FloatArray,
        frames: FloatArray,
    ) -> float | None:
        shin = pose[chain[end]] - pose[chain[lower]]
        sole = self._toe(chain, end, pose, frames) - pose[chain[end]]
        if np.linalg.norm(sole) < _SHORT_M:
            return None
        return float(np.arctan2(np.linalg.norm(np.cross(shin, sole)), shin @ sole))

    def _starts_apart(
        self, pair: _Pair, places: tuple[int, int, int], pose: FloatArray, apart: float
    ) -> bool:
        upper, _, end = places
        a, b = pair.chains
        limb = float(self.lengths[list(a[upper + 1 : end + 1])].sum())
        return bool(np.linalg.norm(pose[a[upper]] - pose[b[upper]]) > apart * limb)

    # -- sides and head ------------------------------------------------------------------------

    def _sides(
        self,
        legs: _Pair,
        arms: _Pair,
        leg_places: tuple[int, int, int],
        arm_places: tuple[int, int, int],
    ) -> tuple[int, int, bool]:
        """Which of each pair's chains is the left one, and whether anything but x told so."""
        toes = 0.0
        knees = 0.0
        arms_agree = 0.0
        x_side = 0.0
        for pose, frames in zip(self.poses, self.frames, strict=True):
            leg_line = pose[legs.chains[0][leg_places[0]]] - pose[legs.chains[1][leg_places[0]]]
            arm_line = pose[arms.chains[0][arm_places[0]]] - pose[arms.chains[1][arm_places[0]]]
            up = pose[arms.parent] - pose[legs.parent]
            for chain in legs.chains:
                hip, knee, ankle = (pose[chain[place]] for place in leg_places)
                ahead = self._toe(chain, leg_places[2], pose, frames) - ankle
                # Left is up x forward, up along the leg: a bent trunk would mislead.
                leg_up = hip - ankle
                toes += float(_unit(np.cross(leg_up, ahead)) @ _unit(leg_line))
                bend = _unit(knee - hip) + _unit(knee - ankle)
                knees += float(np.cross(leg_up, bend) @ leg_line / (leg_line @ leg_line + 1e-12))
            level = leg_line - up * (leg_line @ up) / max(float(up @ up), 1e-12)
            arms_agree += float(_unit(arm_line) @ _unit(level))
            x_side += leg_line[0]
        count = 2 * len(self.poses)
        known = True
        if abs(toes) > 0.2 * count:
            left_leg = 0 if toes > 0.0 else 1
        elif abs(knees) > 0.05 * count:
            left_leg = 0 if knees > 0.0 else 1
        else:
            left_leg, known = (0 if x_side > 0.0 else 1), False
        left_arm = left_leg if arms_agree > 0.0 else 1 - left_leg
        return left_leg, left_arm, known

    def _toe(
        self, chain: tuple[int, ...], end: int, pose: FloatArray, frames: FloatArray
    ) -> FloatArray:
        """The far end of the foot in the world (3,) m."""
        last = chain[-1]
        tip = pose[last] + frames[last] @ self.skeleton.tips[last]
        return np.asarray(tip if last != chain[end] or self.skeleton.has_tip[last] else pose[last])

    def _head(self, legs: _Pair, arms: _Pair) -> int | None:
        """The end of the branch that goes on where the trunk comes from."""
        starts = {chain[0] for chain in arms.chains}
        rests = self.poses[0]
        rise = rests[arms.parent] - rests[legs.parent]
        best: tuple[float, int] | None = None
        for child in self.tree.children[arms.parent]:
            if child in starts or child in self.dropped:
                continue
            head = child
            while len(self._kept(head)) == 1:
                head = self._kept(head)[0]
            tip = rests[head] + self.frames[0][head] @ self.skeleton.tips[head]
            height = float((tip - rests[arms.parent]) @ _unit(rise))
            if best is None or height > best[0] + 1e-9:
                best = (height, head)
        return None if best is None else best[1]

    def _kept(self, joint: int) -> list[int]:
        return [child for child in self.tree.children[joint] if child not in self.dropped]


def _unit(v: FloatArray) -> FloatArray:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-12))
