"""Skeletons between the wire and the house."""

from __future__ import annotations

import numpy as np

from understudy.kinematics import KIND_NAMES, Joint, Skeleton
from understudy_protocol.messages import SkeletonMessage
from understudy_protocol.skeletons import with_skeleton_id


def skeleton_from_message(message: SkeletonMessage) -> Skeleton:
    """The body an announced skeleton describes, its joints in the same order."""
    joints = []
    for i, name in enumerate(message.joints):
        parent = int(message.parents[i])
        tip = None if message.tips is None else np.asarray(message.tips[i], np.float64)
        low, high = (
            (-np.inf, np.inf) if message.limits_rad is None else message.limits_rad[i].tolist()
        )
        hinge = message.kinds[i] == KIND_NAMES.index("hinge")
        joints.append(
            Joint(
                name=name,
                parent=None if parent < 0 else message.joints[parent],
                offset=np.asarray(message.offsets[i], np.float64),
                rest_xyzw=np.asarray(message.rest_xyzw[i], np.float64),
                kind=KIND_NAMES[int(message.kinds[i])],
                axis=np.asarray(message.axes[i], np.float64)
                if hinge and message.axes is not None
                else (0.0, 0.0, 1.0),
                limits_rad=(low, high),
                tip=tip if tip is not None and np.any(tip) else None,
            )
        )
    return Skeleton.build(joints)


def message_from_skeleton(
    skeleton: Skeleton, contacts: tuple[str, ...] = (), effectors: tuple[str, ...] = ()
) -> SkeletonMessage:
    """How a body is announced, under the id that belongs to it."""
    return with_skeleton_id(
        SkeletonMessage(
            id=0,
            joints=skeleton.names,
            parents=skeleton.parents,
            offsets=skeleton.offsets,
            rest_xyzw=skeleton.rest_xyzw,
            kinds=skeleton.kinds,
            axes=skeleton.axes,
            limits_rad=skeleton.limits_rad,
            tips=skeleton.tips,
            contacts=contacts,
            effectors=effectors,
        )
    )
