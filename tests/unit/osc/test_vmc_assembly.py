from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import vmc
from understudy.ingest.vmc_assembly import (
    GAP_NS,
    MAX_PASSED_ON,
    PATIENT_GAP_NS,
    VmcAssembler,
    VmcFrame,
)
from understudy_protocol.osc.bones import BONE_INDEX, BONE_NAMES
from understudy_protocol.osc.packet import write_bundle, write_message
from understudy_protocol.osc.vmc_in import VmcDecoder
from understudy_protocol.osc.vmc_out import VmcEncoder

PERIOD_NS = 8_333_333
BODY = [name for name in BONE_NAMES if not name.endswith(("mal", "diate", "tal"))]


class Sender:
    """Feeds datagrams to an assembler at the times they would arrive, polling in between."""

    def __init__(self) -> None:
        self.assembler = VmcAssembler()
        self.decoder = VmcDecoder()
        self.now_ns = 0

    def send(self, *datagrams: bytes, apart_ns: int = 100_000) -> list[VmcFrame]:
        frames = []
        for datagram in datagrams:
            self.now_ns += apart_ns
            frames += self.assembler.feed(self.decoder.decode(datagram), self.now_ns)
        return frames

    def wait(self, duration_ns: int) -> list[VmcFrame]:
        deadline = self.assembler.deadline_ns
        self.now_ns += duration_ns
        if deadline is None or deadline > self.now_ns:
            assert self.assembler.poll(self.now_ns) is None
            return []
        frame = self.assembler.poll(deadline)
        assert frame is not None
        return [frame]


Frame = Callable[[float], Sequence[bytes]]


def official_sample(height: float) -> Sequence[bytes]:
    """Root bare, bones bundled, blendshapes bundled, OK and T bare behind."""
    return (
        vmc.root(),
        write_bundle(vmc.bones(BODY, height)),
        write_bundle([vmc.blend("Joy", height), vmc.APPLY]),
        vmc.status(1, 3, 0, 1),
        vmc.time(height),
    )


def slime(height: float) -> Sequence[bytes]:
    """One bundle with T and OK in front."""
    return (write_bundle([vmc.time(height), vmc.status(1), vmc.root(), *vmc.bones(BODY, height)]),)


def slime_in_two(height: float) -> Sequence[bytes]:
    """T in front and the body in two datagrams."""
    return (
        write_bundle([vmc.time(height), vmc.status(1), *vmc.bones(BODY[:12], height)]),
        write_bundle(vmc.bones(BODY[12:], height)),
    )


def bare(height: float) -> Sequence[bytes]:
    """Every bone a datagram of its own, T behind."""
    return (*vmc.bones(BODY, height), vmc.time(height))


def bones_only(height: float) -> Sequence[bytes]:
    """One bundle of bones, no marker at all."""
    return (write_bundle(vmc.bones(BODY, height)),)


def bones_in_two(height: float) -> Sequence[bytes]:
    """The body in two datagrams and no marker at all."""
    return write_bundle(vmc.bones(BODY[:12], height)), write_bundle(vmc.bones(BODY[12:], height))


def ours(height: float) -> Sequence[bytes]:
    """What we send ourselves: four datagrams, markers behind."""
    names = vmc.parents_first()
    offsets = np.tile([0.0, height, 0.0], (55, 1))
    rotations = np.tile([0.0, 0.0, 0.0, 1.0], (55, 1))
    return VmcEncoder(names, offsets).encode([0, height, 0], rotations, time_s=height)


def heights_of(frame: VmcFrame) -> set[float]:
    return {round(float(height), 4) for height in frame.positions[frame.seen, 1]}


@pytest.mark.parametrize(
    ("pattern", "learned"),
    [
        (official_sample, "marker"),
        (slime, "datagram"),
        (slime_in_two, "datagram"),
        (bare, "marker"),
        (bones_only, "datagram"),
        (bones_in_two, "gap"),
        (ours, "marker"),
    ],
)
def test_every_frame_of_every_kind_of_sender_comes_out_whole(pattern: Frame, learned: str) -> None:
    sender = Sender()
    out: list[list[VmcFrame]] = []
    for number in range(300):
        frames = sender.send(*pattern(number / 1000))
        out.append([*frames, *sender.wait(PERIOD_NS)])
    # One frame out for each one in, of one height throughout.
    assert [heights_of(frame) for frames in out for frame in frames] == [
        {number / 1000} for number in range(300)
    ]
    # Each before the next begins, once the sender is known.
    assert [len(frames) for frames in out[150:]] == [1] * 150
    assert {frame.trigger for frames in out[150:] for frame in frames} == {learned}


