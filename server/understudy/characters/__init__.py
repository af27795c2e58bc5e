"""Bodies and recorded motion from files, and the built-in ones."""

from understudy.characters.bvh import BvhFile, BvhReport, read_bvh
from understudy.characters.bvh_write import write_bvh
from understudy.characters.clip import Clip, ClipError

__all__ = ["BvhFile", "BvhReport", "Clip", "ClipError", "read_bvh", "write_bvh"]
