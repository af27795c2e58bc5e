"""Human defaults where a character's file says nothing: ranges of joints, masses of segments.

Ranges are those of healthy adults as goniometry tables give them (AAOS, Joint Motion: Method of
Measuring and Recording; Kapandji, The Physiology of the Joints), rounded to five degrees and
spread over the joints an avatar has. They keep a solver out of the impossible; they do not judge
a gymnast. Knees and elbows are no pure hinges: both give a little sideways and the shin and
forearm twist.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np

from understudy.kinematics import FloatArray

Axis = tuple[float, float, float]
Degrees = tuple[float, float]

# Canonical T-pose: the character's left is +X, up +Y, forward +Z; palms face down.
_LEFT: Final = (1.0, 0.0, 0.0)
_RIGHT: Final = (-1.0, 0.0, 0.0)
_UP: Final = (0.0, 1.0, 0.0)
_DOWN: Final = (0.0, -1.0, 0.0)
_FORWARD: Final = (0.0, 0.0, 1.0)
_BACK: Final = (0.0, 0.0, -1.0)


@dataclass(frozen=True, slots=True, eq=False)
class JointRange:
    """How far a joint may turn from the T-pose.

    The rows of `axes` (3, 3) are the axes of flexion, of sideways motion and of twist, a
    right-handed frame in the canonical T-pose. With the joint's turn written as swing times
    twist, `low_rad` and `high_rad` (3,) bound the swing about the first two axes and the twist
    about the third.
    """

    axes: FloatArray
    low_rad: FloatArray
    high_rad: FloatArray


@dataclass(frozen=True, slots=True)
class _Motions:
    """Axes and ranges as anatomy names them, for the left side or the middle of the body.

    Positive angles, right-handed about the axis, are: flexion; abduction; inward twist.
    """

    flexion_axis: Axis
    flexion_deg: Degrees
    abduction_axis: Axis
    abduction_deg: Degrees
    twist_axis: Axis
    twist_deg: Degrees


def _trunk(flexion: Degrees, side: float, twist: float) -> _Motions:
    """Forward is flexion; bending and turning are alike to both sides."""
    return _Motions(_LEFT, flexion, _BACK, (-side, side), _UP, (-twist, twist))


def _finger(flexion: Degrees, spread: float, twist: float) -> _Motions:
    """Towards the palm is flexion, towards the thumb abduction."""
    return _Motions(_BACK, flexion, _DOWN, (-spread, spread), _LEFT, (-twist, twist))


def _thumb(flexion: Degrees, spread: float, twist: float) -> _Motions:
    """The thumb points half forward, half outward, and bends towards the fingers."""
    half = float(np.sqrt(0.5))
    along = (half, 0.0, half)
    across = (half, 0.0, -half)
    return _Motions(_UP, flexion, across, (-spread, spread), along, (-twist, twist))


_MIDDLE: Final[dict[str, _Motions]] = {
    "spine": _trunk((-20, 45), 25, 15),
    "chest": _trunk((-15, 30), 20, 25),
    "upperChest": _trunk((-15, 20), 15, 20),
    "neck": _trunk((-30, 30), 25, 40),
    "head": _trunk((-35, 30), 25, 45),
    "jaw": _Motions(_LEFT, (-5, 35), _UP, (-10, 10), _FORWARD, (-5, 5)),
}
_SIDE: Final[dict[str, _Motions]] = {
    "Eye": _Motions(_LEFT, (-30, 35), _UP, (-40, 40), _FORWARD, (-10, 10)),
    # Flexion brings the arm forward, abduction lifts it; both count from the T-pose, so an arm
    # at the side is at -90 and one above the head at +90. The clavicle does the same in small.
    "Shoulder": _Motions(_DOWN, (-25, 30), _FORWARD, (-15, 40), _LEFT, (-30, 30)),
    "UpperArm": _Motions(_DOWN, (-45, 135), _FORWARD, (-105, 90), _LEFT, (-90, 90)),
    # Pronation is the inward twist. Thumbs forward, as in the T-pose, is its middle.
    "LowerArm": _Motions(_DOWN, (-5, 150), _FORWARD, (-10, 10), _LEFT, (-85, 85)),
    # Flexion is towards the palm, abduction towards the thumb; captured wrists take part of the
    # forearm's twist.
    "Hand": _Motions(_BACK, (-70, 80), _DOWN, (-35, 25), _LEFT, (-60, 60)),
    "UpperLeg": _Motions(_RIGHT, (-30, 125), _FORWARD, (-30, 50), _DOWN, (-50, 45)),
    "LowerLeg": _Motions(_LEFT, (-5, 150), _FORWARD, (-8, 8), _DOWN, (-30, 20)),
    # Flexion lifts the toes, abduction turns them out, the inward twist is inversion.
    "Foot": _Motions(_RIGHT, (-50, 30), _UP, (-20, 20), _BACK, (-20, 35)),
    "Toes": _Motions(_RIGHT, (-40, 70), _UP, (-10, 10), _BACK, (-10, 10)),
    "ThumbMetacarpal": _thumb((-25, 45), 40, 30),
    "ThumbProximal": _thumb((-10, 60), 15, 10),
    "ThumbDistal": _thumb((-20, 85), 5, 5),
    **{
        f"{finger}{part}": _finger(*ranges)
        for finger in ("Index", "Middle", "Ring", "Little")
        for part, ranges in (
            ("Proximal", ((-35.0, 90.0), 25.0, 15.0)),
            ("Intermediate", ((-5.0, 110.0), 5.0, 5.0)),
            ("Distal", ((-10.0, 85.0), 5.0, 5.0)),
        )
    },
}

# Shares of the body's mass: means of the women and men of de Leva, Adjustments to
# Zatsiorsky-Seluyanov's segment inertia parameters, J. Biomechanics 29 (1996), rounded. The
# trunk's three parts are hips, spine and chest; neck and toes are split off head and foot.
_MASS: Final[dict[str, float]] = {
    "hips": 0.118,
    "spine": 0.155,
    "chest": 0.077,
    "upperChest": 0.080,
    "neck": 0.012,
    "head": 0.056,
}
_SIDE_MASS: Final[dict[str, float]] = {
    "UpperArm": 0.026,
    "LowerArm": 0.015,
    "Hand": 0.006,
    "UpperLeg": 0.145,
    "LowerLeg": 0.046,
    "Foot": 0.011,
    "Toes": 0.002,
}
_ABOVE: Final[dict[str, str]] = {
    "spine": "hips",
    "chest": "spine",
    "upperChest": "chest",
    "neck": "upperChest",
    "head": "neck",
    "UpperArm": "upperChest",
    "LowerArm": "UpperArm",
    "Hand": "LowerArm",
    "UpperLeg": "hips",
    "LowerLeg": "UpperLeg",
    "Foot": "LowerLeg",
    "Toes": "Foot",
}


def joint_range(role: str) -> JointRange | None:
    """The default range of a VRM 1 role; None where there is none, as for the hips."""
    side, part = _split(role)
    motions = (_SIDE if side else _MIDDLE).get(part)
    if motions is None:
        return None
    axes = np.array([motions.flexion_axis, motions.abduction_axis, motions.twist_axis])
    bounds = np.radians([motions.flexion_deg, motions.abduction_deg, motions.twist_deg])
    if np.linalg.det(axes) < 0.0:
        # The same motion about the opposite axis: what was up to 30 one way is -30 the other.
        axes[1] = -axes[1]
        bounds[1] = -bounds[1, ::-1]
    if side == "right":
        # A mirrored body turns about the mirrored axis the other way round.
        axes = axes * np.array([1.0, -1.0, -1.0])
    for array in (axes, bounds):
        array.setflags(write=False)
    return JointRange(axes, bounds[:, 0], bounds[:, 1])


def segment_masses(roles: Collection[str]) -> dict[str, float]:
    """Shares of the body's mass, 1 in all, carried by the given VRM 1 roles.

    What belongs to a segment a character lacks goes to the next one towards the hips. Roles
    without a mass of their own (clavicles, fingers, eyes) have 0.
    """
    shares = dict.fromkeys(roles, 0.0)
    for part, mass in _MASS.items():
        _give(shares, "", part, mass)
    for part, mass in _SIDE_MASS.items():
        for side in ("left", "right"):
            _give(shares, side, part, mass)
    total = sum(shares.values())
    return {role: share / total for role, share in shares.items()} if total else shares


def _give(shares: dict[str, float], side: str, part: str, mass: float) -> None:
    holder: str | None = part
    while holder is not None:
        role = f"{side}{holder}" if holder in _SIDE_MASS else holder
        if role in shares:
            shares[role] += mass
            return
        holder = _ABOVE.get(holder)


def _split(role: str) -> tuple[str, str]:
    """Side ("left", "right" or none) and the rest of a role's name."""
    for side in ("left", "right"):
        if role.startswith(side):
            return side, role.removeprefix(side)
    return "", role