@pytest.mark.parametrize("pattern", [slime, slime_in_two])
def test_a_sender_with_t_in_front_is_not_kept_waiting_once_it_is_known(pattern: Frame) -> None:
    sender = Sender()
    at_once = []
    for number in range(300):
        frames = sender.send(*pattern(number / 1000))
        at_once.append(any(heights_of(frame) == {number / 1000} for frame in frames))
        sender.wait(PERIOD_NS)
    assert not any(at_once[:100])  # The first second: the next frame has to begin.
    assert all(at_once[150:])


def test_the_times_of_a_sender_with_t_in_front_are_those_of_its_frames() -> None:
    sender = Sender()
    frames = []
    for number in range(300):
        frames += sender.send(*slime(number / 1000)) + sender.wait(PERIOD_NS)
    assert [frame.source_time_s for frame in frames] == pytest.approx(
        [number / 1000 for number in range(300)]
    )


def split_before_t(height: float) -> Sequence[bytes]:
    """The body in two datagrams, T behind it."""
    return (
        write_bundle(vmc.bones(BODY[:12], height)),
        write_bundle([*vmc.bones(BODY[12:], height), vmc.time(height)]),
    )


def after(frames: int, pattern: Frame) -> Sender:
    """A sender that has sent so many frames."""
    sender = Sender()
    for number in range(frames):
        sender.send(*pattern(number / 200))
        sender.wait(PERIOD_NS)
    return sender


@pytest.mark.parametrize("frames", [1, 200])
@pytest.mark.parametrize("pattern", [split_before_t, slime_in_two])
def test_a_pause_within_a_frame_does_not_tear_the_frame_of_a_sender_of_markers(
    pattern: Frame, frames: int
) -> None:
    sender = after(frames, pattern)
    first, second = pattern(1.5)
    before = sender.send(first) + sender.wait(2 * GAP_NS)
    assert all(heights_of(frame) == {(frames - 1) / 200} for frame in before)
    behind = sender.send(second) + sender.wait(PERIOD_NS) + sender.send(*pattern(1.6))
    assert heights_of(behind[0]) == {1.5}


@pytest.mark.parametrize("frames", [1, 200])
def test_a_frame_of_a_sender_of_markers_that_is_read_late_is_not_torn(frames: int) -> None:
    first, second = split_before_t(1.5)
    sender = after(frames, split_before_t)
    # Nobody polled in between: the reader was busy, and the datagram lay waiting.
    (frame,) = sender.send(first, second, apart_ns=2 * PATIENT_GAP_NS)
    assert frame.trigger == "marker"
    assert heights_of(frame) == {1.5}
    (frame,) = sender.send(*split_before_t(1.6))
    assert heights_of(frame) == {1.6}


def test_a_lost_marker_costs_a_known_sender_no_frame() -> None:
    sender = after(200, split_before_t)
    sender.send(split_before_t(1.5)[0])
    frames = sender.wait(PERIOD_NS) + sender.send(*split_before_t(1.6))
    assert [frame.trigger for frame in frames] == ["repeat", "marker"]
    sender.send(split_before_t(1.7)[0])
    assert [frame.trigger for frame in sender.wait(PATIENT_GAP_NS)] == ["gap"]


@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("frames", [1, 200])
def test_a_lost_datagram_behind_t_tears_no_other_frame(frames: int, lost: int) -> None:
    sender = after(frames, slime_in_two)
    sender.wait(PATIENT_GAP_NS)
    out = sender.send(slime_in_two(1.5)[1 - lost]) + sender.wait(PERIOD_NS)
    for number in range(20):
        out += sender.send(*slime_in_two(2 + number)) + sender.wait(PERIOD_NS)
    torn, *whole = [heights_of(frame) for frame in out + sender.wait(PATIENT_GAP_NS)]
    assert torn == {1.5, (frames - 1) / 200}
    assert whole == [{2.0 + number} for number in range(20)]


def test_a_bone_that_is_left_out_from_now_on_is_waited_for_at_most_two_seconds() -> None:
    sender = after(200, slime)
    at_once = []
    for number in range(300):
        bundle = write_bundle([vmc.time(number), *vmc.bones(BODY[1:], 2 + number)])
        at_once.append(any(2 + number in heights_of(frame) for frame in sender.send(bundle)))
        sender.wait(PERIOD_NS)
    assert not at_once[0]
    assert all(at_once[240:])


def test_without_markers_or_polling_a_repeated_bone_ends_the_frame() -> None:
    sender = Sender()
    assert sender.send(write_bundle(vmc.bones(BODY, 0.1))) == []
    (frame,) = sender.send(write_bundle(vmc.bones(BODY, 0.2)))
    assert frame.trigger == "repeat"
    assert heights_of(frame) == {0.1}


