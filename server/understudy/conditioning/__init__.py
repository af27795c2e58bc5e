"""What surrounds the solver: easing of its targets before, a check of its answer after."""

from understudy.conditioning.check import CharacterPose, PoseCheck
from understudy.conditioning.ease import TargetEase

__all__ = ["CharacterPose", "PoseCheck", "TargetEase"]
