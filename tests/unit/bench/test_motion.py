from __future__ import annotations

import numpy as np

from understudy.characters import load_clip
from understudy_bench.motion import EndlessMotion
from understudy_protocol import decode_frame


def test_endless_motion_never_jumps() -> None:
    clip = load_clip("walk", 120.0)
    motion = EndlessMotion("bench", clip)
    at = np.array([motion.frame_index(seq) for seq in range(5 * clip.frame_count)])
    assert set(np.abs(np.diff(at))) == {1}
    assert set(at) == set(range(clip.frame_count))


def test_a_frame_message_shows_the_clips_pose() -> None:
    clip = load_clip("walk", 120.0)
    motion = EndlessMotion("bench", clip)
    seq = clip.frame_count + 3
    frame = decode_frame(motion.body(seq, 123))
    assert (frame.seq, frame.capture_ns) == (seq, 123)
    np.testing.assert_allclose(frame.root, clip.roots[motion.frame_index(seq)], atol=1e-6)