def test_two_frames_in_one_datagram_are_two_frames() -> None:
    first, second = Sender().send(
        write_bundle([*vmc.bones(BODY, 0.1), *vmc.bones(BODY, 0.2), vmc.time(1)])
    )
    assert (heights_of(first), heights_of(second)) == ({0.1}, {0.2})


def test_a_lost_datagram_tears_one_frame_and_no_other() -> None:
    """The gap sets things right even where neither marker nor poll does."""
    assembler, decoder = VmcAssembler(), VmcDecoder()
    frames: list[VmcFrame] = []
    for number in range(20):
        for part in (BODY[:12], BODY[12:]):
            if number == 10 and part == BODY[:12]:
                continue
            datagram = write_bundle(vmc.bones(part, number / 100))
            frames += assembler.feed(decoder.decode(datagram), number * PERIOD_NS)
    torn = [number for number, frame in enumerate(frames) if len(heights_of(frame)) > 1]
    assert torn == [10]


def test_a_marker_without_bones_before_it_ends_nothing() -> None:
    sender = Sender()
    assert sender.send(vmc.time(1), vmc.status(1), vmc.APPLY, vmc.root()) == []
    assert sender.assembler.deadline_ns is None


def test_bones_never_sent_stay_at_the_identity_and_out_of_the_mask() -> None:
    (frame,) = Sender().send(write_bundle([*vmc.bones(["Hips", "Spine"], 0.3), vmc.time(1)]))
    assert np.flatnonzero(frame.seen).tolist() == [0, BONE_INDEX["Spine"]]
    np.testing.assert_array_equal(frame.rotations_xyzw[~frame.seen, 3], 1.0)
    np.testing.assert_array_equal(frame.positions[~frame.seen], 0.0)


def test_a_bone_left_out_later_keeps_its_last_value() -> None:
    sender = Sender()
    sender.send(write_bundle([*vmc.bones(["Hips", "Head"], 0.3), vmc.time(1)]))
    (frame,) = sender.send(write_bundle([*vmc.bones(["Hips"], 0.4), vmc.time(1)]))
    assert frame.positions[BONE_INDEX["Head"], 1] == pytest.approx(0.3)
    assert frame.seen[BONE_INDEX["Head"]]


def test_frames_do_not_share_their_arrays() -> None:
    sender = Sender()
    (first,) = sender.send(write_bundle([*vmc.bones(BODY, 0.1), vmc.time(1)]))
    (second,) = sender.send(write_bundle([*vmc.bones(BODY, 0.2), vmc.time(1)]))
    first.positions[:] = 9.0
    first.root[:] = 9.0
    assert heights_of(second) == {0.2}
    (third,) = sender.send(write_bundle([*vmc.bones(["Hips"], 0.3), vmc.time(1)]))
    assert heights_of(third) == {0.2, 0.3}


def test_an_impossible_bone_is_refused_and_keeps_its_last_value() -> None:
    sender = Sender()
    sender.send(write_bundle([*vmc.bones(["Hips", "Head"], 0.3), vmc.time(1)]))
    broken = vmc.bone("Head", (0, math.nan, 0))
    (frame,) = sender.send(write_bundle([vmc.bone("Hips", (0, 0.5, 0)), broken, vmc.time(1)]))
    assert [error.reason for error in frame.refused] == ["bad-pose"]
    assert "Head" in str(frame.refused[0])
    assert frame.positions[[0, BONE_INDEX["Head"]], 1] == pytest.approx([0.5, 0.3])
    (after,) = sender.send(write_bundle([vmc.bone("Hips", (0, 0.6, 0)), vmc.time(1)]))
    assert not after.refused


def test_a_bone_that_was_only_ever_impossible_has_not_been_seen() -> None:
    broken = vmc.bone("Head", rotation=(0, 0, 0, 0))
    (frame,) = Sender().send(write_bundle([vmc.bone("Hips"), broken, vmc.time(1)]))
    assert np.flatnonzero(frame.seen).tolist() == [0]


def test_root_and_hips_are_combined() -> None:
    half = math.sqrt(0.5)
    quarter = (0.0, half, 0.0, half)  # Unity: +90 degrees about Y takes +Z to +X.
    (frame,) = Sender().send(
        write_bundle([vmc.root((1, 0, 0), quarter), vmc.bone("Hips", (0, 1, 2)), vmc.time(1)])
    )
    # On the wire Hips is at (1 + 2, 1, 0); ours has x mirrored and turns the other way.
    np.testing.assert_allclose(frame.root, [-3, 1, 0], atol=1e-6)
    np.testing.assert_allclose(frame.root_xyzw, [0, -half, 0, half], atol=1e-6)
    np.testing.assert_allclose(frame.positions[0], [0, 1, 2], atol=1e-6)


