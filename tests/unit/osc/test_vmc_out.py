from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pythonosc.osc_bundle import OscBundle
from pythonosc.osc_message import OscMessage

from support import vmc
from understudy_protocol.errors import ProtocolError
from understudy_protocol.osc.bones import BONE_NAMES
from understudy_protocol.osc.packet import IMMEDIATELY, MTU_PAYLOAD_BYTES
from understudy_protocol.osc.vmc_events import SetPeriod, Status
from understudy_protocol.osc.vmc_out import VmcEncoder

BODY = vmc.parents_first()
REST = np.tile([0.1, 0.2, 0.3], (55, 1))
UPRIGHT = np.tile([0.0, 0.0, 0.0, 1.0], (55, 1))


def sent(datagrams: list[bytes]) -> list[OscMessage]:
    """What an independent decoder finds in the datagrams, one after the other."""
    return [message for datagram in datagrams for message in OscBundle(datagram)]


def random_rotations(seed: int, count: int) -> np.ndarray:
    rotations = np.random.default_rng(seed).normal(size=(count, 4))
    return np.asarray(rotations / np.linalg.norm(rotations, axis=1, keepdims=True))


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.array(
        [*(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])), a[3] * b[3] - a[:3] @ b[:3]]
    )


def test_a_frame_is_sent_in_the_order_receivers_need() -> None:
    encoder = VmcEncoder(BODY, REST)
    joy = vmc.blend("Joy", 0.5)
    messages = sent(encoder.encode([0, 1, 0], UPRIGHT, time_s=2.5, passed_on=[joy]))
    assert [m.address.removeprefix("/VMC/Ext/") for m in messages] == [
        "Root/Pos",
        *["Bone/Pos"] * 55,
        "Blend/Val",
        "Blend/Apply",
        "OK",
        "T",
    ]
    assert [m.params[0] for m in messages[1:56]] == BODY
    assert messages[0].params == ["root", 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
    assert messages[-2].params == [1, 3, 0, 1]
    assert messages[-1].params == [2.5]


def test_receivers_that_check_types_find_floats_ints_and_a_tag_string_everywhere() -> None:
    for message in sent(VmcEncoder(BODY, REST).encode([0, 1, 0], UPRIGHT, time_s=1)):
        tags = message.dgram[len(message.address) // 4 * 4 + 4 :].split(b"\0")[0]
        expected = {
            "/VMC/Ext/Root/Pos": b",s" + b"f" * 13,
            "/VMC/Ext/Bone/Pos": b",s" + b"f" * 7,
            "/VMC/Ext/Blend/Apply": b",",
            "/VMC/Ext/OK": b",iiii",
            "/VMC/Ext/T": b",f",
        }
        assert tags == expected[message.address]


def test_bundles_are_for_now_and_fit_an_ethernet_frame() -> None:
    whole = VmcEncoder(BODY, REST).encode([0, 1, 0], UPRIGHT, time_s=1)
    names = [name for name in BODY if not name.endswith(("mal", "diate", "tal", "Eye", "Jaw"))]
    body = VmcEncoder(names, REST[: len(names)]).encode([0, 1, 0], UPRIGHT[: len(names)], time_s=1)
    assert (len(whole), len(names), len(body)) == (4, 22, 2)
    for datagram in [*whole, *body]:
        assert len(datagram) <= MTU_PAYLOAD_BYTES
        assert datagram[8:16] == IMMEDIATELY


def test_positions_are_the_rest_offsets_and_hips_walks() -> None:
    messages = sent(VmcEncoder(BODY, REST).encode([1, 2, 3], UPRIGHT, time_s=1))
    assert messages[1].params[1:4] == [-1, 2, 3]
    for message in messages[2:56]:
        assert message.params[1:4] == pytest.approx([-0.1, 0.2, 0.3])


@given(st.integers(0, 2**32), st.integers(1, 55))
def test_rotations_come_out_mirrored_bone_by_bone(seed: int, count: int) -> None:
    rotations = random_rotations(seed, count)
    encoder = VmcEncoder(BODY[:count], REST[:count])
    encoder.encode([0, 0, 0], random_rotations(seed + 1, count), time_s=0)
    messages = sent(encoder.encode([0, 1, 0], rotations, time_s=1))
    np.testing.assert_allclose(
        [m.params[4:8] for m in messages[1 : 1 + count]], rotations * [1, -1, -1, 1], atol=1e-7
    )


def test_a_performer_facing_z_has_the_left_hand_at_minus_x_on_the_wire_and_walks_to_plus_z() -> (
    None
):
    names = ["Hips", "Spine", "Chest", "LeftShoulder", "LeftUpperArm", "LeftLowerArm", "LeftHand"]
    offsets = np.zeros((7, 3))
    offsets[1:3, 1] = 0.1
    offsets[3:, 0] = 0.2  # Left is +X with us.
    encoder = VmcEncoder(names, offsets)
    upright = UPRIGHT[: len(names)]
    heads = [
        sent(encoder.encode([0.3, 1.0, step], upright, time_s=step))[1].params[1:4]
        for step in (0.0, 1.0)
    ]
    assert heads[0] == pytest.approx([-0.3, 1.0, 0.0])
    assert heads[1] == pytest.approx([-0.3, 1.0, 1.0])
    arm = sent(encoder.encode([0, 1, 0], upright, time_s=0))[4:8]
    assert [m.params[0] for m in arm] == names[3:]
    assert sum(m.params[1] for m in arm) == pytest.approx(-0.8)


@given(st.integers(0, 2**32))
def test_root_and_hips_together_are_where_hips_was_without_the_split(seed: int) -> None:
    rotations = random_rotations(seed, 2)
    place = np.random.default_rng(seed).normal(size=3)
    whole = sent(VmcEncoder(BODY[:2], REST[:2]).encode(place, rotations, time_s=0))[1].params
    root, hips = (
        np.array(message.params[1:8])
        for message in sent(
            VmcEncoder(BODY[:2], REST[:2], split_root=True).encode(place, rotations, time_s=0)
        )[:2]
    )
    np.testing.assert_allclose(root[[1, 3, 5]], 0.0)
    np.testing.assert_allclose(hips[[0, 2]], 0.0)
    np.testing.assert_allclose(root[:3] + hips[:3], whole[1:4], atol=1e-6)
    np.testing.assert_allclose(product(root[3:], hips[3:]), whole[4:8], atol=1e-6)
    assert hips[4] == pytest.approx(0.0, abs=1e-6)  # No turn about Y is left in Hips.


def test_the_heading_is_kept_when_upside_down() -> None:
    encoder = VmcEncoder(["Hips"], [[0, 0, 0]], split_root=True)
    half = math.sqrt(0.5)
    encoder.encode([0, 1, 0], [[0, half, 0, half]], time_s=0)
    root = sent(encoder.encode([0, 1, 0], [[1, 0, 0, 0]], time_s=0))[0].params
    assert root[4:8] == pytest.approx([0, -half, 0, half])


def test_a_receiver_may_ask_for_some_messages_less_often() -> None:
    encoder = VmcEncoder(["Hips"], [[0, 0, 0]])
    encoder.period = SetPeriod(status=2, root=3, bones=2, blendshapes=3, camera=2)
    camera = b"/VMC/Ext/Cam\0\0\0\0,\0\0\0"
    extra = [vmc.blend("Joy", 1), camera]
    names = {"Root/Pos": "R", "Bone/Pos": "B", "OK": "O", "Blend/Val": "V", "Cam": "C"}
    frames = [
        "".join(
            names.get(m.address.removeprefix("/VMC/Ext/"), "")
            for m in sent(encoder.encode([0, 1, 0], [[0, 0, 0, 1]], time_s=0, passed_on=extra))
        )
        for _ in range(6)
    ]
    assert frames == ["RBVCO", "", "BCO", "RV", "BCO", ""]


def test_many_blendshapes_are_passed_on_byte_for_byte_in_as_many_bundles_as_needed() -> None:
    shapes = [vmc.blend(f"shape {i}", i / 100) for i in range(100)]
    datagrams = VmcEncoder(BODY, REST).encode([0, 1, 0], UPRIGHT, time_s=1, passed_on=shapes)
    assert [m.dgram for m in sent(datagrams)[56:156]] == shapes
    assert all(len(datagram) <= MTU_PAYLOAD_BYTES for datagram in datagrams)


def test_a_status_that_leaves_things_unsaid_is_filled_in() -> None:
    status = Status(loaded=0)
    messages = sent(
        VmcEncoder(["Hips"], [[0, 0, 0]]).encode([0, 1, 0], [[0, 0, 0, 1]], time_s=1, status=status)
    )
    assert messages[-2].params == [0, 3, 0, 1]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ([], "bad-bones"),
        (["Spine", "Hips"], "bad-bones"),
        (["Hips", "Hips"], "bad-bones"),
        (["Hips", "LastBone"], "unknown-bone"),
        (["Hips", "Chest", "Spine"], "bad-bones"),
    ],
)
def test_bones_that_cannot_be_sent_are_refused(names: list[str], reason: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        VmcEncoder(names, REST[: len(names)])
    assert refused.value.reason == reason


def test_offsets_must_be_one_finite_row_per_bone() -> None:
    for offsets in (REST[:2], np.full((1, 3), np.nan)):
        with pytest.raises(ProtocolError, match="offsets"):
            VmcEncoder(["Hips"], offsets)


def test_a_pose_that_is_not_finite_is_never_sent() -> None:
    encoder = VmcEncoder(BODY, REST)
    rotations = UPRIGHT.copy()
    rotations[3, 1] = np.nan
    with pytest.raises(ProtocolError, match="finite"):
        encoder.encode([0, 1, 0], rotations, time_s=1)


def test_every_bone_can_be_sent() -> None:
    assert sorted(BODY) == sorted(BONE_NAMES)
