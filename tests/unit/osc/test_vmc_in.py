from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import vmc
from understudy_protocol.osc.bones import BONE_INDEX
from understudy_protocol.osc.packet import split_packet, write_bundle, write_message
from understudy_protocol.osc.vmc_events import (
    BlendApply,
    Bones,
    CalibrationExecute,
    CalibrationReady,
    Device,
    InformationRequest,
    Notice,
    PassedOn,
    Root,
    SetPeriod,
    SourceTime,
    Status,
    VmcEvent,
)
from understudy_protocol.osc.vmc_in import VmcDecoder, decode_vmc

UNIT = (0.1, 0.2, 0.3, math.sqrt(1 - 0.01 - 0.04 - 0.09))


def events(*messages: bytes) -> list[VmcEvent]:
    datagram = decode_vmc(write_bundle(messages))
    assert not datagram.refused
    assert not datagram.ignored
    return datagram.events


def refusals(*messages: bytes) -> list[str]:
    datagram = decode_vmc(write_bundle(messages))
    assert not datagram.events
    return [error.reason for error in datagram.refused]


def message(address: str, *arguments: object) -> bytes:
    letters = {int: "i", float: "f", str: "s", bytes: "b"}
    return write_message(address, "".join(letters[type(a)] for a in arguments), *arguments)


def test_a_bone_keeps_its_seven_numbers_for_the_assembly() -> None:
    (bones,) = events(vmc.bone("LeftHand", (-0.2, 0.3, 0.4), UNIT))
    assert bones == Bones.of({BONE_INDEX["LeftHand"]: struct.pack(">7f", -0.2, 0.3, 0.4, *UNIT)})


def test_neighbouring_bones_are_one_event_until_one_repeats() -> None:
    found = events(*vmc.bones(["Hips", "Spine"]), vmc.bone("Hips", (0, 9, 0)), vmc.time(1.0))
    assert [type(event) for event in found] == [Bones, Bones, SourceTime]
    assert isinstance(found[0], Bones)
    assert list(found[0].wire) == [0, BONE_INDEX["Spine"]]


def test_a_bare_message_is_read_like_one_in_a_bundle() -> None:
    raw = vmc.bone("Head")
    assert decode_vmc(raw).events == decode_vmc(write_bundle([raw])).events


def test_a_bone_with_surplus_arguments_or_whole_numbers_is_read() -> None:
    surplus = message("/VMC/Ext/Bone/Pos", "Hips", 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 5.0, "x")
    whole = message("/VMC/Ext/Bone/Pos", "Hips", 0, 1, 0, 0, 0, 0, 1)
    plain = vmc.bone("Hips", (0, 1, 0))
    assert events(surplus) == events(whole) == events(plain)


def test_the_root_is_read_with_8_and_14_arguments() -> None:
    (short,) = events(vmc.root((1, 2, 3), UNIT))
    (long,) = events(vmc.root((1, 2, 3), UNIT, (2, 3, 4, 5, 6, 7)))
    assert isinstance(short, Root)
    assert isinstance(long, Root)
    assert short.position == (-1, 2, 3)
    assert short.rotation_xyzw == pytest.approx((UNIT[0], -UNIT[1], -UNIT[2], UNIT[3]))
    assert (short.scale, short.offset) == (None, None)
    assert long.rotation_xyzw == short.rotation_xyzw
    assert (long.scale, long.offset) == ((2, 3, 4), (-5, 6, 7))


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((1,), Status(1)),
        ((1, 3, 0), Status(1, 3, 0)),
        ((1, 3, 2, 0), Status(1, 3, 2, 0)),
        ((0, 1, 1, 1, 9), Status(0, 1, 1, 1)),
    ],
)
def test_the_status_is_read_in_all_its_versions(states: tuple[int, ...], expected: Status) -> None:
    assert events(vmc.status(*states)) == [expected]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (vmc.time(12.5), SourceTime(12.5)),
        (vmc.time(1794962176.0), SourceTime(1794962176.0)),
        (vmc.APPLY, BlendApply()),
        (message("/VMC/Ext/Set/Period", 1, 2, 3, 4, 5, 6), SetPeriod(1, 2, 3, 4, 5, 6)),
        (message("/VMC/Ext/Set/Calib/Ready"), CalibrationReady()),
        (message("/VMC/Ext/Set/Calib/Exec", 2), CalibrationExecute(2)),
        (message("/VMC/Ext/Set/Req"), InformationRequest()),
        (message("/VMC/Ext/Opt", "hello"), Notice("/VMC/Ext/Opt", ("hello",))),
        (
            message("/VMC/Ext/Tra/Pos", "LHR-1", 1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0),
            Device("tracker", "LHR-1", (-1.0, 2.0, 3.0), (0.0, -1.0, -0.0, 0.0), False),
        ),
        (
            message("/VMC/Ext/Hmd/Pos/Local", "LHR-2", 1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0),
            Device("headset", "LHR-2", (-1.0, 2.0, 3.0), (1.0, -0.0, -0.0, 0.0), True),
        ),
    ],
)
def test_every_message_of_the_protocol_has_its_event(raw: bytes, expected: VmcEvent) -> None:
    assert events(raw) == [expected]


