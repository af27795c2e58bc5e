"""VMC messages, written out by hand for tests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from understudy_protocol.osc.bones import BONE_NAMES, BONE_PARENTS
from understudy_protocol.osc.packet import write_message

IDENTITY = (0.0, 0.0, 0.0, 1.0)


def bone(
    name: str, position: Sequence[float] = (0, 0.1, 0), rotation: Sequence[float] = IDENTITY
) -> bytes:
    """A bone message, position and rotation as they are on the wire."""
    return write_message("/VMC/Ext/Bone/Pos", "sfffffff", name, *position, *rotation)


def bones(names: Iterable[str] = BONE_NAMES, height: float = 0.1) -> list[bytes]:
    """One message for each bone, `height` metres above its parent."""
    return [bone(name, (0, height, 0)) for name in names]


def root(
    position: Sequence[float] = (0, 0, 0),
    rotation: Sequence[float] = IDENTITY,
    extra: Sequence[float] = (),
) -> bytes:
    """The model's root with 8 arguments, or with 14 if six are given as `extra`."""
    numbers = (*position, *rotation, *extra)
    return write_message("/VMC/Ext/Root/Pos", "s" + "f" * len(numbers), "root", *numbers)


def time(seconds: float) -> bytes:
    """The sender's clock."""
    return write_message("/VMC/Ext/T", "f", seconds)


def status(*states: int) -> bytes:
    """The sender's state."""
    return write_message("/VMC/Ext/OK", "i" * len(states), *states)


def blend(name: str, value: float) -> bytes:
    """A blendshape's value."""
    return write_message("/VMC/Ext/Blend/Val", "sf", name, value)


APPLY = write_message("/VMC/Ext/Blend/Apply", "")


def parents_first(names: Iterable[str] = BONE_NAMES) -> list[str]:
    """The names in an order that puts Hips first and parents before children."""

    def depth(name: str) -> int:
        bone, levels = BONE_NAMES.index(name), 0
        while BONE_PARENTS[bone] >= 0:
            bone, levels = BONE_PARENTS[bone], levels + 1
        return levels

    return sorted(names, key=depth)
