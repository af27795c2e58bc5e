"""How well a character follows its performer: the figures, and the runs that make them."""

from understudy_bench.quality.figures import Figures, score
from understudy_bench.quality.run import Take, motion_limits, retarget_clip

__all__ = ["Figures", "Take", "motion_limits", "retarget_clip", "score"]
