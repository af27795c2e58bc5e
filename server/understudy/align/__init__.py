"""Any performer to any character: who is which joint, rest poses, proportions, contacts, goals."""

from understudy.align.aligner import CONTACT_NAMES, Aligner
from understudy.align.alignment import Alignment, AlignmentError, Transfer
from understudy.align.motion import MotionSample
from understudy.align.roles import RoleError, RoleMap, find_roles

__all__ = [
    "CONTACT_NAMES",
    "Aligner",
    "Alignment",
    "AlignmentError",
    "MotionSample",
    "RoleError",
    "RoleMap",
    "Transfer",
    "find_roles",
]