@pytest.mark.parametrize(
    "raw",
    [
        vmc.blend("Joy", 0.5),
        vmc.blend("喜び", 1.0),
        message("/VMC/Ext/Cam", "cam", 1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0, 60.0),
        message("/VMC/Thru/vendor/thing", "text", 3),
        message("/VMC/Thru/vendor/big", 2_000_000_000),
        message("/VMC/Thru/vendor/bytes", b"\1\2\3"),
    ],
)
def test_a_message_to_pass_on_keeps_its_bytes(raw: bytes) -> None:
    (event,) = events(raw)
    assert isinstance(event, PassedOn)
    assert event.raw == raw


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (vmc.bone("LastBone"), "unknown-bone"),
        (vmc.bone("hips"), "unknown-bone"),
        (message("/VMC/Ext/Bone/Pos", "Hips", 0.0, 1.0, 0.0), "too-few-arguments"),
        (message("/VMC/Ext/Bone/Pos", 1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "bad-type"),
        (message("/VMC/Ext/Bone/Pos", "Hips", "0", 0.0, 0.0, 0.0, 0.0, 0.0, 1.0), "bad-type"),
        (vmc.root(rotation=(0, 0, 0, 0)), "bad-pose"),
        (vmc.root(position=(math.nan, 0, 0)), "out-of-range"),
        (message("/VMC/Ext/T"), "too-few-arguments"),
        (message("/VMC/Ext/T", math.nan), "out-of-range"),
        (message("/VMC/Ext/T", "now"), "bad-type"),
        (message("/VMC/Ext/OK", 1.0), "bad-type"),
        (message("/VMC/Ext/Blend/Val", "Joy"), "too-few-arguments"),
        (message("/VMC/Ext/Blend/Val", "Joy", math.inf), "out-of-range"),
        (message("/VMC/Ext/Cam", "cam", 1.0), "too-few-arguments"),
        (message("/VMC/Ext/Midi/Note", 1, 60, 100), "too-few-arguments"),
        (message("/VMC/Ext/Set/Period", 1, 1, 0, 1, 1, 1), "out-of-range"),
        (vmc.bone("Hips")[:-4], "truncated"),
        (vmc.blend("Joy", 1.0) + b"\0\0\0\0", "trailing-bytes"),
        (b"/VMC/Thru/x\0,d\0\0\0\0\0\0\0\0\0\0", "unknown-type"),
        (b"/VMC/Thru/x\0", "unknown-type"),
    ],
)
def test_a_wrong_message_is_refused_and_its_neighbours_count(raw: bytes, reason: str) -> None:
    assert refusals(raw) == [reason]
    good = vmc.bone("Spine")
    datagram = decode_vmc(write_bundle([good, raw, vmc.time(1.0)]))
    assert [type(event) for event in datagram.events] == [Bones, SourceTime]
    assert [error.reason for error in datagram.refused] == [reason]


def test_addresses_outside_the_protocol_are_ignored() -> None:
    datagram = decode_vmc(write_bundle([message("/tracking/1", 1.0), vmc.time(2.0)]))
    assert datagram.events == [SourceTime(2.0)]
    assert (datagram.refused, datagram.ignored) == ([], 1)


vmc_messages = st.one_of(
    st.sampled_from(vmc.bones()),
    st.sampled_from([vmc.APPLY, vmc.root(), vmc.status(1, 3, 0, 1), vmc.blend("A", 0.5)]),
    st.floats(width=32).map(vmc.time),
    st.floats(width=32).map(lambda x: vmc.root((x, 0, 0))),
    st.just(b"/other\0\0,\0\0\0"),
    st.just(vmc.bone("LastBone")),
    st.binary(max_size=3).map(lambda tail: b"/VMC/Ext/T\0\0" + tail),
    st.builds(write_bundle, st.lists(st.sampled_from(vmc.bones(["Hips", "Head"])), max_size=3)),
)


@given(
    st.lists(vmc_messages, max_size=12),
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=3),
)
def test_a_decoder_that_remembers_says_what_one_without_memory_says(
    messages: list[bytes], changes: list[tuple[int, int]]
) -> None:
    decoder = VmcDecoder()
    datagram = write_bundle(messages)
    for at, value in [(0, datagram[0]), (0, datagram[0]), *changes]:
        changed = bytearray(datagram)
        changed[at % len(changed)] = value
        datagram = bytes(changed)
        mine, plain = decoder.decode(datagram), decode_vmc(datagram)
        assert repr(mine.events) == repr(plain.events)  # NaN is equal to NaN here.
        assert [str(e) for e in mine.refused] == [str(e) for e in plain.refused]
        assert mine.ignored == plain.ignored


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"LeftRingDistal", b"LeftHandDistal"),
        (b"LeftHand", b"LastBone"),
        (b"LastBone", b"LeftHand"),
        (b"/VMC/Ext/T\0", b"/VMC/Ext/X\0"),
        (b"/VMC/Ext/T\0", b"#bundle\0\0\0\0"),
        (b"RightHand", b"RightFoot"),
    ],
)
def test_a_remembered_shape_is_not_taken_for_another_of_its_length(old: bytes, new: bytes) -> None:
    names = ["Hips", "Spine", "LeftHand", "LastBone", "RightHand", "LeftRingDistal"]
    for left_out in (None, "LastBone"):
        decoder = VmcDecoder()
        first = write_bundle([*vmc.bones(name for name in names if name != left_out), vmc.time(1)])
        second = first.replace(old, new)
        assert len(first) == len(second)
        for datagram in (first, second, first, second):
            mine, plain = decoder.decode(datagram), decode_vmc(datagram)
            assert mine.events == plain.events
            assert [str(e) for e in mine.refused] == [str(e) for e in plain.refused]
            assert mine.ignored == plain.ignored


@given(st.binary(max_size=120))
def test_any_bytes_are_decoded_without_an_exception(noise: bytes) -> None:
    decoder = VmcDecoder()
    whole = write_bundle([vmc.root(), *vmc.bones(), vmc.time(1.0)])
    for datagram in (noise, write_bundle([noise]), whole, whole[:900] + noise, b"/VMC/" + noise):
        decoded = decoder.decode(datagram)
        assert len(decoded.events) + len(decoded.refused) + decoded.ignored >= min(
            1, len(split_packet(datagram)[0])
        )
