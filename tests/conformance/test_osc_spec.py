"""The OSC specification says what the code does."""

from __future__ import annotations

import re

from support.shared import REPO
from understudy_protocol.osc.plain import PlainEncoder

SPEC = (REPO / "protocol" / "spec" / "osc.md").read_text(encoding="utf-8")


def test_the_frame_written_out_in_the_specification_is_the_one_we_send() -> None:
    words = re.findall(r"^((?:[0-9a-f]{8} ){3}[0-9a-f]{8})  ", SPEC, re.MULTILINE)
    encoder = PlainEncoder("anna", ["hips", "head"])
    frame = encoder.encode(7, [0, 1, 0], [[0.0, 0.0, 0.0, 1.0], [0.0, 0.6, 0.0, 0.8]])
    assert [bytes.fromhex("".join(words))] == frame


def test_every_reason_to_refuse_a_datagram_is_in_the_specification() -> None:
    package = REPO / "protocol" / "understudy_protocol" / "osc"
    readers = "".join((package / f"{name}.py").read_text("utf-8") for name in ("vmc_in", "packet"))
    reasons = set(re.findall(r'ProtocolError\(\s*"([a-z-]+)"', readers))
    only_when_writing = {"bad-address"}
    listed = set(re.findall(r"`([a-z-]+)`", SPEC.partition("## 4. Refusals")[2]))
    assert reasons - only_when_writing <= listed
