"""Topics, names, status words, and what importing the package costs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from understudy_protocol import (
    DOWNLINK_KINDS,
    KINDS,
    UPLINK_KINDS,
    ProtocolError,
    check_name,
    open_envelope,
    split_topic,
    status,
    status_names,
    subscription,
    topic,
)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1), st.sampled_from(KINDS))
def test_a_topic_says_name_and_kind(name: str, kind: str) -> None:
    assume("/" not in name)
    assume(len(name.encode()) <= 64)
    assert split_topic(topic(name, kind)) == (name, kind)  # type: ignore[arg-type]  # from KINDS
    assert topic(name, "pose").startswith(subscription(name))


@given(st.binary(max_size=100))
def test_any_bytes_are_a_topic_or_refused(data: bytes) -> None:
    try:
        name, kind = split_topic(data)
    except ProtocolError:
        return
    assert topic(name, kind) == data


def test_the_subscription_of_one_name_does_not_match_a_longer_one() -> None:
    assert not topic("anna2", "pose").startswith(subscription("anna"))


@pytest.mark.parametrize(
    "name", ["a/b", "", "x" * 65, "é" * 33, "a\tb", "\x7f", "\x85", "\ud800", 3]
)
def test_a_bad_name_is_refused_everywhere(name: str) -> None:
    for use in (check_name_as_performer, subscription, lambda name: topic(name, "pose")):
        with pytest.raises(ProtocolError):
            use(name)


def check_name_as_performer(name: str) -> object:
    return check_name("performer", name)


@pytest.mark.parametrize(
    "name", ["anna", "é" * 32, "x" * 64, "ネコ", "a b", "zero\u200dwidth", "*"]
)
def test_a_good_name_is_taken_as_it_is(name: str) -> None:
    assert check_name("performer", name) == name


def test_a_joint_may_have_a_slash() -> None:
    assert check_name("joint", "rig/hips", slash=True) == "rig/hips"


def test_a_topic_of_an_unknown_kind_is_not_made() -> None:
    with pytest.raises(ProtocolError) as caught:
        topic("anna", "dance")  # type: ignore[arg-type]  # on purpose
    assert caught.value.reason == "unknown-kind"


@pytest.mark.parametrize("parts", [[], [b"anna/pose"], [b"anna/pose", b"", b""]])
def test_a_message_has_two_parts(parts: list[bytes]) -> None:
    with pytest.raises(ProtocolError) as caught:
        open_envelope(parts)
    assert caught.value.reason == "bad-parts"


def test_an_envelope_tells_name_kind_and_body() -> None:
    assert open_envelope([b"anna/frame", b"\x80"]) == ("anna", "frame", b"\x80")
    assert open_envelope([memoryview(b"anna/frame"), b"\x80"]).name == "anna"


def test_every_kind_travels_up_or_down() -> None:
    assert set(UPLINK_KINDS) | set(DOWNLINK_KINDS) == set(KINDS)


def test_status_bits_have_names() -> None:
    assert status_names(status.OK) == ()
    assert status_names(status.STALE | status.BRIDGED | 1 << 20) == ("stale", "bridged")
    assert list(status.NAMES) == [1, 2, 4, 8, 16, 32]


def test_importing_the_package_loads_neither_the_server_nor_heavy_libraries() -> None:
    script = (
        "import sys, understudy_protocol;"
        "print(sorted({'understudy', 'numba', 'scipy', 'zmq'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
