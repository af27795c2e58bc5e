"""Collecting facts about a running server: what it says, and what of its poses arrives here."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from understudy.doctor.facts import CharacterFacts, PerformerFacts, ServerFacts
from understudy_client import Character, Control, ServerUnreachableError
from understudy_protocol import status

_PATIENCE_S: Final = 2.0


def ask_server(control_address: str, seconds: float) -> ServerFacts:
    """Ask a server, and subscribe to its characters for `seconds` altogether."""
    with Control(control_address, _PATIENCE_S) as control:
        try:
            downlink = str(control.hello()["downlink"])
            sessions = control.request("list")["sessions"]
        except ServerUnreachableError:
            return ServerFacts(control_address)
        host = control_address.split("://", 1)[-1].rsplit(":", 1)[0]
        address = downlink.replace("//0.0.0.0:", f"//{host}:").replace("//*:", f"//{host}:")
        share = seconds / max(1, len(sessions))
        heard = {
            entry["character"]: _subscribe(entry["character"], address, share) for entry in sessions
        }
        performers, stats = control.request("list")["performers"], control.request("stats")
    drivers = {entry["character"]: entry["performer"] for entry in sessions}
    counts = {entry["name"]: entry for entry in stats["performers"]}
    return ServerFacts(
        control_address,
        tuple(_performer(entry, counts[entry["name"]]) for entry in performers),
        tuple(
            CharacterFacts(
                name=entry["name"],
                performer=drivers[entry["name"]],
                problem=entry["problem"],
                published=entry["poses"],
                seconds=share,
                **heard[entry["name"]],
            )
            for entry in stats["characters"]
            if entry["name"] in heard  # and not opened since
        ),
    )


# Any: the fields of a reply are what msgpack carries.
def _performer(entry: Mapping[str, Any], counts: Mapping[str, Any]) -> PerformerFacts:
    return PerformerFacts(
        name=entry["name"],
        state=entry["state"],
        rate_hz=counts["rate_hz"],
        refused=counts["refused"],
        lost=counts["lost"],
    )


def _subscribe(name: str, address: str, seconds: float) -> dict[str, int]:
    received = missed = stale = 0
    last: int | None = None
    with Character(name, address) as character:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            pose = character.receive(left)
            if pose is None:
                break
            received += 1
            stale += bool(pose.status & status.STALE)
            if last is not None and pose.seq > last:
                missed += pose.seq - last - 1
            last = pose.seq
    return {"received": received, "missed": missed, "stale": stale}
