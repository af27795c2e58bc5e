"""Questions about a skeleton's hierarchy: depth, descent, common ancestors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from understudy.kinematics import IntArray


class Tree:
    """The hierarchy of n joints, given by their `parents` (n,), parents first, -1 for the root."""

    def __init__(self, parents: IntArray) -> None:
        self.parents = [int(parent) for parent in parents]
        self.children: list[list[int]] = [[] for _ in self.parents]
        self.depth: list[int] = []
        for joint, parent in enumerate(self.parents):
            self.depth.append(0 if parent < 0 else self.depth[parent] + 1)
            if parent >= 0:
                self.children[parent].append(joint)

    def is_above(self, upper: int, lower: int) -> bool:
        """Whether `lower` hangs somewhere below `upper` (a joint does not hang below itself)."""
        joint = self.parents[lower]
        while joint >= 0:
            if joint == upper:
                return True
            joint = self.parents[joint]
        return False

    def common_ancestor(self, joints: Iterable[int]) -> int:
        """The lowest joint that is an ancestor of, or the same as, each of `joints`."""
        common: int | None = None
        for joint in joints:
            if common is None:
                common = joint
                continue
            a, b = common, joint
            while a != b:
                if self.depth[a] >= self.depth[b]:
                    a = self.parents[a]
                else:
                    b = self.parents[b]
            common = a
        if common is None:
            raise ValueError("no joints were given")
        return common

    def between(self, upper: int, lower: int) -> list[int]:
        """The joints on the way down from `upper` (left out) to `lower` (included)."""
        path: list[int] = []
        joint = lower
        while joint != upper:
            path.append(joint)
            joint = self.parents[joint]
            if joint < 0:
                raise ValueError(f"joint {lower} does not hang below joint {upper}")
        return path[::-1]

    def below(self, joint: int) -> list[int]:
        """All joints that hang below `joint`, parents first."""
        found: list[int] = []
        open_ends = list(self.children[joint])
        while open_ends:
            found.append(open_ends.pop(0))
            open_ends.extend(self.children[found[-1]])
        return sorted(found)

    def highest(self, joints: Sequence[int]) -> int:
        """The joint nearest to the root; the first listed of several."""
        return min(joints, key=lambda joint: self.depth[joint])