@given(st.integers(0, 2**32), st.booleans())
def test_what_we_send_is_what_we_read_with_the_root_split_or_not(seed: int, split: bool) -> None:
    random = np.random.default_rng(seed)
    names = vmc.parents_first()
    rows = [BONE_INDEX[name] for name in names]
    offsets, root = random.normal(size=(55, 3)), random.normal(size=3)
    rotations = random.normal(size=(55, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    encoder = VmcEncoder(names, offsets, split_root=split)
    (frame,) = Sender().send(*encoder.encode(root, rotations, time_s=1.5))
    assert frame.source_time_s == 1.5
    assert frame.seen.all()
    np.testing.assert_allclose(frame.root, root, atol=1e-6)
    np.testing.assert_allclose(frame.root_xyzw, rotations[0], atol=1e-6)
    np.testing.assert_allclose(frame.rotations_xyzw[rows[1:]], rotations[1:], atol=1e-6)
    np.testing.assert_allclose(frame.positions[rows[1:]], offsets[1:], atol=1e-6)


def test_a_performer_facing_z_has_the_left_hand_at_plus_x_and_walks_to_plus_z() -> None:
    sender = Sender()
    arm = ["LeftShoulder", "LeftUpperArm", "LeftLowerArm", "LeftHand"]
    frames = [
        sender.send(
            write_bundle(
                [
                    vmc.bone("Hips", (0, 1, step)),
                    *(vmc.bone(name, (-0.2, 0, 0)) for name in arm),  # Left is -X on the wire.
                    vmc.time(step),
                ]
            )
        )[0]
        for step in (0.0, 1.0)
    ]
    hand = frames[0].positions[[BONE_INDEX[name] for name in arm]].sum(axis=0)
    np.testing.assert_allclose(hand, [0.8, 0, 0], atol=1e-6)
    np.testing.assert_allclose(frames[1].root - frames[0].root, [0, 0, 1], atol=1e-6)


def test_blendshapes_camera_and_thru_leave_with_the_frame_as_they_came() -> None:
    extra = [
        vmc.blend("Joy", 0.5),
        write_message("/VMC/Thru/a/b", "s", "text"),
        write_message("/VMC/Ext/Cam", "s" + 8 * "f", "c", 0, 0, 0, 0, 0, 0, 1, 60),
    ]
    sender = Sender()
    (frame,) = sender.send(write_bundle([*vmc.bones(BODY), *extra, vmc.APPLY, vmc.time(1)]))
    assert list(frame.passed_on) == extra
    (frame,) = sender.send(write_bundle([*vmc.bones(BODY), vmc.time(1)]))
    assert frame.passed_on == ()


def test_a_face_tracker_without_bones_is_passed_on_and_does_not_pile_up() -> None:
    sender = Sender()
    for number in range(MAX_PASSED_ON + 10):
        assert sender.send(vmc.blend("Joy", number)) == []
    waiting = sender.assembler.take_passed_on()
    assert len(waiting) == MAX_PASSED_ON
    assert waiting[-1] == vmc.blend("Joy", MAX_PASSED_ON + 9)
    assert sender.assembler.take_passed_on() == ()


def test_a_clock_that_jumps_back_is_reported_and_stops_nothing() -> None:
    sender = Sender()
    times = [
        sender.send(write_bundle([*vmc.bones(BODY), vmc.time(seconds)]))[0].source_time_s
        for seconds in (5.0, 6.0, 0.0, 1.0)
    ]
    assert times == [5.0, 6.0, 0.0, 1.0]


def test_a_sender_that_drops_its_fingers_is_learned_anew() -> None:
    sender = Sender()
    for _ in range(200):
        sender.send(write_bundle(vmc.bones()))
        sender.wait(PERIOD_NS)
    triggers = []
    for _ in range(300):
        frames = sender.send(write_bundle(vmc.bones(BODY))) + sender.wait(PERIOD_NS)
        triggers.append(frames[0].trigger)
    assert triggers[0] == "gap"
    assert set(triggers[-100:]) == {"datagram"}


def test_after_a_reset_nothing_of_the_last_sender_is_left() -> None:
    sender = Sender()
    sender.send(vmc.root((5, 0, 0)), write_bundle([*vmc.bones(), vmc.time(3)]), vmc.blend("Joy", 1))
    sender.assembler.reset()
    (frame,) = sender.send(write_bundle([vmc.bone("Hips", (0, 1, 0)), vmc.APPLY]))
    assert np.flatnonzero(frame.seen).tolist() == [0]
    np.testing.assert_allclose(frame.root, [0, 1, 0])
    assert (frame.source_time_s, frame.status, frame.passed_on) == (None, None, ())
