"""What surrounds the solver: bridged tears and eased targets before, a check after."""

from understudy.conditioning.bridge import Bridged, TearBridge
from understudy.conditioning.check import CharacterPose
from understudy.conditioning.ease import TargetEase

__all__ = ["Bridged", "CharacterPose", "TargetEase", "TearBridge"]
