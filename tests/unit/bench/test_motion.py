from __future__ import annotations

import numpy as np

from understudy.characters import load_clip
from understudy_bench.motion import EndlessMotion, there_and_back
from understudy_protocol import decode_frame


def test_endless_motion_never_jumps() -> None:
    at = np.array([there_and_back(seq, 20) for seq in range(100)])
    assert set(np.abs(np.diff(at))) == {1}
    assert set(at) == set(range(20))


def test_a_frame_message_shows_the_clips_pose() -> None:
    clip = load_clip("walk", 120.0)
    motion = EndlessMotion("bench", clip)
    seq = clip.frame_count + 3
    frame = decode_frame(motion.body(seq, 123))
    assert (frame.seq, frame.capture_ns) == (seq, 123)
    np.testing.assert_allclose(
        frame.root, clip.roots[there_and_back(seq, clip.frame_count)], atol=1e-6
    )
