"""What surrounds the solver: bridged tears, smoothed poses, eased targets before, a check after."""

from understudy.conditioning.bridge import Bridged, TearBridge
from understudy.conditioning.check import CharacterPose
from understudy.conditioning.ease import TargetEase
from understudy.conditioning.smoothing import Smoother

__all__ = ["Bridged", "CharacterPose", "Smoother", "TargetEase", "TearBridge"]
