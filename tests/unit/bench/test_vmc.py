"""Frames carried over VMC are matched with their answers one by one."""

from __future__ import annotations

import pytest

from understudy.characters import load_clip
from understudy_bench.vmc import Heard, Tally
from understudy_bench.vmc_frames import EndlessVmcMotion
from understudy_protocol.osc import VMC_NAMES, VmcEncoder
from understudy_protocol.osc.vmc_events import Status
from understudy_protocol.osc.vmc_out import GOOD_STATUS

CLIP = load_clip("walk", 120.0)
SILENT = Status(loaded=1, calibration_state=3, calibration_mode=0, tracking=0)


@pytest.fixture(name="motion")
def motion_fixture() -> EndlessVmcMotion:
    return EndlessVmcMotion("alice", CLIP)


def heard_of(*poses: list[bytes]) -> Heard:
    heard = Heard()
    for pose in poses:
        for datagram in pose:
            heard.take(datagram)
    return heard


def unnumbered(status: Status = GOOD_STATUS) -> list[bytes]:
    encoder = VmcEncoder([VMC_NAMES[name] for name in CLIP.skeleton.names], CLIP.skeleton.offsets)
    return encoder.encode(CLIP.roots[0], CLIP.rotations_xyzw[0], time_s=0.0, status=status)


def test_a_frame_answered_twice_does_not_make_up_for_one_that_is_lost() -> None:
    tally = Tally.of(range(10, 14), {9: 1, 10: 1, 11: 2, 13: 1}, unasked=0)
    assert tally == Tally(sent=4, once=2, twice=1, lost=1, unasked=0)


def test_each_pose_is_counted_for_the_frame_it_answers(motion: EndlessVmcMotion) -> None:
    heard = heard_of(*(list(motion.parts(number, 0)) for number in (3, 4, 4, 6)))
    assert heard.answered == {3: 1, 4: 2, 6: 1}
    assert heard.unasked == 0
    assert len(heard.bones) == len(CLIP.skeleton)


def test_a_new_pose_without_a_number_is_unasked(motion: EndlessVmcMotion) -> None:
    heard = heard_of(list(motion.parts(3, 0)), unnumbered(), list(motion.parts(4, 0)))
    assert heard.answered == {3: 1, 4: 1}
    assert heard.unasked == 1


def test_the_pose_of_a_silent_performer_is_not_counted(motion: EndlessVmcMotion) -> None:
    heard = heard_of(list(motion.parts(3, 0)), unnumbered(SILENT), unnumbered(SILENT))
    assert (heard.answered, heard.unasked) == ({3: 1}, 0)


def test_a_pose_that_lacks_a_datagram_answers_nothing(motion: EndlessVmcMotion) -> None:
    heard = heard_of(list(motion.parts(3, 0)), list(motion.parts(4, 0))[1:])
    assert (heard.answered, heard.unasked) == ({3: 1}, 1)
