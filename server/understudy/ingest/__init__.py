"""From messages to source poses: checked, in order, in our axes, with the time between them."""

from understudy.ingest.performer import PerformerStream
from understudy.ingest.skeletons import message_from_skeleton, skeleton_from_message
from understudy.ingest.source import FrameRejected, SourcePose

__all__ = [
    "FrameRejected",
    "PerformerStream",
    "SourcePose",
    "message_from_skeleton",
    "skeleton_from_message",
]
