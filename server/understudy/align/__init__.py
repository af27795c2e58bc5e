"""Any performer to any character: who is which joint, rest poses, proportions, contacts, goals."""

from understudy.align.alignment import Alignment, AlignmentError, Transfer
from understudy.align.motion import MotionSample
from understudy.align.roles import RoleError, RoleMap, find_roles

__all__ = [
    "Alignment",
    "AlignmentError",
    "MotionSample",
    "RoleError",
    "RoleMap",
    "Transfer",
    "find_roles",
]
