"""Which joint of a skeleton plays which part of a human body, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from understudy.align import confidence as trust
from understudy.align.humanoid import (
    ALL_ROLES,
    BODY_ROLES,
    FINGER_ROLES,
    REQUIRED_ROLES,
    SIDES,
    mirrored,
    side_of,
)
from understudy.align.motion import MotionSample
from understudy.align.named_roles import EXACT, NO_NAME, named_roles, reconsidered
from understudy.align.names import NameHint, read_names
from understudy.align.topology import ShapeRoles, shape_roles
from understudy.align.tree import Tree
from understudy.errors import UnderstudyError
from understudy.kinematics import FloatArray, Skeleton

# A trunk that rises by less than this, with hands about as low as feet, walks on all fours.
_LEAST_RISE_RAD = np.radians(30.0)
_HANDS_LOW = 0.35


class RoleError(UnderstudyError):
    """A role or joint name that cannot be used in a map."""


@dataclass(frozen=True, slots=True)
class RoleMap:
    """The body found in a skeleton.

    `roles` (VRM 1 humanoid role -> joint) with a `confidence` (0 to 1) for each; `spine`, the
    joints above the hips up to the one that carries the arms; `neck`, those above it and below
    the head; `problems` in plain words, each with a suggestion; `refused`, why this body cannot be
    used as it is, or None.
    """

    roles: dict[str, int]
    confidence: dict[str, float]
    spine: tuple[int, ...]
    neck: tuple[int, ...]
    problems: tuple[str, ...] = ()
    refused: str | None = None

    def joint(self, role: str) -> int:
        """The joint that plays `role`, or -1."""
        return self.roles.get(role, -1)


def find_roles(
    skeleton: Skeleton,
    *,
    humanoid: Mapping[str, str] | None = None,
    motion: MotionSample | None = None,
    weights: FloatArray | None = None,
) -> RoleMap:
    """Find the human body in a skeleton by names and by shape.

    `humanoid` (role -> joint name) is taken as given, as a VRM file or a user states it; what it
    leaves out is found. A few frames of `motion` show the shape of bodies whose rest pose is no
    posture. `weights` (n,) is each joint's share of a mesh.
    """
    return _Finder(skeleton, humanoid or {}, motion, weights).find()


class _Finder:
    def __init__(
        self,
        skeleton: Skeleton,
        humanoid: Mapping[str, str],
        motion: MotionSample | None,
        weights: FloatArray | None,
    ) -> None:
        self.skeleton = skeleton
        self.tree = Tree(skeleton.parents)
        self.hints = read_names(skeleton.names)
        self.given = _given_roles(skeleton, humanoid)
        self.motion = motion
        self.weights = weights
        self.roles: dict[str, int] = {}
        self.confidence: dict[str, float] = {}
        self.spine: list[int] = []
        self.neck: list[int] = []
        self.problems: list[str] = []

    def find(self) -> RoleMap:
        shape = shape_roles(self.skeleton, self.motion, self.weights)
        self._limbs(shape)
        self._trunk()
        self._doubt()
        asked = self._settle()
        return RoleMap(
            self.roles,
            self.confidence,
            tuple(self.spine),
            tuple(self.neck),
            tuple(self.problems),
            self._refusal(asked),
        )

    # -- who plays what ------------------------------------------------------------------------

    def _limbs(self, shape: ShapeRoles | None) -> None:
        """Limbs, head and fingers: what was given, else what names and shape say together."""
        named = named_roles(self.tree, self.hints)
        seen = {} if shape is None else shape.roles
        known = {**named.roles, **self.given}
        if any(seen.get(role, -1) != known[role] for role in FINGER_ROLES if role in known):
            # Names know more about fingers than shape does: it may only complete them.
            seen = {role: joint for role, joint in seen.items() if role in BODY_ROLES}
        backwards = _swapped_sides(named.roles, seen)
        if backwards:
            seen = {mirrored(role): joint for role, joint in seen.items()}
        named = reconsidered(named, self.hints, seen)
        taken = set(self.given.values())
        for role in ALL_ROLES:
            if role in self.given:
                self.roles[role], self.confidence[role] = self.given[role], 1.0
                continue
            joint, other = named.roles.get(role), seen.get(role)
            if joint is None and other is not None and self.hints[other].part is not None:
                other = None  # its name says that it is something else
            found = joint if joint is not None else other
            if found is None or found in taken:
                continue
            witness = 0.0  # of the shape
            if shape is not None and other is not None:
                witness = trust.shape_trust(shape, mirrored(role) if backwards else role)
            if joint is None:
                certainty = witness
            elif other is None:
                certainty = named.trust[role]
            elif joint == other:
                certainty = trust.agree(named.trust[role], witness)
            elif witness > named.trust[role]:
                found, certainty = other, trust.disagree(witness, named.trust[role])
            else:
                certainty = trust.disagree(named.trust[role], witness)
            if backwards and shape is not None and shape.sides_known and side_of(role):
                certainty = trust.swapped(certainty)
            self.roles[role], self.confidence[role] = found, certainty
            taken.add(found)
        if shape is not None and not shape.sides_known and not named.roles and not self.given:
            self.problems.append(
                "nothing shows which side is left: +X is taken to be; if that is wrong, name the "
                "joints in a profile"
            )
        if backwards and shape is not None and shape.sides_known:
            self.problems.append(
                "left and right look swapped: by their names this body's toes point backwards; "
                "check that the file is not mirrored, or swap the sides in a profile"
            )

    def _trunk(self) -> None:
        """Hips, spine and neck follow from where legs, arms and head hang."""
        legs = self._both("UpperLeg")
        arms = self._both("UpperArm")
        if legs is None or arms is None:
            return
        chest = self.tree.common_ancestor(arms)
        hips = self.given.get("hips", self.tree.common_ancestor(legs))
        if hips != chest and not self.tree.is_above(hips, chest):
            hips = self.tree.common_ancestor([hips, chest])
        self.spine = self.tree.between(hips, chest)
        head = self.roles.get("head")
        if head is not None and self.tree.is_above(chest, head):
            self.neck = self.tree.between(chest, head)[:-1]
        elif head is not None and "head" not in self.given:
            del self.roles["head"], self.confidence["head"]
        found = {"hips": hips}
        found.update(zip(("spine", "chest", "upperChest"), _three(self.spine), strict=False))
        if self.neck:
            found["neck"] = self.neck[0]
        limbs = min(
            self.confidence[side + part] for side in SIDES for part in ("UpperLeg", "UpperArm")
        )
        for role, joint in found.items():
            if role not in self.given:
                named = EXACT if _fits(role, self.hints[joint]) else NO_NAME
                self.roles[role] = joint
                self.confidence[role] = trust.from_trunk(named, limbs)

    def _both(self, part: str) -> list[int] | None:
        if all(side + part in self.roles for side in SIDES):
            return [self.roles[side + part] for side in SIDES]
        return None

    # -- how sure ------------------------------------------------------------------------------

    def _doubt(self) -> None:
        for role in list(self.roles):
            if role in self.given:
                continue
            factor, odd = trust.doubts(self.tree, self.skeleton, self.roles, role)
            self.confidence[role] *= factor
            if odd and self.confidence[role] < trust.ACCEPT and role in BODY_ROLES:
                self.problems.append(f"{role} ({self._name(role)}): {'; '.join(odd)}")

    def _settle(self) -> list[str]:
        """Warn of what is likely, and take back what is only a guess; return what to ask for."""
        asked: list[str] = []
        for role in [role for role in ALL_ROLES if role in self.roles]:
            certainty = self.confidence[role]
            if certainty < trust.WARN:
                asked.append(role)
                self.problems.append(
                    f"{role} is perhaps {self._name(role)} ({certainty:.0%} sure): "
                    f"name its joint in a profile"
                )
                if role not in REQUIRED_ROLES:
                    del self.roles[role], self.confidence[role]
            elif certainty < trust.ACCEPT and role in BODY_ROLES:
                self.problems.append(
                    f"{role} is taken to be {self._name(role)} ({certainty:.0%} sure): "
                    f"if that is wrong, name its joint in a profile"
                )
        return asked

    def _name(self, role: str) -> str:
        return repr(self.skeleton.names[self.roles[role]])

    def _refusal(self, asked: Iterable[str]) -> str | None:
        missing = [role for role in REQUIRED_ROLES if role not in self.roles]
        if missing:
            return f"no joint found for {', '.join(missing)}; name them in a profile"
        unsure = [role for role in asked if role in REQUIRED_ROLES]
        if unsure:
            guesses = ", ".join(f"{role} (perhaps {self._name(role)})" for role in unsure)
            return f"not sure which joint is {guesses}; name them in a profile"
        if not self.given and self._on_all_fours():
            return (
                "its trunk lies level and its hands are as low as its feet: "
                "this looks like a four-legged animal, not a humanoid"
            )
        return None

    def _on_all_fours(self) -> bool:
        """Whether the rest pose and most frames have a level trunk on four feet."""
        samples = list(MotionSample.of_rest(self.skeleton).positions)
        if self.motion is not None:
            samples.extend(self.motion.thinned(9).positions)
        ends = [self.roles.get(side + "Hand", self.roles[side + "LowerArm"]) for side in SIDES]
        feet = [self.roles[side + "Foot"] for side in SIDES]
        knees = [self.roles[side + "LowerLeg"] for side in SIDES]
        level: list[bool] = []
        for points in samples:
            trunk = points[self.spine[-1]] - points[self.roles["hips"]]
            rise = np.arctan2(trunk[1], np.hypot(trunk[0], trunk[2]))
            leg = float(np.linalg.norm(points[feet] - points[knees], axis=1).sum())
            low = float(points[ends, 1].mean() - points[feet, 1].mean()) < _HANDS_LOW * leg
            level.append(bool(rise < _LEAST_RISE_RAD and low))
        # A person may crawl through a whole clip, but stands in the rest pose.
        return level[0] and sum(level) > 0.5 * len(level)


def _given_roles(skeleton: Skeleton, humanoid: Mapping[str, str]) -> dict[str, int]:
    given: dict[str, int] = {}
    for role, name in _vrm1(humanoid).items():
        if role not in ALL_ROLES:
            continue  # eyes and jaw are no part of the body's posture
        if name not in skeleton:
            raise RoleError(
                f"role {role!r}: no joint {name!r}; the skeleton has {', '.join(skeleton.names)}"
            )
        given[role] = skeleton.index(name)
    return given


def _vrm1(humanoid: Mapping[str, str]) -> dict[str, str]:
    """VRM 0 calls a thumb's bones proximal, intermediate, distal; VRM 1 starts at metacarpal."""
    renamed = dict(humanoid)
    for side in SIDES:
        if side + "ThumbIntermediate" in humanoid:
            if side + "ThumbProximal" in humanoid:
                renamed[side + "ThumbMetacarpal"] = humanoid[side + "ThumbProximal"]
            renamed[side + "ThumbProximal"] = renamed.pop(side + "ThumbIntermediate")
    return renamed


def _swapped_sides(named: Mapping[str, int], seen: Mapping[str, int]) -> bool:
    """Whether shape has most limbs on the other side than their names."""
    same = sum(1 for role, joint in seen.items() if side_of(role) and named.get(role) == joint)
    other = sum(
        1 for role, joint in seen.items() if side_of(role) and named.get(mirrored(role)) == joint
    )
    return other > same


def _three(chain: list[int]) -> list[int]:
    """The first, the middle and the last joint of a longer chain."""
    if len(chain) <= 3:
        return chain
    return [chain[0], chain[len(chain) // 2], chain[-1]]


def _fits(role: str, hint: NameHint) -> bool:
    if role == "hips":
        return hint.part == "hips"
    return hint.part == ("neck" if role == "neck" else "trunk")
