"""What surrounds the solver: easing of its targets before, a check of its answer after."""

from understudy.conditioning.bridge import Bridged, TearBridge
from understudy.conditioning.check import CharacterPose, PoseCheck
from understudy.conditioning.ease import TargetEase

__all__ = ["Bridged", "CharacterPose", "PoseCheck", "TargetEase", "TearBridge"]
