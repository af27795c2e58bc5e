"""A server that is a Marionette to performers and a Performer to avatars: VMC in and out."""

from __future__ import annotations

import functools
import socket
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from support.live import ControlClient, LivePerformer, Subscriber, serving
from support.udp import receiver
from support.vmc import blend
from support.vmc_live import ExpectedBones, VmcStage, wire_error
from understudy.characters import Clip, builtin_clip
from understudy.config import ConfigError
from understudy.ingest.vmc_assembly import VmcAssembler, VmcFrame
from understudy_protocol import PoseMessage
from understudy_protocol.osc import BONE_NAMES, BONE_PARENTS, VMC_NAMES, VRM1_NAMES, decode_vmc
from understudy_protocol.osc.packet import write_message
from understudy_protocol.osc.vmc_events import (
    BlendApply,
    Bones,
    Notice,
    PassedOn,
    Root,
    SourceTime,
    Status,
)

HERO = {"performer": "alice", "character": "hero", "solver": "copy"}
PATIENT = {"vmc": "127.0.0.1:*", "stale_after_s": 20.0}


@pytest.fixture(scope="module")
def sink() -> Iterator[tuple[socket.socket, int]]:
    with receiver() as bound:
        yield bound


@pytest.fixture(scope="module")
def stage(sink: tuple[socket.socket, int]) -> Iterator[VmcStage]:
    hero = {
        "rig": "short-legs",
        "vmc": [{"to": f"127.0.0.1:{sink[1]}"}],
        "vmc_requests": "127.0.0.1:*",
    }
    # A busy machine may pause between the datagrams of one frame; here such a gap ends no frame,
    # since these tests count them.
    patient = functools.partial(VmcAssembler, gap_ns=1_000_000_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("understudy.ingest.vmc_source.VmcAssembler", patient)
        with serving(HERO, performers={"alice": PATIENT}, characters={"hero": hero}) as server:
            stage = VmcStage(server)
            stage.start()
            try:
                yield stage
            finally:
                stage.close()


def frame_events(sink: socket.socket) -> list[Any]:
    """The events of the next whole frame: up to its time."""
    events: list[Any] = []
    while not (events and isinstance(events[-1], SourceTime)):
        datagram = decode_vmc(sink.recv(65536))
        assert not datagram.refused
        events += datagram.events
    return events


def emptied(sink: socket.socket) -> None:
    """Forget what came before."""
    sink.setblocking(False)
    try:
        while True:
            sink.recv(65536)
    except BlockingIOError:
        sink.settimeout(20.0)


def test_a_vmc_performer_drives_a_character_as_a_native_one_does(stage: VmcStage) -> None:
    clip = stage.performer.clip
    body = stage.server.show.performers["alice"].stream.skeleton
    assert body is not None
    order = [clip.skeleton.index(VRM1_NAMES[bone]) for bone in body.names]
    same = Clip("same", body, clip.rate_hz, clip.roots, clip.rotations_xyzw[:, order])
    with serving({**HERO, "character": "short-legs"}) as other:
        native = LivePerformer("alice", other.endpoints.input, same)
        subscriber = Subscriber(other.endpoints.output, "short-legs")
        control = ControlClient(other.endpoints.control)
        try:
            subscriber.skeleton()
            while not control.character("short-legs")["poses"]:
                native.send(0)
            control.ask("reset", character="short-legs")
            stage.control.ask("reset", character="hero")
            for index in range(60):
                ours = stage.show(index)
                native.send(index, capture_ns=ours.capture_ns)
                theirs = subscriber.pose(_made_from(native.seq - 1))
                np.testing.assert_allclose(ours.root, theirs.root, atol=1e-5)
                np.testing.assert_allclose(ours.rotations_xyzw, theirs.rotations_xyzw, atol=1e-5)
        finally:
            control.close()
            subscriber.close()
            native.close()


def _made_from(seq: int) -> Callable[[PoseMessage], bool]:
    return lambda pose: pose.source_seq == seq


def test_a_frame_leaves_in_the_order_receivers_need(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    emptied(sink[0])
    smile = blend("Joy", 0.5)
    stage.show(1, smile)
    events = frame_events(sink[0])
    while not any(isinstance(event, PassedOn) for event in events):
        events = frame_events(sink[0])
    kinds = [type(event) for event in events if not isinstance(event, Bones)]
    assert kinds == [Root, PassedOn, BlendApply, Status, SourceTime]
    assert next(e for e in events if isinstance(e, PassedOn)).raw == smile
    assert BONE_NAMES[next(iter(next(e for e in events if isinstance(e, Bones)).wire))] == "Hips"


def test_one_source_port_for_the_whole_show(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    ports = set()
    for index in range(5):
        stage.show(index)
        ports.add(sink[0].recvfrom(65536)[1])
    assert len(ports) == 1


def test_bones_on_the_wire_are_the_published_pose_mirrored(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    parents = {
        BONE_NAMES[bone]: None if parent < 0 else BONE_NAMES[parent]
        for bone, parent in enumerate(BONE_PARENTS)
    }
    expected = ExpectedBones(
        stage.skeleton, {VMC_NAMES[joint]: joint for joint in stage.skeleton.joints}
    )
    for index in range(20):
        emptied(sink[0])
        pose = stage.show(index)
        wire = expected.of(pose, parents)
        sent: dict[str, Any] = {}
        for event in frame_events(sink[0]):
            if isinstance(event, Bones):
                sent.update(
                    (BONE_NAMES[bone], np.frombuffer(numbers, ">f4"))
                    for bone, numbers in event.wire.items()
                )
        assert set(sent) == set(wire)
        for bone, numbers in wire.items():
            assert wire_error(sent[bone].astype(np.float64), numbers) < 1e-5, bone


def test_the_left_hand_is_at_plus_x_with_us_and_at_minus_x_on_the_wire(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    """In absolute terms, so that no round trip can hide a turn or a mirror."""
    clip = stage.performer.clip
    assert clip.roots[60, 2] > clip.roots[0, 2] + 0.2  # who walks forward walks towards +Z
    depths, wire_depths = [], []
    stage.control.ask("reset", character="hero")  # and not eased in from the last test's place
    for index in range(61):  # a performer who is elsewhere at once is not followed at once
        emptied(sink[0])
        pose = stage.show(index)
        depths.append(float(pose.root[2]))
        wire: dict[int, bytes] = {}
        for event in frame_events(sink[0]):
            if isinstance(event, Bones):
                wire.update(event.wire)
        hips = np.frombuffer(wire[BONE_NAMES.index("Hips")], ">f4")
        arm = np.frombuffer(wire[BONE_NAMES.index("LeftUpperArm")], ">f4")
        wire_depths.append(float(hips[2]))
        assert arm[0] < 0.0  # its local position: the rest offset
    upper_arm = stage.skeleton.joints.index("leftUpperArm")
    assert stage.skeleton.offsets[upper_arm, 0] > 0.0
    assert depths[-1] > depths[0] + 0.1
    assert wire_depths[-1] > wire_depths[0] + 0.1


def test_a_receiver_that_asks_is_told_where_requests_are_listened_to(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    host, port = stage.server.endpoints.requests["hero"].rsplit(":", 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        # What it does not do is left alone, and does not keep it from answering.
        asking.sendto(write_message("/VMC/Ext/Set/Shortcut", "s", "Functions.X"), (host, int(port)))
        asking.sendto(write_message("/VMC/Ext/Set/Config", "s", "/settings"), (host, int(port)))
        asking.sendto(write_message("/VMC/Ext/Set/Req", ""), (host, int(port)))
    told: list[Notice] = []
    for index in range(100):
        stage.show(index % 8)
        told += [event for event in frame_events(sink[0]) if isinstance(event, Notice)]
        if told:
            break
    assert told == [Notice("/VMC/Ext/Rcv", (1, int(port), host))]


def test_a_receiver_may_ask_for_fewer_bones(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    host, port = stage.server.endpoints.requests["hero"].rsplit(":", 1)

    def bones_in_eight_frames(period: int) -> int:
        wish = write_message("/VMC/Ext/Set/Period", "iiiiii", 1, 1, period, 1, 1, 1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.sendto(wish, (host, int(port)))
        # Answers from the loop that takes the wish: it has been heeded by then.
        for _ in range(50):
            stage.control.ask("time", t1=0)
        emptied(sink[0])
        count = 0
        for index in range(8):
            stage.show(index)
            count += any(isinstance(event, Bones) for event in frame_events(sink[0]))
        return count

    assert bones_in_eight_frames(4) == 2
    assert bones_in_eight_frames(1) == 8


@pytest.mark.parametrize(
    ("performer", "target", "message"),
    [
        (
            {"vmc": "127.0.0.1:45391"},
            "127.0.0.1:45391",
            r"characters\.hero\.vmc\[0\]\.to: 127\.0\.0\.1:45391 is this server's own input for "
            "performer 'alice'; send elsewhere",
        ),
        (
            {"vmc": "0.0.0.0:45391"},
            "127.0.0.1:45391",
            "is this server's own input for performer 'alice'",
        ),
        (
            {"vmc": "no.such.host.invalid:1"},
            "127.0.0.1:45392",
            r"performers\.alice\.vmc: cannot find 'no\.such\.host\.invalid'",
        ),
    ],
)
def test_addresses_that_cannot_work_are_refused_at_the_start(
    performer: dict[str, str], target: str, message: str
) -> None:
    hero = {"rig": "short-legs", "vmc": [{"to": target}]}
    with (
        pytest.raises(ConfigError, match=message),
        serving(HERO, performers={"alice": performer}, characters={"hero": hero}),
    ):
        pass


def test_a_port_that_is_taken_is_named(sink: tuple[socket.socket, int]) -> None:
    with (
        pytest.raises(
            ConfigError, match=r"performers\.alice\.vmc: cannot listen at udp 127\.0\.0\.1"
        ),
        serving(
            {**HERO, "character": "child"},
            performers={"alice": {"vmc": f"127.0.0.1:{sink[1]}"}},
        ),
    ):
        pass


def test_what_left_comes_back_as_the_same_body(
    stage: VmcStage, sink: tuple[socket.socket, int]
) -> None:
    """Our own assembler takes our own frames: one frame each, marker last."""
    emptied(sink[0])
    assembler = VmcAssembler()
    frames: list[VmcFrame] = []
    now = 0
    for index in range(6):
        stage.show(index)
        while len(frames) <= index:
            now += 100_000
            frames += assembler.feed(decode_vmc(sink[0].recv(65536)), now)
    assert [frame.trigger for frame in frames] == ["marker"] * 6
    assert int(frames[-1].seen.sum()) == len(stage.skeleton.joints)


def test_several_targets_get_the_same_pose_each_in_its_own_form(
    sink: tuple[socket.socket, int],
) -> None:
    with receiver() as (second, port):
        plain = {"to": f"127.0.0.1:{sink[1]}"}
        split = {"to": f"127.0.0.1:{port}", "split_root": True}
        hero = {"rig": "short-legs", "vmc": [plain, split]}
        with serving(HERO, performers={"alice": PATIENT}, characters={"hero": hero}) as server:
            stage = VmcStage(server)
            try:
                stage.start()
                for bound in (sink[0], second):
                    emptied(bound)
                stage.show(40)
                ours, theirs = (frame_of(bound) for bound in (sink[0], second))
            finally:
                stage.close()
    np.testing.assert_allclose(theirs.root, ours.root, atol=1e-5)
    np.testing.assert_allclose(theirs.rotations_xyzw[1:], ours.rotations_xyzw[1:], atol=1e-6)
    np.testing.assert_array_equal(ours.root, ours.positions[0])  # all of the way is in Hips
    assert np.abs(theirs.positions[0, [0, 2]]).max() < 1e-5  # and here in Root


def frame_of(sink: socket.socket) -> VmcFrame:
    """The next whole frame, assembled."""
    assembler = VmcAssembler()
    frames: list[VmcFrame] = []
    while not frames:
        frames = assembler.feed(decode_vmc(sink.recv(65536)), 0)
    return frames[0]


def test_a_clocked_session_follows_a_vmc_performer(sink: tuple[socket.socket, int]) -> None:
    hero = {"rig": "short-legs", "vmc": [{"to": f"127.0.0.1:{sink[1]}"}]}
    session = {**HERO, "rate_hz": 60}
    with serving(session, performers={"alice": PATIENT}, characters={"hero": hero}) as server:
        stage = VmcStage(server, builtin_clip("wave", 30.0))
        try:
            stage.start()
            assert any(isinstance(event, Bones) for event in frame_events(sink[0]))
        finally:
            stage.close()
