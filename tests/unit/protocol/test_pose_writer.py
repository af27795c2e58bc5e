"""The fast way to write poses, against the codec."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_protocol import PoseMessage, decode_pose
from understudy_protocol.limits import MAX_I64, MAX_U32, MAX_U64, MIN_I64
from understudy_protocol.pose_writer import PoseWriter

TIMES = st.integers(MIN_I64, MAX_I64)
SEQS = st.integers(0, MAX_U64)


def written(
    joints: int, hinges: int, contacts: int, skeleton_id: int, *numbers: float
) -> tuple[PoseMessage, list[np.ndarray[tuple[int], np.dtype[np.float32]]], bytes]:
    rng = np.random.default_rng(joints + hinges)
    arrays = [rng.normal(size=k).astype(np.float32) for k in (3, 4 * joints, hinges)]
    touching = rng.integers(0, 2, contacts).astype(np.uint8)
    writer = PoseWriter(skeleton_id, arrays[0].data, arrays[1].data, touching.data, arrays[2].data)
    return decode_pose(writer.write(*numbers)), arrays, touching.tobytes()  # type: ignore[arg-type]  # numbers of both types


@given(
    joints=st.integers(1, 512),
    hinges=st.integers(0, 512),
    contacts=st.integers(0, 6),
    skeleton_id=st.integers(0, MAX_U32),
    seqs=st.tuples(SEQS, SEQS),
    delay=st.integers(0, MAX_I64),
    status=st.integers(0, MAX_U32),
    residual=st.floats(0.0, 1e3),
    times=st.tuples(TIMES, TIMES, TIMES),
)
def test_what_is_written_is_read_by_the_codec(
    joints: int,
    hinges: int,
    contacts: int,
    skeleton_id: int,
    seqs: tuple[int, int],
    delay: int,
    status: int,
    residual: float,
    times: tuple[int, int, int],
) -> None:
    pose, (root, rotations, angles), touching = written(
        joints, hinges, contacts, skeleton_id, *seqs, delay, status, residual, *times
    )
    assert (pose.seq, pose.source_seq) == seqs
    assert (pose.skeleton_id, pose.delay_ns, pose.status) == (skeleton_id, delay, status)
    assert pose.residual_m == residual
    assert (pose.capture_ns, pose.arrival_ns, pose.publish_ns) == times
    np.testing.assert_array_equal(pose.root, root)
    np.testing.assert_array_equal(pose.rotations_xyzw.reshape(-1), rotations)
    assert pose.contacts == touching
    if hinges:
        np.testing.assert_array_equal(pose.angles_rad, angles)
    else:
        assert pose.angles_rad is None


@pytest.mark.parametrize("seq", [0, MAX_U32, MAX_U32 + 1])
def test_every_pose_has_the_numbers_that_lie_in_memory_then(seq: int) -> None:
    root, rotations = np.zeros(3, np.float32), np.zeros(4, np.float32)
    contacts = np.zeros(1, np.uint8)
    writer = PoseWriter(1, root.data, rotations.data, contacts.data, rotations[:0].data)
    for value in (1.0, 2.0):
        root[:] = rotations[:] = value
        contacts[:] = int(value) - 1
        pose = decode_pose(writer.write(seq, 0, 0, 0, 0.0, 1, 2, 3))
        assert pose.root.tolist() == [value] * 3
        assert pose.rotations_xyzw.tolist() == [[value] * 4]
        assert pose.contacts == bytes([int(value) - 1])
