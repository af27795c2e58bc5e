"""Open Sound Control: the VMC protocol and a plain scheme of our own, bytes in and bytes out."""

from understudy_protocol.osc.bones import (
    BONE_COUNT,
    BONE_INDEX,
    BONE_NAMES,
    BONE_PARENTS,
    VMC_NAMES,
    VRM1_NAMES,
)
from understudy_protocol.osc.plain import (
    PlainDatagram,
    PlainEncoder,
    PlainFrame,
    PlainJoint,
    decode_plain,
)
from understudy_protocol.osc.vmc_events import VmcDatagram, VmcEvent
from understudy_protocol.osc.vmc_in import decode_vmc
from understudy_protocol.osc.vmc_out import GOOD_STATUS, VmcEncoder

__all__ = [
    "BONE_COUNT",
    "BONE_INDEX",
    "BONE_NAMES",
    "BONE_PARENTS",
    "GOOD_STATUS",
    "VMC_NAMES",
    "VRM1_NAMES",
    "PlainDatagram",
    "PlainEncoder",
    "PlainFrame",
    "PlainJoint",
    "VmcDatagram",
    "VmcEncoder",
    "VmcEvent",
    "decode_plain",
    "decode_vmc",
]
