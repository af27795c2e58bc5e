"""Frames over VMC are told apart by the number that travels with them."""

from __future__ import annotations

import pytest

from understudy.characters import load_clip
from understudy_bench.vmc_frames import EndlessVmcMotion, VmcAnswer, VmcAnswers
from understudy_protocol.osc.vmc_events import PassedOn
from understudy_protocol.osc.vmc_in import decode_vmc


@pytest.fixture(scope="module", name="motion")
def motion_fixture() -> EndlessVmcMotion:
    return EndlessVmcMotion("performer-7", load_clip("walk", 120.0))


def test_a_frame_comes_in_several_datagrams_and_is_answered_by_the_last(
    motion: EndlessVmcMotion,
) -> None:
    answers = VmcAnswers()
    motion.parts(0, 5_000_000_000)  # time counts from here
    datagrams = motion.parts(41, 5_500_000_000)
    assert len(datagrams) > 1
    found = [answers.feed(datagram) for datagram in datagrams]
    assert found[:-1] == [None] * (len(datagrams) - 1)
    assert found[-1] == VmcAnswer("performer-7", 41, 0.5)


def test_the_number_is_a_message_that_a_server_passes_on(motion: EndlessVmcMotion) -> None:
    events = [event for part in motion.parts(12, 0) for event in decode_vmc(part).events]
    (passed_on,) = [event for event in events if isinstance(event, PassedOn)]
    assert passed_on.arguments == ("performer-7", 12)


@pytest.mark.parametrize("name", ["a", "abc", "abcd", "abcdefgh"])
def test_names_of_any_length_are_read(name: str) -> None:
    motion, answers = EndlessVmcMotion(name, load_clip("walk", 30.0)), VmcAnswers()
    *_, last = [answers.feed(datagram) for datagram in motion.parts(3, 0)]
    assert last == VmcAnswer(name, 3, 0.0)


def test_a_frame_that_lacks_a_datagram_is_no_answer(motion: EndlessVmcMotion) -> None:
    answers = VmcAnswers()
    for datagram in motion.parts(0, 0):
        answers.feed(datagram)
    assert answers.feed(motion.parts(1, 0)[-1]) is None
    whole = [answers.feed(datagram) for datagram in motion.parts(2, 0)]
    assert whole[-1] is not None
    assert whole[-1].seq == 2


def test_a_first_pose_with_a_long_tail_does_not_make_the_others_look_torn(
    motion: EndlessVmcMotion,
) -> None:
    # Numbers pile up while a server builds its pipeline, and all leave with its first pose.
    answers, tail = VmcAnswers(), motion.parts(0, 0)[-1]
    (bones, *_), extra = motion.parts(1, 0), tail.replace(b"/VMC/Ext/T", b"/VMC/Ext/X")
    found = [answers.feed(part) for part in (bones, extra.replace(b"Bone", b"Tone"), tail)]
    assert found[-1] is not None
    assert [answers.feed(part) for part in motion.parts(2, 0)][-1] is not None


def test_a_pose_with_two_numbers_answers_the_later_frame(motion: EndlessVmcMotion) -> None:
    answers = VmcAnswers()
    first, second = motion.parts(1, 0), motion.parts(2, 0)
    for datagram in first:
        answers.feed(datagram)
    # What was to leave with frame 1 leaves with frame 2, in the order it came.
    both = first[-1] + second[-1]
    for datagram in second[:-1]:
        answers.feed(datagram)
    answer = answers.feed(both)
    assert answer is not None
    assert answer.seq == 2
