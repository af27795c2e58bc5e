"""Trunks, heads and arms: the ways every motion poses what is above the pelvis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from understudy.characters.builtin.puppet import Puppet, X, Y, Z, chain, turn, unit
from understudy.kinematics import rotations
from understudy.kinematics.types import FloatArray

_WRIST_SHARE = 0.5  # of the angle between a forearm and the square to a handle


def side_sign(side: str) -> float:
    """Where a side lies on the X axis: 1 for "left", -1 for "right"."""
    return 1.0 if side == "left" else -1.0


def attitude(yaw_deg: FloatArray, lean_deg: FloatArray, bend_deg: FloatArray) -> FloatArray:
    """World rotation (T, 4) of a trunk: facing left, leaning forward, bending to the right."""
    return chain(
        turn(Y, np.radians(yaw_deg)), turn(X, np.radians(lean_deg)), turn(Z, np.radians(bend_deg))
    )


def bend_torso(puppet: Puppet, chest_xyzw: FloatArray) -> None:
    """Turn the top of the torso to a world rotation (T, 4), equal shares for all torso joints."""
    skeleton = puppet.skeleton
    torso = skeleton.ancestors(skeleton.index("upperChest"))[1:]
    whole = rotations.log(chain(rotations.conjugate(puppet.orientation("hips")), chest_xyzw))
    for joint in torso:
        puppet.rotate(skeleton.names[joint], rotations.exp(whole / len(torso)))


def look(puppet: Puppet, head_xyzw: FloatArray) -> None:
    """Turn the head to a world rotation (T, 4), half of the way by the neck."""
    whole = rotations.log(chain(rotations.conjugate(puppet.orientation("upperChest")), head_xyzw))
    for joint in ("neck", "head"):
        puppet.rotate(joint, rotations.exp(0.5 * whole))


@dataclass(frozen=True, slots=True, eq=False)
class ArmAngles:
    """Joint angles of one arm at T instants, degrees, the same meaning on both sides.

    From the T-pose: `elevation` lifts the upper arm above the horizontal, `forward` takes it to
    the front, `outward` turns it about its own axis so that a bent forearm comes up; `elbow`
    flexes, `pronation` turns the forearm thumb down, `wrist` flexes towards the palm and
    `deviation` towards the thumb.
    """

    elevation: FloatArray
    forward: FloatArray
    outward: FloatArray
    elbow: FloatArray
    pronation: FloatArray
    wrist: FloatArray
    deviation: FloatArray


def pose_arm(puppet: Puppet, side: str, arm: ArmAngles) -> None:
    """Set the joints of one arm by angles."""
    sign = side_sign(side)
    puppet.rotate(
        f"{side}UpperArm",
        chain(
            turn(Y, np.radians(-sign * arm.forward)),
            turn(Z, np.radians(sign * arm.elevation)),
            turn(X, np.radians(-arm.outward)),
        ),
    )
    puppet.rotate(
        f"{side}LowerArm",
        chain(turn(Y, np.radians(-sign * arm.elbow)), turn(X, np.radians(arm.pronation))),
    )
    puppet.rotate(
        f"{side}Hand",
        chain(turn(Z, np.radians(-sign * arm.wrist)), turn(Y, np.radians(-sign * arm.deviation))),
    )


def grip_point(puppet: Puppet, side: str) -> FloatArray:
    """Where a fist closes round a handle: (3,) m in the frame of the hand."""
    return np.asarray(0.47 * puppet.skeleton.tips[puppet.skeleton.index(f"{side}Hand")])


def hold(
    puppet: Puppet, side: str, place: FloatArray, handle: FloatArray, elbow_pole: FloatArray
) -> None:
    """Close a hand round a handle that passes `place` (T, 3) m along the unit vectors `handle`.

    The thumb's side of the fist is towards `handle`; where the forearm is not square to the
    handle, the wrist makes up for one part and a handle that lies askew in the fist for the rest.
    The elbow points along `elbow_pole` (T, 3).
    """
    sign = side_sign(side)
    grip = grip_point(puppet, side)
    forearm = place - puppet.position(f"{side}UpperArm")
    # The wrist's place depends on the forearm's direction and the other way round. A round takes a
    # third of the difference away even where arm and handle are nearly in line, so that thirty
    # leave some 1e-5 rad; the fist itself is exactly in its place after each.
    for _ in range(30):
        askew = np.sum(forearm * handle, axis=1, keepdims=True) * handle
        x = sign * unit(forearm - _WRIST_SHARE * askew)
        z = unit(handle - np.sum(handle * x, axis=1, keepdims=True) * x)
        hand = rotations.from_matrix(np.stack([x, np.cross(z, x), z], axis=-1))
        wrist = place - rotations.rotate(hand, grip)
        puppet.reach(f"{side}UpperArm", wrist, elbow_pole)
        forearm = wrist - puppet.position(f"{side}LowerArm")
    puppet.orient(f"{side}Hand", hand)
